// SPDX-License-Identifier: GPL-2.0
/*
 * tools/bench/cpu.c: what reading the clock takes is taken off what few messages took, so
 * an interrupt in it, or another program's turn, must not count. The clock is a stand-in.
 */
#include <stdio.h>
#include <time.h>

#include "../../tools/bench/bench.h"

#define READING_NS	40
#define DISTURBED_NS	1000000
#define READINGS	4

struct options opt;

static uint64_t clock_ns;
static unsigned int readings, disturbed, disturbances;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	clock_ns += READING_NS;
	if (readings++ == disturbed) {
		clock_ns += DISTURBED_NS;
		disturbances++;
	}
	t->tv_sec = (time_t)(clock_ns / 1000000000u);
	t->tv_nsec = (long)(clock_ns % 1000000000u);
	return 0;
}

int main(void)
{
	for (disturbed = 0; disturbed < 2 * READINGS; disturbed++) {
		uint64_t cost;

		readings = 0;
		cost = clock_cost(READINGS);
		if (cost != READINGS * READING_NS) {
			printf("disturbed in reading %u: %llu ns, not %d\n", disturbed,
			       (unsigned long long)cost, READINGS * READING_NS);
			return 1;
		}
	}
	if (disturbances != 2 * READINGS) {
		printf("disturbed %u times\n", disturbances);
		return 1;
	}
	return 0;
}
