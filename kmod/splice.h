/* SPDX-License-Identifier: GPL-2.0 */
/*
 * splice() from a socket.
 */
#ifndef SPEED_SPLICE_H
#define SPEED_SPLICE_H

#include <linux/types.h>

struct msghdr;
struct pipe_inode_info;
struct sock;
struct socket;

typedef ssize_t (*speed_fill_t)(struct sock *sk, struct msghdr *msg, size_t len);

ssize_t speed_splice_copy(struct sock *sk, struct pipe_inode_info *pipe, size_t len,
			  speed_fill_t fill);

ssize_t speed_splice_read(struct socket *sock, loff_t *ppos, struct pipe_inode_info *pipe,
			  size_t len, unsigned int flags);

#endif
