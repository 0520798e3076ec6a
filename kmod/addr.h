/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses: validation, binding and look-up.
 */
#ifndef SPEED_ADDR_H
#define SPEED_ADDR_H

#include <linux/refcount.h>
#include <linux/speed.h>
#include <linux/uidgid.h>

struct net;
struct sock;

/**
 * struct speed_addr - a bound address
 * @refs: the bound socket, and what it accepted
 * @number: or zero
 * @len: of the name, or zero
 * @name: not ended by a NUL byte
 * @mode: permission bits, who may connect
 * @uid: the owner
 * @gid: its group
 * @node: in the namespace, while @sk is there
 * @sk: the bound socket
 */
struct speed_addr {
	refcount_t refs;
	u32 number;
	u32 len;
	char name[SPEED_NAME_MAX];
	u32 mode;
	kuid_t uid;
	kgid_t gid;
	struct hlist_node node;
	struct sock *sk;
};

int speed_addr_parse(const void *from, int len, struct speed_addr *addr);
int speed_addr_tell(const struct speed_addr *addr, void *to);
int speed_addr_bind(struct sock *sk, const struct speed_addr *want);
void speed_addr_unbind(struct sock *sk);
struct sock *speed_addr_find(struct net *net, const struct speed_addr *want);
int speed_addr_permits(struct sock *sk, const struct speed_addr *addr);
struct speed_addr *speed_addr_get(struct speed_addr *addr);
void speed_addr_put(struct speed_addr *addr);

#endif
