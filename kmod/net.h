/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a network namespace keeps: the bound addresses, the list of sockets and
 * the sysctls.
 */
#ifndef SPEED_NET_H
#define SPEED_NET_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#define SPEED_BIND_BITS	8

/**
 * struct speed_net - a namespace's part
 * @bind_lock: covers @binds and @next_auto
 * @binds: bound addresses by hash
 * @next_auto: where autobind looks next
 * @socks_lock: covers @socks
 * @socks: all sockets, for /proc
 * @ring_bytes: sysctl: ring size of new sockets, bytes
 * @spin_us: sysctl: longest spin of a mapped reader, microseconds
 * @mem_max: sysctl: most bytes that rings and overflow may take
 * @mem: bytes that they take
 * @mapped: of these, what somebody maps; share.c's
 * @loopback: sysctl: whether TCP connections are fused
 * @ports: sysctl: which of them, or NULL for all
 * @ctl: registered sysctls
 * @table: their table
 */
struct speed_net {
	spinlock_t bind_lock;	/* binds, next_auto */
	struct hlist_head binds[1 << SPEED_BIND_BITS];
	u32 next_auto;
	spinlock_t socks_lock;	/* socks */
	struct hlist_head socks;
	unsigned long ring_bytes;
	unsigned int spin_us;
	unsigned long mem_max;
	atomic_long_t mem;
	long mapped;
	int loopback;
	struct speed_ports __rcu *ports;
	struct ctl_table_header *ctl;
	struct ctl_table *table;
};

extern unsigned int speed_net_id;

static inline struct speed_net *speed_net(const struct net *net)
{
	return net_generic(net, speed_net_id);
}

#endif
