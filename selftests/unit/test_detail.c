// SPDX-License-Identifier: GPL-2.0
/*
 * tools/bench/exp_detail.c: a call that takes longer than 32 bits of nanoseconds tell is
 * the longest there is, and not one of less than a second.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../tools/bench/bench.h"
#include "../../tools/bench/transport.h"
#include "stand_in_series.h"

#define LONG_NS		5000000000u
#define SHORT_NS	10u
#define LEAST_NS	4000000000.0

struct options opt = { .runs = 1, .messages = 20, .experiment = "test", .accel = "native" };

static uint64_t step = SHORT_NS;
static unsigned int told, small;

uint64_t now_ns(void)
{
	static uint64_t now;

	return now += step;
}

void *shared_memory(size_t bytes)
{
	return calloc(1, bytes);
}

static void test_put(struct end *e, const void *from, size_t len)
{
	(void)e;
	(void)from;
	(void)len;
}

static void test_get(struct end *e, void *to, size_t len)
{
	(void)e;
	(void)to;
	(void)len;
}

const struct transport transport_test = {
	.name = "test", .put = test_put, .get = test_get,
};

uint64_t sides_run(const struct transport *t, size_t size, uint64_t n, side_fn client,
		   side_fn server)
{
	struct end e = { .transport = t };
	uint64_t ns;

	step = LONG_NS;
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

void emit_extra(const char *experiment, const struct series *s, unsigned int extra,
		const char *metric, const char *unit)
{
	(void)experiment;
	(void)metric;
	(void)unit;
	told++;
	small += s->extra[extra] < LEAST_NS;
}

int main(void)
{
	exp_detail();
	printf("\n%u figures, %u of them too small\n", told, small);
	return !told || small;
}
