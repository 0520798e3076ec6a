// SPDX-License-Identifier: GPL-2.0
/* The tracepoints speed:*: each is there, and fires for what it is named after. */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "harness.h"
#include "tracing.h"

static void exist(const struct transport *t)
{
	static const char *const names[] = {
		"speed_connect", "speed_accept", "speed_close", "speed_publish", "speed_sleep",
		"speed_wake", "speed_map", "speed_reset",
	};
	char path[256];
	size_t i;

	(void)t;
	tracing_need();
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), TRACING "/events/speed/%s/format", names[i]);
		WANT_OK(access(path, R_OK), "%s", names[i]);
	}
}

static void life(const struct transport *t)
{
	struct tracing g;
	struct end e[2];
	struct call c;
	struct task k;
	uint64_t pair;
	char buf[8];

	tracing_need();
	tracing_begin(&g);
	tp_pair(t, e);
	pair = pair_of(e[0].fd);
	c = (struct call){ &e[1], buf, 8, 0 };
	task_start(&k, call_recv, &c);
	WANT_TRUE(task_sleeps(&k), "recv waits");
	WANT(end_send(&e[0], "x", 1, 0), 1, 0, "send");
	WANT(task_join(&k), 1, 0, "recv");
	pair_close(e);
	tracing_end(&g);
	WANT(tracing_fired(&g, "speed_connect", pair, -1), 1, 0, "speed_connect");
	WANT(tracing_fired(&g, "speed_accept", pair, -1), 1, 0, "speed_accept");
	WANT_TRUE(tracing_fired(&g, "speed_sleep", pair, -1) >= 1, "speed_sleep");
	WANT_TRUE(tracing_fired(&g, "speed_publish", pair, -1) >= 1, "speed_publish");
	WANT_TRUE(tracing_fired(&g, "speed_wake", pair, -1) >= 1, "speed_wake");
	WANT(tracing_fired(&g, "speed_close", pair, -1), 2, 0, "speed_close");
	WANT(tracing_fired(&g, "speed_reset", pair, -1), 0, 0, "speed_reset");
	WANT(tracing_fired(&g, "speed_map", pair, -1), 0, 0, "speed_map");
}

static void mapping(const struct transport *t)
{
	struct tracing g;
	struct end e[2];
	struct speed *m;
	uint64_t pair;

	tracing_need();
	tracing_begin(&g);
	tp_pair(t, e);
	pair = pair_of(e[0].fd);
	m = speed_attach(e[0].fd, 0);
	MUST(m && speed_map(m, SPEED_MAP_BOTH) == 0);
	speed_detach(m);
	pair_close(e);
	tracing_end(&g);
	WANT_TRUE(tracing_fired(&g, "speed_map", pair, -1) >= 2, "speed_map");
}

static const struct test_case cases[] = {
	{ "exist", exist, CASE_STREAM | CASE_SPEED },
	{ "life", life, CASE_BOTH | CASE_SPEED },
	{ "mapping", mapping, CASE_BOTH | CASE_SPEED },
};

RUN_CASES(cases)
