// SPDX-License-Identifier: GPL-2.0
/* Results: one JSON object a line on standard output. */
#include <stdio.h>
#include <sys/utsname.h>

#include "bench.h"
#include "transport.h"

const char *unit_of_time(void)
{
	return opt.icount ? "instructions" : "ns";
}

void emit(const char *experiment, const struct series *s, const char *metric, const char *unit)
{
	double min = s->value[0], max = s->value[0];
	struct utsname host;
	unsigned int i;

	for (i = 1; i < opt.runs; i++) {
		if (s->value[i] < min)
			min = s->value[i];
		if (s->value[i] > max)
			max = s->value[i];
	}
	uname(&host);
	printf("{\"experiment\": \"%s\", \"transport\": \"%s\", \"size\": %zu, ",
	       experiment, s->transport->name, s->size);
	if (s->connections)
		printf("\"connections\": %u, ", s->connections);
	printf("\"metric\": \"%s\", \"unit\": \"%s\", ", metric, unit);
	printf("\"median\": %.2f, \"min\": %.2f, \"max\": %.2f, \"runs\": %u, ",
	       median(s), min, max, opt.runs);
	printf("\"cpus\": %d, \"kernel\": \"%s\", \"accelerator\": \"%s\"}\n",
	       opt.two_cpus ? 2 : 1, host.release, opt.accel);
	fflush(stdout);
}
