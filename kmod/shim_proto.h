/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The calls of a TCP socket, TCP's own and those derived from them.
 */
#ifndef SPEED_SHIM_PROTO_H
#define SPEED_SHIM_PROTO_H

#include <linux/net.h>
#include <net/sock.h>

/**
 * struct shim_base - one address family's calls
 * @prot: TCP's own, as found
 * @ops: TCP's own, as found
 * @our_prot: the copy with our calls
 * @our_ops: the same
 */
struct shim_base {
	const struct proto *prot;
	const struct proto_ops *ops;
	struct proto our_prot;
	struct proto_ops our_ops;
};

const struct shim_base *shim_base_of(const struct sock *sk);
const struct shim_base *shim_tcp_of(const struct sock *sk);
void shim_learn_bases(void);
void shim_swap_ops(struct sock *sk, const struct shim_base *base);

/* shim_lowat.c */
int shim_set_rcvlowat(struct sock *sk, int val);

#endif
