// SPDX-License-Identifier: GPL-2.0
/*
 * net.speed.loopback_ports: which listeners' connections may be fused. A list as
 * in ip_local_reserved_ports; with a leading "!" all but these; empty, all.
 *
 * Read under RCU in softirq, replaced as a whole.
 */
#include <linux/bitmap.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/sysctl.h>

#include "net.h"
#include "ports.h"

#define PORTS	65536

/**
 * struct speed_ports - a list of ports
 * @rcu: to free it
 * @exclude: these are the ones that are not fused
 * @bits: a bit a port
 */
struct speed_ports {
	struct rcu_head rcu;
	bool exclude;
	DECLARE_BITMAP(bits, PORTS);
};

/**
 * speed_port_allowed() - may a listener's connections be fused?
 * @sn: the namespace's part
 * @port: the listener's port
 *
 * Context: under RCU.
 */
bool speed_port_allowed(const struct speed_net *sn, u16 port)
{
	const struct speed_ports *ports = rcu_dereference(sn->ports);

	return !ports || test_bit(port, ports->bits) != ports->exclude;
}

static void ports_set(struct speed_net *sn, struct speed_ports *ports)
{
	struct speed_ports *old = rcu_dereference_protected(sn->ports, true);

	if (ports && bitmap_empty(ports->bits, PORTS)) {
		kvfree(ports);
		ports = NULL;
	}
	rcu_assign_pointer(sn->ports, ports);
	if (old)
		kvfree_rcu(old, rcu);
}

/* The start of a list. Return: bytes before the first number. */
static size_t ports_begin(struct speed_ports *ports, const char *buf, size_t len)
{
	size_t skip = 0;

	while (skip < len && (buf[skip] == ' ' || buf[skip] == '\t'))
		skip++;
	ports->exclude = skip < len && buf[skip] == '!';
	return skip + ports->exclude;
}

/* The rest of one: it adds to what came before. */
static size_t ports_go_on(struct speed_net *sn, struct speed_ports *ports)
{
	const struct speed_ports *old = rcu_dereference_protected(sn->ports, true);

	if (old) {
		ports->exclude = old->exclude;
		bitmap_copy(ports->bits, old->bits, PORTS);
	}
	return 0;
}

static int ports_write(struct speed_net *sn, struct ctl_table *table, char *buf, size_t *len,
		       loff_t *pos)
{
	struct speed_ports *ports = kvzalloc(sizeof(*ports), GFP_KERNEL);
	unsigned long *bits;
	size_t skip, left;
	int err;

	if (!ports)
		return -ENOMEM;
	skip = *pos ? ports_go_on(sn, ports) : ports_begin(ports, buf, *len);
	left = *len - skip;
	bits = ports->bits;
	table->data = &bits;
	err = left ? proc_do_large_bitmap(table, 1, buf + skip, &left, pos) : 0;
	if (err) {
		kvfree(ports);
		return err;
	}
	/* Of a long list a page is taken at a time. */
	*len = skip + left;
	ports_set(sn, ports);
	return 0;
}

static int ports_read(struct speed_net *sn, struct ctl_table *table, char *buf, size_t *len,
		      loff_t *pos)
{
	struct speed_ports *ports = rcu_dereference_protected(sn->ports, true);
	static unsigned long none[BITS_TO_LONGS(PORTS)];
	unsigned long *bits = ports ? ports->bits : none;
	bool mark = ports && ports->exclude && !*pos && *len;
	size_t left = *len - mark;
	int err;

	table->data = &bits;
	err = proc_do_large_bitmap(table, 0, buf + mark, &left, pos);
	if (mark)
		buf[0] = '!';
	*len = left + mark;
	return err;
}

int speed_ports_handler(speed_ctl_table_t *table, int write, void *buf, size_t *len, loff_t *pos)
{
	static DEFINE_MUTEX(lock);
	struct ctl_table local = *table;
	int err;

	if (mutex_lock_killable(&lock))
		return -EINTR;
	err = write ? ports_write(table->data, &local, buf, len, pos)
		    : ports_read(table->data, &local, buf, len, pos);
	mutex_unlock(&lock);
	return err;
}

void speed_ports_free(struct speed_net *sn)
{
	struct speed_ports *ports = rcu_dereference_protected(sn->ports, true);

	RCU_INIT_POINTER(sn->ports, NULL);
	if (ports)
		kvfree_rcu(ports, rcu);
}
