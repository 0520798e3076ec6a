// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of the machine, a line each: name and count.
 */
#include <linux/cpumask.h>
#include <linux/seq_file.h>

#include "pages.h"
#include "stats.h"

DEFINE_PER_CPU(u64[SPEED_STATS], speed_stats);
DEFINE_PER_CPU(u64[SPEED_TCP_REASONS], speed_reasons);

static const char * const names[SPEED_STATS] = {
	[SPEED_STAT_BAD_PEER]	= "bad_peer",
	[SPEED_STAT_LEASED]	= "leased",
	[SPEED_STAT_REVOKED]	= "revoked",
	[SPEED_STAT_SHARED]	= "lease_shared",
	[SPEED_STAT_NO_MEMORY]	= "no_memory",
	[SPEED_STAT_TCP_ATTACHED] = "tcp_attached",
	[SPEED_STAT_TCP_PAIRED]	= "tcp_paired",
	[SPEED_STAT_TCP_FUSED]	= "tcp_fused",
	[SPEED_STAT_TCP_UNFUSED] = "tcp_unfused",
};

static const char * const reasons[SPEED_TCP_REASONS] = {
	[SPEED_TCP_FUSED]	= "fused",
	[SPEED_TCP_OFF]		= "off",
	[SPEED_TCP_PORT]	= "port",
	[SPEED_TCP_PEER]	= "peer",
	[SPEED_TCP_REQUEST]	= "request",
	[SPEED_TCP_TAP]		= "tap",
	[SPEED_TCP_FILTER]	= "filter",
	[SPEED_TCP_CGROUP]	= "cgroup",
	[SPEED_TCP_ULP]		= "ulp",
	[SPEED_TCP_KERNEL]	= "kernel",
	[SPEED_TCP_MPTCP]	= "mptcp",
	[SPEED_TCP_SMC]		= "smc",
	[SPEED_TCP_FASTOPEN]	= "fastopen",
	[SPEED_TCP_SIGNED]	= "signed",
	[SPEED_TCP_STAMP]	= "stamp",
	[SPEED_TCP_REPAIR]	= "repair",
	[SPEED_TCP_ZEROCOPY]	= "zerocopy",
	[SPEED_TCP_MEMORY]	= "memory",
	[SPEED_TCP_FULL]	= "full",
	[SPEED_TCP_ODD]		= "odd",
	[SPEED_TCP_BUSY]	= "busy",
	[SPEED_TCP_SHUT]	= "shut",
};

/**
 * speed_reason_name() - why bytes go by TCP, in a word
 * @reason: SPEED_TCP_*
 */
const char *speed_reason_name(u32 reason)
{
	return reason < SPEED_TCP_REASONS ? reasons[reason] : "unknown";
}

static u64 sum_reason(u32 reason)
{
	u64 total = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		total += per_cpu(speed_reasons, cpu)[reason];
	return total;
}

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
	for (i = SPEED_TCP_FUSED + 1; i < SPEED_TCP_REASONS; i++)
		seq_printf(seq, "tcp_not_%s %llu\n", reasons[i], sum_reason(i));
	seq_printf(seq, "data_bytes %lu\n", speed_data_bytes());
	seq_printf(seq, "pool_bytes %lu\n", speed_pool_bytes());
	return 0;
}
