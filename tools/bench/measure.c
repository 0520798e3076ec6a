// SPDX-License-Identifier: GPL-2.0
/* Series of trials: how many operations, how many runs, in which order. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "transport.h"

uint64_t trial_run(struct series *s, uint64_t n)
{
	if (apart_needed(s->transport) || !guard_inside())
		return apart_run(s, n);
	return s->trial(s, n);
}

static bool is_long(uint64_t ns)
{
	return ns >= opt.target_ns / 4;
}

/* One that seems long may have been disturbed: the shorter of two. */
static uint64_t sure_trial(struct series *s, uint64_t n)
{
	uint64_t ns = trial_run(s, n), again;

	if (s->failed || !is_long(ns) || n == s->n_max)
		return ns;
	again = trial_run(s, n);
	return again < ns ? again : ns;
}

/*
 * Grows the count until a trial takes a quarter of the target, and derives the
 * rest from that one.
 */
static void calibrate(struct series *s)
{
	uint64_t n = s->size > BUFFER_MAX ? 1 : 8;
	uint64_t ns;

	for (;;) {
		if (s->n_max && n > s->n_max)
			n = s->n_max;
		ns = sure_trial(s, n);
		if (s->failed)
			return;
		if (is_long(ns) || n == s->n_max)
			break;
		n *= ns < opt.target_ns / 64 ? 8 : 3;
	}
	if (ns < opt.target_ns)
		n = (uint64_t)((double)n * (double)opt.target_ns / (double)(ns + 1)) + 1;
	if (n < s->n_min)
		n = s->n_min;
	if (s->n_max && n > s->n_max)
		n = s->n_max;
	s->n = n;
}

static void measure_run(struct series *s, unsigned int run)
{
	if (s->failed)
		return;
	progress("%s %s: run %u of %u", opt.experiment, s->transport->name, run + 1, opt.runs);
	s->value[run] = (double)trial_run(s, s->n) / (double)s->n;
	if (s->kept)
		memcpy(s->kept[run], s->extra, sizeof(s->extra));
}

static void measure_start(struct series *s, bool given)
{
	if (given)
		return;
	progress("%s %s: how many?", opt.experiment, s->transport->name);
	calibrate(s);
}

/* Counts of instructions know no neighbours, but what another transport left to be done. */
static void measure_apart(struct series *all, unsigned int count, bool given)
{
	unsigned int run, i;

	for (i = 0; i < count; i++) {
		measure_start(&all[i], given);
		for (run = 0; run < opt.runs; run++)
			measure_run(&all[i], run);
	}
}

static void measure_in_turn(struct series *all, unsigned int count, bool given)
{
	unsigned int run, i;

	for (i = 0; i < count; i++)
		measure_start(&all[i], given);
	for (run = 0; run < opt.runs; run++)
		for (i = 0; i < count; i++)
			measure_run(&all[i], run);
}

static void run_all(struct series *all, unsigned int count, bool given)
{
	if (opt.icount)
		measure_apart(all, count, given);
	else
		measure_in_turn(all, count, given);
	progress_done();
}

void measure(struct series *all, unsigned int count)
{
	run_all(all, count, false);
}

void keep_extras(struct series *s)
{
	if (!s->kept)
		s->kept = calloc(RUNS_MAX, sizeof(*s->kept));
	if (!s->kept)
		die("no memory");
}

void measure_given(struct series *all, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		keep_extras(&all[i]);
	run_all(all, count, true);
}

int by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double median(const struct series *s)
{
	double sorted[RUNS_MAX];

	memcpy(sorted, s->value, opt.runs * sizeof(sorted[0]));
	qsort(sorted, opt.runs, sizeof(sorted[0]), by_double);
	if (opt.runs % 2)
		return sorted[opt.runs / 2];
	return (sorted[opt.runs / 2 - 1] + sorted[opt.runs / 2]) / 2;
}
