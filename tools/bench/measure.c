// SPDX-License-Identifier: GPL-2.0
/* Series of trials: how many operations, how many runs, in which order. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "transport.h"

/*
 * Grows the count until a trial takes a quarter of the target, and derives the
 * rest from that one.
 */
static void calibrate(struct series *s)
{
	uint64_t n = 8;
	uint64_t ns;

	for (;;) {
		if (s->n_max && n > s->n_max)
			n = s->n_max;
		ns = s->trial(s, n);
		if (ns >= opt.target_ns / 4 || n == s->n_max)
			break;
		n *= ns < opt.target_ns / 64 ? 8 : 3;
	}
	if (ns < opt.target_ns)
		n = (uint64_t)((double)n * (double)opt.target_ns / (double)(ns + 1)) + 1;
	if (s->n_max && n > s->n_max)
		n = s->n_max;
	s->n = n;
}

static void measure_run(struct series *s, unsigned int run)
{
	progress("%s %s: run %u of %u", opt.experiment, s->transport->name, run + 1, opt.runs);
	s->value[run] = (double)s->trial(s, s->n) / (double)s->n;
}

static void measure_start(struct series *s)
{
	progress("%s %s: how many?", opt.experiment, s->transport->name);
	calibrate(s);
}

/* Counts of instructions know no neighbours, but what another transport left to be done. */
static void measure_apart(struct series *all, unsigned int count)
{
	unsigned int run, i;

	for (i = 0; i < count; i++) {
		measure_start(&all[i]);
		for (run = 0; run < opt.runs; run++)
			measure_run(&all[i], run);
	}
}

static void measure_in_turn(struct series *all, unsigned int count)
{
	unsigned int run, i;

	for (i = 0; i < count; i++)
		measure_start(&all[i]);
	for (run = 0; run < opt.runs; run++)
		for (i = 0; i < count; i++)
			measure_run(&all[i], run);
}

void measure(struct series *all, unsigned int count)
{
	if (opt.icount)
		measure_apart(all, count);
	else
		measure_in_turn(all, count);
	progress("%s", "");
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double median(const struct series *s)
{
	double sorted[RUNS_MAX];

	memcpy(sorted, s->value, opt.runs * sizeof(sorted[0]));
	qsort(sorted, opt.runs, sizeof(sorted[0]), compare);
	if (opt.runs % 2)
		return sorted[opt.runs / 2];
	return (sorted[opt.runs / 2 - 1] + sorted[opt.runs / 2]) / 2;
}

static const struct transport *transport_find(const char *name, size_t len)
{
	const struct transport *const *t;

	for (t = transports; *t; t++)
		if (strlen((*t)->name) == len && !memcmp((*t)->name, name, len))
			return *t;
	die("no transport is called '%.*s'", (int)len, name);
}

static void series_add(struct series *all, unsigned int *count, const struct transport *t)
{
	if (*count == SERIES_MAX)
		die("more than %d transports", SERIES_MAX);
	memset(&all[*count], 0, sizeof(all[*count]));
	all[*count].transport = t;
	all[*count].size = opt.size;
	all[*count].connections = opt.connections;
	++*count;
}

unsigned int series_make(struct series *all, unsigned int able)
{
	const struct transport *const *t;
	const char *name = opt.transports;
	unsigned int count = 0;

	for (t = transports; !name && *t; t++)
		if (((*t)->able & able) == able && !((*t)->able & ~able & ABLE_NATIVE))
			series_add(all, &count, *t);
	while (name) {
		const char *end = strchrnul(name, ',');
		const struct transport *one = transport_find(name, (size_t)(end - name));

		if ((one->able & able) != able)
			die("%s: not possible with %s", opt.experiment, one->name);
		series_add(all, &count, one);
		name = *end ? end + 1 : NULL;
	}
	if (!count)
		die("%s: no transport", opt.experiment);
	return count;
}
