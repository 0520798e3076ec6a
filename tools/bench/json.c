// SPDX-License-Identifier: GPL-2.0
/* Results: one JSON object a line on standard output. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
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

/* The options that change what is measured, where they are not as they are by default. */
static void put_options(void)
{
	const struct {
		const char *name;
		bool set;
	} flags[] = {
		{ "touch", opt.touch }, { "silent", opt.silent }, { "batch", opt.batch },
		{ "gathered", opt.delay }, { "nonblocking", opt.nonblocking },
	};
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].set)
			printf("\"%s\": true, ", flags[i].name);
	if (opt.sendbuf)
		printf("\"sendbufsz\": %d, ", opt.sendbuf);
	if (opt.recvbuf)
		printf("\"recvbufsz\": %d, ", opt.recvbuf);
}

/* For so many microseconds the library looks at a ring before it sleeps. */
static void put_spin(const struct transport *t)
{
	const char *spin = t->spin ? t->spin : t->preload ? opt.spin : NULL;
	FILE *f = spin ? NULL : fopen("/proc/sys/net/speed/spin_us", "re");
	unsigned int us;

	if (spin)
		printf("\"spin_us\": %d, ", atoi(spin));
	else if (f && fscanf(f, "%u", &us) == 1)
		printf("\"spin_us\": %u, ", us);
	if (f)
		fclose(f);
}

/* The beginning of a record: what it is about. */
void emit_head(const char *experiment, const struct series *s)
{
	printf("{\"experiment\": \"%s\", \"transport\": \"%s\", \"size\": %zu, ",
	       experiment, s->transport->name, s->size);
	put_options();
	if (s->transport->maps)
		put_spin(s->transport);
	if (s->connections)
		printf("\"connections\": %u, ", s->connections);
	if (s->threads)
		printf("\"threads\": %u, ", s->threads);
	if (s->messages)
		printf("\"messages\": %u, ", s->messages);
	if (s->fills)
		printf("\"fills\": true, ");
}

void emit(const char *experiment, const struct series *s, const char *metric, const char *unit)
{
	double min = s->value[0], max = s->value[0];
	unsigned int i;

	if (s->failed)
		return;
	for (i = 1; i < opt.runs; i++) {
		if (s->value[i] < min)
			min = s->value[i];
		if (s->value[i] > max)
			max = s->value[i];
	}
	emit_head(experiment, s);
	printf("\"metric\": \"%s\", \"unit\": \"%s\", ", metric, unit);
	printf("\"median\": %.9g, \"min\": %.9g, \"max\": %.9g, \"runs\": %u, ",
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

void emit_count(const char *experiment, const struct series *like, const char *metric,
		double count, const char *unit)
{
	double values[RUNS_MAX];
	unsigned int run;

	for (run = 0; run < opt.runs; run++)
		values[run] = count;
	emit_value(experiment, like, values, metric, unit);
}

void emit_extra(const char *experiment, const struct series *s, unsigned int extra,
		const char *metric, const char *unit)
{
	double values[RUNS_MAX];
	unsigned int run;

	if (s->failed)
		return;
	for (run = 0; run < opt.runs; run++)
		values[run] = s->kept[run][extra];
	emit_value(experiment, s, values, metric, unit);
}

/* What is no figure has the fields of one all the same. */
static void put_reason(const char *metric, const char *why)
{
	printf("\"metric\": \"%s\", \"unit\": null, \"median\": null, ", metric);
	printf("\"min\": null, \"max\": null, \"runs\": null, \"why\": \"");
	for (; *why; why++) {
		if (*why == '"' || *why == '\\')
			putchar('\\');
		putchar(iscntrl((unsigned char)*why) ? ' ' : *why);
	}
	printf("\", ");
	put_place();
}

static void emit_without(const char *transport, const char *metric, const char *why)
{
	printf("{\"experiment\": \"%s\", \"transport\": \"%s\", \"size\": %zu, ",
	       opt.experiment, transport, opt.size);
	put_reason(metric, why);
}

void emit_missing(const char *transport, const char *why)
{
	emit_without(transport, "missing", why);
}

void emit_impossible(const char *transport, const char *why)
{
	emit_without(transport, "impossible", why);
}

void emit_failed(const struct series *s, const char *why)
{
	emit_head(opt.experiment, s);
	put_reason("failed", why);
}
