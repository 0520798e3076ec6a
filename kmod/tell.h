/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Telling those who wait on a socket's queue.
 */
#ifndef SPEED_TELL_H
#define SPEED_TELL_H

struct sock;
struct speed_pair;

void speed_tell_data(const struct speed_pair *pair, struct sock *sk);
void speed_tell_again(struct sock *sk);
void speed_tell_space(const struct speed_pair *pair, struct sock *sk);
void speed_tell_all(const struct speed_pair *pair, struct sock *sk);

#endif
