/* SPDX-License-Identifier: GPL-2.0 */
/*
 * splice() from a TCP socket whose calls are ours, and what kernel code reads.
 */
#ifndef SPEED_SHIM_SPLICE_H
#define SPEED_SHIM_SPLICE_H

#include <linux/net.h>
#include <net/sock.h>

ssize_t shim_splice_read(struct socket *sock, loff_t *ppos, struct pipe_inode_info *pipe,
			 size_t len, unsigned int flags);
int shim_read_sock(struct sock *sk, read_descriptor_t *desc, sk_read_actor_t actor);
int shim_read_skb(struct sock *sk, skb_read_actor_t actor);
int shim_peek_len(struct socket *sock);

#endif
