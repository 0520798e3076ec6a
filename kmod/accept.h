/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Listening and accepting.
 */
#ifndef SPEED_ACCEPT_H
#define SPEED_ACCEPT_H

#include <linux/types.h>

struct sock;
struct socket;

int speed_listen(struct socket *sock, int backlog);
int speed_accept_from(struct socket *sock, struct socket *newsock, bool nowait);
void speed_queue_purge(struct sock *sk);
bool speed_queue_empty(struct sock *sk);

#endif
