// SPDX-License-Identifier: GPL-2.0
/*
 * tools/bench/exp_iobench.c: whoever reads the clock first, on either side, does so when
 * both sides have entered and messages have gone both ways. One side here takes long to
 * enter; with no common start the other one would have counted that as its own time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../tools/bench/bench.h"
#include "../../tools/bench/transport.h"
#include "stand_in_series.h"

#define SLOW_US		50000
#define SIZE		64
#define MESSAGES	30
#define LEAST		50	/* messages before the clock: more than the library waits for */

struct options opt = { .runs = 1, .size = SIZE, .messages = MESSAGES, .experiment = "test" };

static struct {
	bool entered[2];
	unsigned int got[2];
	unsigned int early[2];	/* readings of the clock before all that */
	unsigned int readings[2];
} *seen;

static int side;	/* of this process */

void cpu_pin(int which, unsigned int threads)
{
	(void)threads;
	side = which;
}

void cpu_batch(void)
{
}

uint64_t now_ns(void)
{
	static uint64_t clock;

	seen->readings[side]++;
	if (!seen->entered[0] || !seen->entered[1] || seen->got[0] < LEAST || seen->got[1] < LEAST)
		seen->early[side]++;
	return ++clock;
}

static void test_open(const struct transport *t, struct link *l)
{
	int both[2];

	(void)t;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both))
		die("socketpair: %m\n");
	l->end[0].in = both[0];
	l->end[0].out = both[0];
	l->end[1].in = both[1];
	l->end[1].out = both[1];
}

static void test_enter(struct end *e)
{
	if (!e->side)
		usleep(SLOW_US);
	seen->entered[e->side] = true;
}

static void test_put(struct end *e, const void *from, size_t len)
{
	if (write(e->out, from, len) != (ssize_t)len)
		die("write: %m\n");
}

static void test_get(struct end *e, void *to, size_t len)
{
	if (recv(e->in, to, len, MSG_WAITALL) != (ssize_t)len)
		die("recv: %m\n");
	seen->got[e->side]++;
}

const struct transport transport_test = {
	.name = "test", .open = test_open, .enter = test_enter, .put = test_put, .get = test_get,
};

const struct transport transport_memcpy = { .name = "memcpy" };

uint64_t copy_trial(struct series *s, uint64_t n)
{
	(void)s;
	return n;
}

void emit_extra(const char *experiment, const struct series *s, unsigned int extra,
		const char *metric, const char *unit)
{
	(void)experiment;
	(void)s;
	(void)extra;
	(void)metric;
	(void)unit;
}

int main(void)
{
	int which, bad = 0;

	seen = shared_memory(sizeof(*seen));
	exp_iobench();
	for (which = 0; which < 2; which++) {
		printf("side %d: %u messages, %u readings of the clock, %u too early\n", which,
		       seen->got[which], seen->readings[which], seen->early[which]);
		if (!seen->readings[which] || seen->early[which] ||
		    seen->got[which] < LEAST + MESSAGES)
			bad = 1;
	}
	return bad;
}
