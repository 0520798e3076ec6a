/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credentials of the peer.
 */
#ifndef SPEED_PEERCRED_H
#define SPEED_PEERCRED_H

struct sock;

void speed_peercred_init(struct sock *sk);
void speed_peercred_copy(struct sock *sk, struct sock *listener);

#endif
