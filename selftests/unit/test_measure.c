// SPDX-License-Identifier: GPL-2.0
/*
 * tools/bench/measure.c: how many operations a trial has, where a trial is disturbed. A few
 * messages that took long once are no measure: what it costs to begin would be most of a run.
 */
#include <stdio.h>

#include "../../tools/bench/bench.h"
#include "../../tools/bench/transport.h"

#define TARGET_NS	50000000
#define EACH_NS		1000
#define DISTURBED_NS	30000000
#define LEAST		1000000	/* longer than the target */

struct options opt = { .runs = 5, .target_ns = TARGET_NS, .experiment = "test" };

static unsigned int trials, disturbed;

void progress(const char *format, ...)
{
	(void)format;
}

void progress_done(void)
{
}

bool apart_needed(const struct transport *t)
{
	(void)t;
	return false;
}

uint64_t apart_run(struct series *s, uint64_t n)
{
	return s->trial(s, n);
}

bool guard_inside(void)
{
	return true;
}

static uint64_t trial(struct series *s, uint64_t n)
{
	(void)s;
	return n * EACH_NS + (trials++ == disturbed ? DISTURBED_NS : 0);
}

int main(void)
{
	const struct transport none = { .name = "none" };
	struct series all = { .transport = &none, .size = 64, .trial = trial, .n_min = LEAST };

	for (disturbed = 0; disturbed < 8; disturbed++) {
		struct series s = { .transport = &none, .size = 64, .trial = trial };

		trials = 0;
		measure(&s, 1);
		if (trials < opt.runs + 3 || s.n * EACH_NS < TARGET_NS * 9 / 10) {
			printf("disturbed in trial %u: %llu operations, %u trials\n", disturbed,
			       (unsigned long long)s.n, trials);
			return 1;
		}
	}
	measure(&all, 1);
	if (all.n < LEAST) {
		printf("%llu operations where at least %d are wanted\n", (unsigned long long)all.n,
		       LEAST);
		return 1;
	}
	return 0;
}
