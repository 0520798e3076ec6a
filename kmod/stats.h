/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters, shown in /proc/net/speed_stat.
 */
#ifndef SPEED_STATS_H
#define SPEED_STATS_H

#include <linux/percpu.h>
#include <linux/speed.h>
#include <linux/types.h>

struct seq_file;

enum speed_stat {
	SPEED_STAT_BAD_PEER,	/* connections reset because of a lie in a ring */
	SPEED_STAT_LEASED,	/* leases granted */
	SPEED_STAT_REVOKED,	/* leases ended */
	SPEED_STAT_SHARED,	/* leases refused: another user has used the endpoint */
	SPEED_STAT_NO_MEMORY,	/* rings refused for want of memory */
	SPEED_STAT_TCP_ATTACHED,	/* TCP sockets whose calls became ours */
	SPEED_STAT_TCP_PAIRED,	/* TCP connections whose two ends were found */
	SPEED_STAT_TCP_FUSED,	/* directions that moved to their ring */
	SPEED_STAT_TCP_UNFUSED,	/* directions that moved back */
	SPEED_STATS
};

DECLARE_PER_CPU(u64[SPEED_STATS], speed_stats);
DECLARE_PER_CPU(u64[SPEED_TCP_REASONS], speed_reasons);

static inline void speed_count(enum speed_stat stat)
{
	this_cpu_inc(speed_stats[stat]);
}

/* A connection was not fused, or a direction moved back: SPEED_TCP_* says why. */
static inline void speed_count_reason(u32 reason)
{
	this_cpu_inc(speed_reasons[reason]);
}

const char *speed_reason_name(u32 reason);
int speed_stats_show(struct seq_file *seq, void *v);

#endif
