/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options and ioctls.
 */
#ifndef SPEED_SOCKOPT_H
#define SPEED_SOCKOPT_H

#include <linux/net.h>

int speed_setsockopt(struct socket *sock, int level, int name, sockptr_t val, unsigned int len);
int speed_getsockopt(struct socket *sock, int level, int name, char __user *val, int __user *len);
int speed_set_peek_off(struct sock *sk, int val);
int speed_set_rcvlowat(struct sock *sk, int val);
int speed_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);
int speed_compat_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);

#endif
