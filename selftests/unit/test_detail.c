// SPDX-License-Identifier: GPL-2.0
/*
 * tools/bench/exp_detail.c: a call that takes longer than 32 bits of nanoseconds tell is
 * the longest there is, and not one of less than a second. And of a thousand calls that take
 * a microsecond, two, three and so on the points of the distribution are those, and each
 * bucket of the histogram has as many as lie between its ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../tools/bench/bench.h"
#include "../../tools/bench/transport.h"
#include "stand_in_series.h"

#define LONG_NS		5000000000u
#define SHORT_NS	10u
#define LEAST_NS	4000000000.0

#define CALLS		1000	/* of the second part */
#define UNIT_NS		1000u
#define KINDS		5
#define BUCKETS		160

struct options opt = { .runs = 1, .messages = 20, .experiment = "test", .accel = "native" };

static uint64_t now, step = SHORT_NS;
static bool growing;	/* it is the second part */
static unsigned int told, small, wrong;

uint64_t now_ns(void)
{
	return now += step;
}

/* A thousand in a row take each time once: 7 has no divisor in common with that. */
static void take(unsigned int *calls)
{
	if (growing)
		now += UNIT_NS * (1 + (*calls)++ * 7 % CALLS);
}

void *shared_memory(size_t bytes)
{
	return calloc(1, bytes);
}

static void test_put(struct end *e, const void *from, size_t len)
{
	static unsigned int calls;

	(void)e;
	(void)from;
	(void)len;
	take(&calls);
}

static void test_get(struct end *e, void *to, size_t len)
{
	static unsigned int calls;

	(void)e;
	(void)to;
	(void)len;
	take(&calls);
}

const struct transport transport_test = {
	.name = "test", .put = test_put, .get = test_get,
};

uint64_t sides_run(const struct transport *t, size_t size, uint64_t n, side_fn client,
		   side_fn server)
{
	struct end e = { .transport = t };
	uint64_t ns;

	step = growing ? SHORT_NS : LONG_NS;
	server(&e, size, n);
	ns = client(&e, size, n);
	step = SHORT_NS;
	return ns;
}

void emit_head(const char *experiment, const struct series *s)
{
	(void)experiment;
	(void)s;
}

/* From where a bucket begins: four double the value. */
static uint64_t start_of(unsigned int bucket)
{
	return (uint64_t)(4 + bucket % 4) << (bucket / 4) >> 2;
}

/* What a kind's calls take, of one unit, two and so on; a round trip is two of them. */
static void check_buckets(const uint32_t *counts, unsigned int each)
{
	unsigned int bucket, n, all = 0;

	for (bucket = 8; bucket < BUCKETS; bucket++) {
		unsigned int want = 0;

		for (n = 1; n <= CALLS; n++)
			want += (uint64_t)n * each >= start_of(bucket) &&
				(uint64_t)n * each < start_of(bucket + 1);
		wrong += counts[bucket] != want;
		all += counts[bucket];
	}
	wrong += all != CALLS;
}

static void check(const struct series *s, unsigned int extra, const char *metric)
{
	static const struct { const char *name; unsigned int units; } points[] = {
		{ "_p50", 501 }, { "_p99", 990 }, { "_p999", 999 }, { "_max", 1000 },
	};
	unsigned int each = strncmp(metric, "round_trip", 10) ? UNIT_NS : 2 * UNIT_NS, i;

	for (i = 0; strcmp(strrchr(metric, '_'), points[i].name); i++)
		;
	if (s->extra[extra] != (double)each * points[i].units) {
		printf("\n%s: %g\n", metric, s->extra[extra]);
		wrong++;
	}
	check_buckets((const uint32_t *)s->blob + extra / 4 * BUCKETS, each);
}

void emit_extra(const char *experiment, const struct series *s, unsigned int extra,
		const char *metric, const char *unit)
{
	(void)experiment;
	(void)unit;
	told++;
	if (growing)
		check(s, extra, metric);
	else
		small += s->extra[extra] < LEAST_NS;
}

int main(void)
{
	exp_detail();
	printf("\n%u figures, %u of them too small\n", told, small);
	if (!told || small)
		return 1;
	told = 0;
	growing = true;
	opt.messages = CALLS;
	exp_detail();
	printf("\n%u figures, %u of them or of their buckets wrong\n", told, wrong);
	return told != 4 * KINDS || wrong;
}
