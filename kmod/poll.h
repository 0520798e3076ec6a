/* SPDX-License-Identifier: GPL-2.0 */
/*
 * poll() of a socket.
 */
#ifndef SPEED_POLL_H
#define SPEED_POLL_H

#include <linux/poll.h>

struct file;
struct sock;
struct socket;

void speed_release_cb(struct sock *sk);
__poll_t speed_poll(struct file *file, struct socket *sock, poll_table *wait);

#endif
