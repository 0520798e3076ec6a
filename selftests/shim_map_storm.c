// SPDX-License-Identifier: GPL-2.0
/*
 * The storm of shim_storm.c with both ends, or one of them, mapped: libspeed's calls
 * are further ways to send and receive while the connection moves to TCP and back.
 */
#define _GNU_SOURCE
#include "shim_storm_run.h"

#define BOTH	3

static void mapped(int ends, size_t largest)
{
	begin(largest);
	storm->mapped = ends;
}

static void bulk(const struct transport *t)
{
	(void)t;
	mapped(BOTH, LARGEST);
	run(6, both_ways);
}

static void bulk_half(const struct transport *t)
{
	(void)t;
	mapped(1, LARGEST);
	run(4, both_ways);
}

static void small(const struct transport *t)
{
	(void)t;
	mapped(BOTH, 400);
	run(4, both_ways);
}

static void small_half(const struct transport *t)
{
	(void)t;
	mapped(2, 400);
	run(4, both_ways);
}

static void small_buffers(const struct transport *t)
{
	(void)t;
	begin_tight(3000);
	storm->mapped = BOTH;
	run(4, both_ways);
}

static void repairs(const struct transport *t)
{
	(void)t;
	mapped(BOTH, 30000);
	storm->repairs = true;
	run(4, both_ways);
}

static void lockstep(const struct transport *t)
{
	(void)t;
	mapped(BOTH, 3000);
	run(4, in_turn);
}

static void lockstep_half(const struct transport *t)
{
	(void)t;
	mapped(2, 3000);
	run(4, in_turn);
}

static void edges(const struct transport *t)
{
	(void)t;
	mapped(BOTH, 3000);
	run(4, by_edges);
}

static void edges_half(const struct transport *t)
{
	(void)t;
	mapped(1, 3000);
	run(4, by_edges);
}

#define STORM	(CASE_STREAM | CASE_SPEED | CASE_LONG)

static const struct test_case cases[] = {
	{ "bulk", bulk, STORM },
	{ "bulk_half", bulk_half, STORM },
	{ "small", small, STORM },
	{ "small_half", small_half, STORM },
	{ "small_buffers", small_buffers, STORM },
	{ "repairs", repairs, STORM },
	{ "lockstep", lockstep, STORM },
	{ "lockstep_half", lockstep_half, STORM },
	{ "edges", edges, STORM },
	{ "edges_half", edges_half, STORM },
};

RUN_CASES(cases)
