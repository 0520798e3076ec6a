/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options and ioctls.
 */
#ifndef SPEED_SOCKOPT_H
#define SPEED_SOCKOPT_H

#include <linux/net.h>

struct speed_pair;

int speed_setsockopt(struct socket *sock, int level, int name, sockptr_t val, unsigned int len);
int speed_getsockopt(struct socket *sock, int level, int name, char __user *val, int __user *len);
int speed_set_unlease(struct speed_pair *pair, int end, sockptr_t val, unsigned int len);
int speed_get(struct sock *sk, struct speed_pair *pair, int end, int name, char __user *val,
	      int __user *len);
int speed_set_peek_off(struct sock *sk, int val);
int speed_set_rcvlowat(struct sock *sk, int val);
int speed_ioctl_mapped(struct socket *sock, struct speed_pair *pair, int end, unsigned int cmd,
		       unsigned long arg);
int speed_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);
int speed_compat_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);

#endif
