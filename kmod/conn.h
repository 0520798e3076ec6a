/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections: listening, connecting, accepting.
 */
#ifndef SPEED_CONN_H
#define SPEED_CONN_H

#include <linux/types.h>

struct sock;
struct socket;

int speed_listen(struct socket *sock, int backlog);
int speed_connect_to(struct socket *sock, const void *addr, int len, bool nowait);
int speed_socketpair(struct socket *a, struct socket *b);
int speed_accept_from(struct socket *sock, struct socket *newsock, bool nowait);
void speed_queue_purge(struct sock *sk);
bool speed_queue_empty(struct sock *sk);

#endif
