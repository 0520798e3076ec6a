/* SPDX-License-Identifier: GPL-2.0 */
/*
 * splice() from a socket.
 */
#ifndef SPEED_SPLICE_H
#define SPEED_SPLICE_H

#include <linux/types.h>

struct pipe_inode_info;
struct socket;

ssize_t speed_splice_read(struct socket *sock, loff_t *ppos, struct pipe_inode_info *pipe,
			  size_t len, unsigned int flags);

#endif
