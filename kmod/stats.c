// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of the machine, a line each: name and count.
 */
#include <linux/cpumask.h>
#include <linux/seq_file.h>

#include "pages.h"
#include "stats.h"

DEFINE_PER_CPU(u64[SPEED_STATS], speed_stats);

static const char * const names[SPEED_STATS] = {
	[SPEED_STAT_BAD_PEER]	= "bad_peer",
	[SPEED_STAT_LEASED]	= "leased",
	[SPEED_STAT_REVOKED]	= "revoked",
	[SPEED_STAT_NO_MEMORY]	= "no_memory",
};

static u64 sum(enum speed_stat stat)
{
	u64 total = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		total += per_cpu(speed_stats, cpu)[stat];
	return total;
}

int speed_stats_show(struct seq_file *seq, void *v)
{
	int i;

	for (i = 0; i < SPEED_STATS; i++)
		seq_printf(seq, "%s %llu\n", names[i], sum(i));
	seq_printf(seq, "pool_bytes %lu\n", speed_pool_bytes());
	return 0;
}
