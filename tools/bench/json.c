// SPDX-License-Identifier: GPL-2.0
/* Results: one JSON object a line on standard output. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "bench.h"
#include "transport.h"

const char *unit_of_time(void)
{
	return opt.icount ? "instructions" : "ns";
}

const char *unit_of_bandwidth(void)
{
	return opt.icount ? "instructions" : "MB/s";
}

void to_bandwidth(struct series *s)
{
	unsigned int run;

	for (run = 0; !opt.icount && run < opt.runs; run++)
		s->value[run] = 1000.0 * (double)s->size / s->value[run];
}

static void put_place(void)
{
	struct utsname host;

	uname(&host);
	printf("\"cpus\": %d, \"kernel\": \"%s\", \"accelerator\": \"%s\"}\n",
	       opt.two_cpus ? 2 : 1, host.release, opt.accel);
	fflush(stdout);
}

/* The beginning of a record: what it is about. */
void emit_head(const char *experiment, const struct series *s)
{
	printf("{\"experiment\": \"%s\", \"transport\": \"%s\", \"size\": %zu, ",
	       experiment, s->transport->name, s->size);
	if (s->connections)
		printf("\"connections\": %u, ", s->connections);
	if (s->threads)
		printf("\"threads\": %u, ", s->threads);
	if (s->messages)
		printf("\"messages\": %u, ", s->messages);
}

void emit(const char *experiment, const struct series *s, const char *metric, const char *unit)
{
	double min = s->value[0], max = s->value[0];
	unsigned int i;

	for (i = 1; i < opt.runs; i++) {
		if (s->value[i] < min)
			min = s->value[i];
		if (s->value[i] > max)
			max = s->value[i];
	}
	emit_head(experiment, s);
	printf("\"metric\": \"%s\", \"unit\": \"%s\", ", metric, unit);
	printf("\"median\": %.2f, \"min\": %.2f, \"max\": %.2f, \"runs\": %u, ",
	       median(s), min, max, opt.runs);
	put_place();
}

void emit_value(const char *experiment, const struct series *like, const double *values,
		const char *metric, const char *unit)
{
	struct series s = *like;

	memcpy(s.value, values, opt.runs * sizeof(s.value[0]));
	emit(experiment, &s, metric, unit);
}

void emit_extra(const char *experiment, const struct series *s, unsigned int extra,
		const char *metric, const char *unit)
{
	double values[RUNS_MAX];
	unsigned int run;

	for (run = 0; run < opt.runs; run++)
		values[run] = s->kept[run][extra];
	emit_value(experiment, s, values, metric, unit);
}

void emit_missing(const char *transport, const char *why)
{
	printf("{\"experiment\": \"%s\", \"transport\": \"%s\", \"size\": 0, ",
	       opt.experiment, transport);
	printf("\"metric\": \"missing\", \"why\": \"%s\", ", why);
	put_place();
}
