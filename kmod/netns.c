// SPDX-License-Identifier: GPL-2.0
/*
 * Network namespaces. A socket holds its namespace, so that none is left when a
 * namespace goes.
 */
#include <linux/mm.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "net.h"
#include "netns.h"
#include "proc.h"
#include "sysctl.h"

#define RING_BYTES	(256UL << 10)
#define SPIN_US		50

unsigned int speed_net_id;

/* An eighth of the machine's memory, for all namespaces together. */
static unsigned long default_mem_max(struct net *net)
{
	if (net_eq(net, &init_net))
		return (totalram_pages() << PAGE_SHIFT) / 8;
	return READ_ONCE(speed_net(&init_net)->mem_max);
}

static int __net_init netns_add(struct net *net)
{
	struct speed_net *sn = speed_net(net);
	int err;

	spin_lock_init(&sn->bind_lock);
	spin_lock_init(&sn->socks_lock);
	sn->ring_bytes = RING_BYTES;
	sn->spin_us = SPIN_US;
	sn->mem_max = default_mem_max(net);
	err = speed_sysctl_add(net);
	if (err)
		return err;
	err = speed_proc_add(net);
	if (err)
		speed_sysctl_del(net);
	return err;
}

static void __net_exit netns_del(struct net *net)
{
	speed_proc_del(net);
	speed_sysctl_del(net);
	WARN_ON_ONCE(!hlist_empty(&speed_net(net)->socks));
	WARN_ON_ONCE(atomic_long_read(&speed_net(net)->mem) || speed_net(net)->mapped);
}

static struct pernet_operations netns_ops = {
	.init	= netns_add,
	.exit	= netns_del,
	.id	= &speed_net_id,
	.size	= sizeof(struct speed_net),
};

int speed_netns_init(void)
{
	return register_pernet_subsys(&netns_ops);
}

void speed_netns_exit(void)
{
	unregister_pernet_subsys(&netns_ops);
}
