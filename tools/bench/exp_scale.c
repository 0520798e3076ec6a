// SPDX-License-Identifier: GPL-2.0
/*
 * scale: how each cost grows with the number of connections, 1 to --connections
 * (50,000), and of threads, 1 to --threads (8).
 *
 * Connections: all are open and used one after the other, round and round: a 64-byte
 * message there and back, a 4 KiB message one way; and what opening takes. (What they
 * hold of memory is the experiment memory.) The first rounds are not timed, and a run
 * is a round at least, so that all are met, and none for the first time. Threads: each
 * with a connection of its own, 64-byte round trips; told is how many of them all make
 * a second.
 *
 *	untimed_uses	of each connection, before the first run
 *	..._uses	of each connection, in a run
 *	mapped_ends	what the library has mapped in the end, of two for each connection
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "crowd.h"
#include "transport.h"

#define SMALL		64
#define LARGE		4096
#define CONNECTIONS	50000

enum { ROUND_TRIP, ONE_WAY };

static void move_bytes(int from, int to, size_t len)
{
	static char data[LARGE];
	size_t done = 0;

	if (send(from, data, len, MSG_NOSIGNAL) != (ssize_t)len)
		die("scale: send: %m");
	while (done < len) {
		ssize_t n = recv(to, data, len - done, 0);

		if (n <= 0)
			die("scale: recv: %m");
		done += (size_t)n;
	}
}

static void use(struct series *s, uint64_t n)
{
	struct crowd *c = s->private;

	/* Each run goes on where the last one ended. */
	for (; n; n--) {
		/* A stride that is no divisor: neighbours in memory are not used in turn. */
		unsigned int at = (unsigned int)(c->used++ * 7919 % c->count);

		move_bytes(c->client[at], c->server[at], s->param == ONE_WAY ? LARGE : SMALL);
		if (s->param == ROUND_TRIP)
			move_bytes(c->server[at], c->client[at], SMALL);
	}
}

static uint64_t trial(struct series *s, uint64_t n)
{
	uint64_t start;

	cpu_pin(0, 1);
	side_limit();
	start = now_ns();
	use(s, n);
	return now_ns() - start;
}

static void traffic(struct series *s, unsigned int param, size_t size)
{
	const char *metric = param == ONE_WAY ? "throughput" : "round_trip";
	char uses[32];

	s->param = param;
	s->size = size;
	measure(s, 1);
	if (param == ONE_WAY)
		to_bandwidth(s);
	emit("scale", s, metric, param == ONE_WAY ? unit_of_bandwidth() : unit_of_time());
	snprintf(uses, sizeof(uses), "%s_uses", metric);
	emit_count("scale", s, uses, (double)s->n / s->connections, "uses");
}

static void all_traffic(struct series *s, struct crowd *c)
{
	s->private = c;
	s->trial = trial;
	s->n_min = s->connections;
	cpu_pin(0, 1);
	emit_count("scale", s, "untimed_uses", crowd_warm(c), "uses");
	traffic(s, ROUND_TRIP, SMALL);
	traffic(s, ONE_WAY, LARGE);
	s->size = 0;
	if (s->transport->maps)
		emit_count("scale", s, "mapped_ends", crowd_mapped(), "ends");
}

static void one_crowd(struct series *s)
{
	struct crowd_times times;

	progress("scale %s: %u connections", s->transport->name, s->connections);
	crowd_measure(s, all_traffic, &times);
	s->size = 0;
	emit_value("scale", s, times.open, "open", unit_of_time());
}

static void crowds(void)
{
	unsigned int last = opt.connections ? opt.connections : CONNECTIONS;
	struct series all[SERIES_MAX];
	unsigned int count, i, n;

	count = series_make(all, ABLE_EPOLL);
	for (i = 0; i < count; i++) {
		for (n = 1; ; n *= 10) {
			all[i].connections = n < last ? n : last;
			guard_program(&all[i], one_crowd);
			if (n >= last)
				break;
		}
	}
}

static uint64_t warm_up(uint64_t n)
{
	return n / 4 + 16;
}

/* All threads are under way, and leases are as they stay, when the clock starts. */
static uint64_t threads_client(struct end *e, size_t size, uint64_t n)
{
	uint64_t start;

	sides_ask(e, size, warm_up(n));
	start = sides_start(e);
	sides_ask(e, size, n);
	return now_ns() - start;
}

static uint64_t threads_server(struct end *e, size_t size, uint64_t n)
{
	sides_answer(e, size, warm_up(n));
	sides_meet(e);
	sides_answer(e, size, n);
	return 0;
}

static uint64_t threads_trial(struct series *s, uint64_t n)
{
	return sides_threads(s->transport, s->size, n, s->threads, threads_client,
			     threads_server);
}

static void threads(unsigned int number)
{
	struct series all[SERIES_MAX];
	unsigned int count = series_make(all, ABLE_LINK), i, run;

	for (i = 0; i < count; i++) {
		all[i].size = SMALL;
		all[i].connections = 0;
		all[i].threads = number;
		all[i].trial = threads_trial;
	}
	measure(all, count);
	for (i = 0; i < count; i++) {
		for (run = 0; run < opt.runs && !opt.icount; run++)
			all[i].value[run] = 1e9 * number / all[i].value[run];
		emit("scale", &all[i], "round_trips", opt.icount ? "instructions" : "1/s");
	}
}

void exp_scale(void)
{
	unsigned int number, most = opt.threads ? opt.threads : THREADS_MAX;

	if (!opt.threads || opt.connections)
		crowds();
	for (number = 1; number <= most && (!opt.connections || opt.threads); number *= 2)
		threads(number);
}
