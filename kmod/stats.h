/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters, shown in /proc/net/speed_stat.
 */
#ifndef SPEED_STATS_H
#define SPEED_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

struct seq_file;

enum speed_stat {
	SPEED_STAT_BAD_PEER,	/* connections reset because of a lie in a ring */
	SPEED_STAT_LEASED,	/* leases granted */
	SPEED_STAT_REVOKED,	/* leases ended */
	SPEED_STAT_NO_MEMORY,	/* rings refused for want of memory */
	SPEED_STATS
};

DECLARE_PER_CPU(u64[SPEED_STATS], speed_stats);

static inline void speed_count(enum speed_stat stat)
{
	this_cpu_inc(speed_stats[stat]);
}

int speed_stats_show(struct seq_file *seq, void *v);

#endif
