// SPDX-License-Identifier: GPL-2.0
/*
 * latency --detail: what each write and each read of a round trip takes, at the
 * client and at the server: median, 99 and (of a thousand and more) 99.9 of a hundred,
 * the longest, and a histogram. A read contains the wait for the other side.
 * What reading the clock takes is taken off.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "transport.h"

#define ROUNDS_MAX	100000
#define KINDS		5
#define POINTS		4
#define OCTAVES		40	/* of the histogram, four buckets each */
#define BUCKETS		(4 * OCTAVES)

enum { ROUND_TRIP, CLIENT_WRITE, CLIENT_READ, SERVER_READ, SERVER_WRITE };

static const char *const kinds[KINDS] = {
	"round_trip", "client_write", "client_read", "server_read", "server_write",
};

#define P999		2	/* of less than a thousand that is the longest */

static const char *const points[POINTS] = { "p50", "p99", "p999", "max" };

typedef uint32_t histogram[KINDS][BUCKETS];
_Static_assert(sizeof(histogram) <= BLOB_BYTES, "a histogram fits a blob");

static uint32_t (*taken)[ROUNDS_MAX];	/* of each kind; both processes write their own */

/* What does not fit is as long as can be. */
static uint32_t short_of(uint64_t ns)
{
	return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

static uint64_t warm_up(uint64_t n)
{
	return n / 8 + 4;
}

static uint64_t client(struct end *e, size_t size, uint64_t n)
{
	const struct transport *t = e->transport;
	uint64_t total = 0, i, skip = warm_up(n);

	for (i = 0; i < n + skip; i++) {
		uint64_t first, second, third;

		first = now_ns();
		t->put(e, e->buffer, size);
		second = now_ns();
		t->get(e, e->buffer, size);
		third = now_ns();
		if (i < skip)
			continue;
		taken[CLIENT_WRITE][i - skip] = short_of(second - first);
		taken[CLIENT_READ][i - skip] = short_of(third - second);
		taken[ROUND_TRIP][i - skip] = short_of(third - first);
		total += third - first;
	}
	return total;
}

static uint64_t server(struct end *e, size_t size, uint64_t n)
{
	const struct transport *t = e->transport;
	uint64_t i, skip = warm_up(n);

	for (i = 0; i < n + skip; i++) {
		uint64_t first, second, third;

		first = now_ns();
		t->get(e, e->buffer, size);
		second = now_ns();
		t->put(e, e->buffer, size);
		third = now_ns();
		if (i < skip)
			continue;
		taken[SERVER_READ][i - skip] = short_of(second - first);
		taken[SERVER_WRITE][i - skip] = short_of(third - second);
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Half of what two readings in a row take is within each interval, twice. */
static uint32_t reading_cost(void)
{
	uint32_t cost[1001];
	int i;

	for (i = 0; i < 1001; i++) {
		uint64_t start = now_ns();

		cost[i] = short_of(now_ns() - start);
	}
	qsort(cost, 1001, sizeof(cost[0]), compare);
	return cost[500];
}

static unsigned int bucket_of(uint32_t value)
{
	unsigned int v = value < 4 ? 4 : value;
	unsigned int octave = 31 - (unsigned int)__builtin_clz(v);

	return 4 * octave + (v >> (octave - 2)) % 4;
}

/* The smallest value of a bucket. */
static unsigned long bucket_start(unsigned int bucket)
{
	return (4ul + bucket % 4) << (bucket / 4 - 2);
}

static void sum_up(struct series *s, int kind, uint64_t n, uint32_t cost)
{
	uint32_t *v = taken[kind], less = kind == ROUND_TRIP ? 2 * cost : cost;
	histogram *h = (histogram *)s->blob;
	double *points_of = &s->extra[POINTS * kind];
	uint64_t i;

	memset((*h)[kind], 0, sizeof((*h)[kind]));
	for (i = 0; i < n; i++) {
		v[i] = v[i] > less ? v[i] - less : 0;
		(*h)[kind][bucket_of(v[i])]++;
	}
	qsort(v, n, sizeof(*v), compare);
	points_of[0] = v[n / 2];
	points_of[1] = v[n - 1 - n / 100];
	points_of[2] = v[n - 1 - n / 1000];
	points_of[3] = v[n - 1];
}

static uint64_t detail_trial(struct series *s, uint64_t n)
{
	uint32_t cost;
	uint64_t ns;
	int kind;

	if (!taken)
		taken = shared_memory(KINDS * sizeof(*taken));
	ns = sides_run(s->transport, s->size, n, client, server);
	cost = reading_cost();
	for (kind = 0; kind < KINDS; kind++)
		sum_up(s, kind, n, cost);
	return ns;
}

static void tell_histogram(const struct series *s, int kind)
{
	const histogram *h = (const histogram *)s->blob;
	const char *comma = "";
	unsigned int i;

	if (s->failed)
		return;
	emit_head("latency-detail", s);
	printf("\"metric\": \"histogram\", \"kind\": \"%s\", \"unit\": \"%s\", \"buckets\": [",
	       kinds[kind], unit_of_time());
	for (i = 0; i < BUCKETS; i++)
		if ((*h)[kind][i]) {
			printf("%s[%lu, %u]", comma, bucket_start(i), (*h)[kind][i]);
			comma = ", ";
		}
	printf("], \"cpus\": %d, \"accelerator\": \"%s\"}\n", opt.two_cpus ? 2 : 1, opt.accel);
}

static void tell(const struct series *s)
{
	char metric[64];
	int kind, point;

	for (kind = 0; kind < KINDS; kind++) {
		for (point = 0; point < POINTS; point++) {
			if (point == P999 && s->n < 1000)
				continue;
			snprintf(metric, sizeof(metric), "%s_%s", kinds[kind], points[point]);
			emit_extra("latency-detail", s, (unsigned int)(POINTS * kind + point),
				   metric, unit_of_time());
		}
		tell_histogram(s, kind);
	}
}

void exp_detail(void)
{
	struct series all[SERIES_MAX];
	unsigned int count = series_make(all, ABLE_LINK), i;

	for (i = 0; i < count; i++) {
		if (!all[i].size)
			all[i].size = 64;
		all[i].trial = detail_trial;
		all[i].n = opt.messages ? opt.messages : 5000;
		if (all[i].n > ROUNDS_MAX)
			die("at most %d --messages", ROUNDS_MAX);
		all[i].messages = (unsigned int)all[i].n;
		all[i].blob = calloc(1, BLOB_BYTES);
		if (!all[i].blob)
			die("no memory");
	}
	measure_given(all, count);
	for (i = 0; i < count; i++)
		tell(&all[i]);
}
