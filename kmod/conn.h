/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connecting.
 */
#ifndef SPEED_CONN_H
#define SPEED_CONN_H

#include <linux/types.h>

struct socket;

int speed_connect_to(struct socket *sock, const void *addr, int len, bool nowait);
int speed_socketpair(struct socket *a, struct socket *b);

#endif
