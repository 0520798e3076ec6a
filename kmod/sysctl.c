// SPDX-License-Identifier: GPL-2.0
/*
 * Sysctls of a network namespace. A namespace that an unprivileged user owns
 * may only lower mem_max below what the initial namespace allows.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/sysctl.h>

#include <linux/speed.h>

#include "compat/compat.h"
#include "family.h"
#include "net.h"
#include "ports.h"
#include "shim.h"
#include "shim_proto.h"
#include "sysctl.h"

#define SPIN_MAX	1000000u	/* a second, in microseconds */

static unsigned int spin_max = SPIN_MAX;
static unsigned long ring_min = SPEED_RING_MIN;
static unsigned long ring_max = SPEED_RING_MAX;

/* Sizes of rings are powers of two: anything else is refused, not rounded. */
static int ring_bytes_handler(speed_ctl_table_t *table, int write, void *buf, size_t *len,
			      loff_t *pos)
{
	unsigned long *bytes = table->data;
	unsigned long value = READ_ONCE(*bytes);
	struct ctl_table local = *table;
	int err;

	local.data = &value;
	err = proc_doulongvec_minmax(&local, write, buf, len, pos);
	if (err || !write)
		return err;
	if (!is_power_of_2(value) || value < PAGE_SIZE)
		return -EINVAL;
	WRITE_ONCE(*bytes, value);
	return 0;
}

static int mem_max_handler(speed_ctl_table_t *table, int write, void *buf, size_t *len,
			   loff_t *pos)
{
	struct net *net = table->extra1;
	unsigned long *max = table->data;
	unsigned long value = READ_ONCE(*max);
	struct ctl_table local = *table;
	int err;

	local.data = &value;
	local.extra1 = NULL;
	err = proc_doulongvec_minmax(&local, write, buf, len, pos);
	if (err || !write)
		return err;
	if (net->user_ns != &init_user_ns && value > READ_ONCE(speed_net(&init_net)->mem_max))
		return -EINVAL;
	WRITE_ONCE(*max, value);
	return 0;
}

/* The probe is there while some namespace wants it. */
static int loopback_handler(speed_ctl_table_t *table, int write, void *buf, size_t *len,
			    loff_t *pos)
{
	static DEFINE_MUTEX(lock);
	struct ctl_table local = *table;
	int *on = table->data, value, err;

	if (mutex_lock_killable(&lock))
		return -EINTR;
	value = READ_ONCE(*on);
	local.data = &value;
	err = proc_dointvec_minmax(&local, write, buf, len, pos);
	if (!err && write && value && !*on) {
		shim_learn_bases();
		err = shim_probe_on();
	} else if (!err && write && !value && *on) {
		shim_probe_off();
	}
	if (!err)
		WRITE_ONCE(*on, value);
	mutex_unlock(&lock);
	return err;
}

/* The order is that of the pointers set in speed_sysctl_add(). */
static const struct ctl_table speed_table[] = {
	{
		.procname	= "family",
		.data		= &speed_family,
		.maxlen		= sizeof(int),
		.mode		= 0444,
		.proc_handler	= proc_dointvec,
	},
	{
		.procname	= "ring_bytes",
		.maxlen		= sizeof(unsigned long),
		.mode		= 0644,
		.proc_handler	= ring_bytes_handler,
		.extra1		= &ring_min,
		.extra2		= &ring_max,
	},
	{
		.procname	= "mem_max",
		.maxlen		= sizeof(unsigned long),
		.mode		= 0644,
		.proc_handler	= mem_max_handler,
	},
	{
		.procname	= "spin_us",
		.maxlen		= sizeof(unsigned int),
		.mode		= 0644,
		.proc_handler	= proc_douintvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &spin_max,
	},
	{
		.procname	= "loopback",
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= loopback_handler,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
	{
		.procname	= "loopback_ports",
		.maxlen		= 65536,
		.mode		= 0644,
		.proc_handler	= speed_ports_handler,
	},
	{ }
};

int speed_sysctl_add(struct net *net)
{
	struct speed_net *sn = speed_net(net);

	sn->table = kmemdup(speed_table, sizeof(speed_table), GFP_KERNEL);
	if (!sn->table)
		return -ENOMEM;
	sn->table[1].data = &sn->ring_bytes;
	sn->table[2].data = &sn->mem_max;
	sn->table[2].extra1 = net;
	sn->table[3].data = &sn->spin_us;
	sn->table[4].data = &sn->loopback;
	sn->table[5].data = sn;
	sn->ctl = speed_compat_sysctl(net, "net/speed", sn->table, ARRAY_SIZE(speed_table) - 1);
	if (sn->ctl)
		return 0;
	kfree(sn->table);
	return -ENOMEM;
}

void speed_sysctl_del(struct net *net)
{
	struct speed_net *sn = speed_net(net);

	unregister_net_sysctl_table(sn->ctl);
	kfree(sn->table);
	if (sn->loopback)
		shim_probe_off();
	speed_ports_free(sn);
}
