// SPDX-License-Identifier: GPL-2.0
/*
 * A stream each way at full rate between two processes, while others move it to
 * TCP and back thousands of times: by the sysctl, a packet socket, SPEED_FUSE and
 * sends that go by TCP. Not one byte is lost, doubled or out of its place.
 */
#define _GNU_SOURCE
#include "shim_storm_run.h"

static void bulk(const struct transport *t)
{
	(void)t;
	begin(LARGEST);
	storm->least = soak_times(200, 25);
	run(10, both_ways);
}

static void small(const struct transport *t)
{
	(void)t;
	begin(400);
	run(5, both_ways);
}

static void small_buffers(const struct transport *t)
{
	(void)t;
	begin_tight(3000);
	run(5, both_ways);
}

/* What an end has yet to read is brought to TCP's queue, again and again. */
static void repairs(const struct transport *t)
{
	(void)t;
	begin(30000);
	storm->repairs = true;
	run(5, both_ways);
}

/* Bytes come while a reader that found none is about to sleep. */
static void splices(const struct transport *t)
{
	(void)t;
	begin(400);
	storm->splices = true;
	run(5, both_ways);
}

static void lockstep(const struct transport *t)
{
	(void)t;
	begin(3000);
	run(5, in_turn);
}

static void edges(const struct transport *t)
{
	(void)t;
	begin(3000);
	run(5, by_edges);
}

static const struct test_case cases[] = {
	{ "bulk", bulk, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "small", small, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "small_buffers", small_buffers, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "repairs", repairs, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "splices", splices, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "lockstep", lockstep, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "edges", edges, CASE_STREAM | CASE_SPEED | CASE_LONG },
};

RUN_CASES(cases)
