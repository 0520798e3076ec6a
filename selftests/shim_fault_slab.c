// SPDX-License-Identifier: GPL-2.0
/*
 * No memory for the shim's part of a socket, wherever it is attached, in softirq
 * too: the connection is one of plain TCP.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "faults.h"
#include "shim_held.h"
#include "stress.h"
#include "tcp_pair.h"

static int set_cache(const char *name, const char *on)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/slab/%s/failslab", name);
	return file_write(path, on);
}

static void without(const char *cache)
{
	long not = stat_number("tcp_not_memory");
	int pair[2], i;

	if (set_cache(cache, "1"))
		trace_skip("needs /sys/kernel/slab/%s/failslab", cache);
	MUST(file_write(FAILSLAB "/cache-filter", "Y") == 0);
	MUST(file_write(FAILSLAB "/times", "-1") == 0);
	MUST(file_write(FAILSLAB "/interval", "1") == 0);
	MUST(file_write(FAILSLAB "/verbose", "0") == 0);
	MUST(file_write(FAILSLAB "/probability", "100") == 0);
	for (i = 0; i < 20; i++) {
		tcp_pair(pair);
		WANT_TRUE(tcp_exchange(pair) && tcp_exchange(pair), "%s: exchange", cache);
		WANT(tcp_fused(pair), 0, 0, "%s: on TCP", cache);
		WANT_TRUE(tcp_pump(pair[0], pair[1], 100000), "%s: bulk", cache);
		tcp_close(pair);
	}
	MUST(file_write(FAILSLAB "/probability", "0") == 0);
	MUST(file_write(FAILSLAB "/cache-filter", "N") == 0);
	MUST(set_cache(cache, "0") == 0);
	WANT_TRUE(stat_number("tcp_not_memory") > not, "%s: tcp_not_memory", cache);
	tcp_fused_pair(pair);
	tcp_close(pair);
}

static void no_objects(const struct transport *t)
{
	struct shim_held held;

	(void)t;
	tcp_shim_net();
	faults_need();
	shim_held_begin(&held);
	without("shim_conn");
	shim_held_end(&held);
}

static const struct test_case cases[] = {
	{ "no_objects", no_objects, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
