/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shutdown and close.
 */
#ifndef SPEED_CLOSE_H
#define SPEED_CLOSE_H

struct sock;

int speed_shutdown_how(struct sock *sk, int how);
void speed_disconnect_pair(struct sock *sk, bool embryo);

#endif
