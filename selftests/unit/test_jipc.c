// SPDX-License-Identifier: GPL-2.0
/*
 * tools/bench/exp_jipc.c: costs that are a + b n are told as just that a and b, of each
 * way, and where the lines of two ways cross. One trial in five costs a tenth more: the fit
 * still lies within what that can do.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/bench/bench.h"
#include "../../tools/bench/transport.h"
#include "stand_in_series.h"

#define WAYS	3	/* talk, slow, call */
#define MESSAGES 10000

struct options opt = { .runs = 1, .messages = MESSAGES, .experiment = "test" };

static const struct { double once, message; } costs[WAYS] = {
	{ 90000, 1000 }, { 30000, 7000 }, { 50000, 2500 },
};

static const struct {
	const char *metric;
	double value;
} wanted[] = {
	{ "talk_connection", 90000 }, { "talk_message", 1000 },
	{ "talk_elapsed", 90000 + 1000. * MESSAGES },
	{ "slow_once", 30000 }, { "slow_message", 7000 },
	{ "slow_elapsed", 30000 + 7000. * MESSAGES },
	{ "call_connection", 50000 }, { "call_message", 2500 },
	{ "call_elapsed", 50000 + 2500. * MESSAGES },
	{ "crossover", 10 },
};

#define WANTED	(sizeof(wanted) / sizeof(wanted[0]))

const struct transport transport_test = { .name = "test" };
const struct transport transport_call = { .name = "call" };

static double tolerance = 1e-6, disturbed;	/* by so much, one of five */
static unsigned int told, wrong, trials;

uint64_t trial_run(struct series *s, uint64_t n)
{
	double cost = costs[s->param].once + costs[s->param].message * (double)n;

	return (uint64_t)(cost * (trials++ % 5 == 2 ? 1 + disturbed : 1));
}

void emit_value(const char *experiment, const struct series *like, const double *values,
		const char *metric, const char *unit)
{
	size_t i;

	(void)experiment;
	(void)like;
	(void)unit;
	for (i = 0; i < WANTED && strcmp(metric, wanted[i].metric); i++)
		;
	told++;
	if (i == WANTED || fabs(values[0] / wanted[i].value - 1) > tolerance) {
		printf("%s: %g\n", metric, values[0]);
		wrong++;
	}
}

void guard(struct series *s, void (*run)(struct series *s))
{
	run(s);
}

void progress(const char *format, ...)
{
	(void)format;
}

void progress_done(void)
{
}

uint64_t fused_count(const char *counter)
{
	(void)counter;
	return 0;
}

uint64_t now_ns(void)
{
	return 0;
}

/* What makes a trial is not what is tested. */
void door_open(struct door *d, const struct transport *t, int backlog)
{
	(void)d;
	(void)t;
	(void)backlog;
	abort();
}

int door_connect(const struct door *d)
{
	(void)d;
	abort();
}

int door_accept(const struct door *d)
{
	(void)d;
	abort();
}

void door_close(struct door *d)
{
	(void)d;
	abort();
}

uint64_t sides_run(const struct transport *t, size_t size, uint64_t n, side_fn client,
		   side_fn server)
{
	(void)t;
	(void)size;
	(void)n;
	(void)client;
	(void)server;
	abort();
}

int main(void)
{
	exp_jipc();
	if (told != WANTED || wrong)
		return 1;
	/* A disturbed trial moves the fitted costs by what it was disturbed by, not more. */
	disturbed = 0.1;
	tolerance = 0.15;
	exp_jipc();
	printf("%u figures, %u of them wrong\n", told, wrong);
	return wrong ? 1 : 0;
}
