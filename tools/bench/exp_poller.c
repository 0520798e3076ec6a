// SPDX-License-Identifier: GPL-2.0
/*
 * poller: one connection is active among --connections (100, 1,000, 10,000 and
 * 30,000): a byte arrives, the poller tells, it is read. select, poll, epoll by level
 * and by edge, io_uring with a multishot poll on each, whose work is left to the wait.
 * Only the poller and the read are timed, not the send, and what reading the clock takes
 * is taken off; where counts of instructions are wanted it is the same. And what opening
 * takes, a connection that carries a kilobyte each way, and closing it, by a reset.
 *
 *	mapped_ends	what the library has mapped in the end, of two for each connection
 */
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bench.h"
#include "crowd.h"
#include "poller.h"
#include "transport.h"

struct field {
	struct crowd *crowd;
	const struct poller *poller;
	void *state;
};

static uint64_t trial(struct series *s, uint64_t n)
{
	struct field *f = s->private;
	unsigned int active = f->crowd->count / 2;
	int from = f->crowd->client[active], to = f->crowd->server[active];
	uint64_t total = 0, cost, i;

	cpu_pin(0, 1);
	side_limit();
	for (i = 0; i < n; i++) {
		uint64_t start;
		char byte;

		if (send(from, "x", 1, MSG_NOSIGNAL) != 1)
			die("poller: send: %m");
		start = now_ns();
		if (f->poller->wait(f->state) != active)
			die("poller: %s over %s: not the one that is active",
			    f->poller->name, s->transport->name);
		if (recv(to, &byte, 1, 0) != 1)
			die("poller: recv: %m");
		total += now_ns() - start;
	}
	cost = clock_cost(n);
	return total > cost ? total - cost : 0;
}

static void one_poller(struct series *s, struct field *f, const struct poller *p)
{
	progress("poller %s: %s among %u", s->transport->name, p->name, s->connections);
	f->poller = p;
	f->state = p->start(f->crowd->server, f->crowd->count);
	s->trial = trial;
	s->private = f;
	/* The slow ones take long enough for ten of them. */
	s->n = opt.messages ? opt.messages : (s->connections > 1000 && p->scans ? 20 : 1000);
	s->messages = (unsigned int)s->n;
	measure_given(s, 1);
	p->stop(f->state);
	emit("poller", s, p->name, unit_of_time());
}

static const char *poller_missing(const struct poller *p)
{
	return p->missing ? p->missing() : NULL;
}

/* All pollers share a crowd. */
static void poll_crowd(struct series *s, struct crowd *c)
{
	struct field f = { .crowd = c };
	const struct poller *const *p;

	for (p = pollers; *p; p++)
		if (!poller_missing(*p))
			one_poller(s, &f, *p);
	s->messages = 0;
	if (s->transport->maps)
		emit_count("poller", s, "mapped_ends", crowd_mapped(), "ends");
}

static void one_transport(struct series *s)
{
	struct crowd_times times;

	s->size = 1;
	progress("poller %s: %u connections", s->transport->name, s->connections);
	crowd_measure(s, poll_crowd, &times);
	emit_value("poller", s, times.open, "open", unit_of_time());
	emit_value("poller", s, times.shut, "close", unit_of_time());
}

static void run(unsigned int connections)
{
	struct series all[SERIES_MAX];
	unsigned int count = series_make(all, ABLE_EPOLL), i;

	for (i = 0; i < count; i++) {
		all[i].connections = connections;
		guard_program(&all[i], one_transport);
	}
}

/* They are so over all transports. */
static void emit_all_missing(void)
{
	const struct poller *const *p;
	const char *why;
	char text[128];

	for (p = pollers; *p; p++) {
		why = poller_missing(*p);
		if (!why)
			continue;
		snprintf(text, sizeof(text), "%s: %s", (*p)->name, why);
		emit_missing("all", text);
	}
}

void exp_poller(void)
{
	static const unsigned int crowds[] = { 100, 1000, 10000, 30000 };
	size_t i;

	emit_all_missing();
	if (opt.connections) {
		run(opt.connections);
		return;
	}
	for (i = 0; i < sizeof(crowds) / sizeof(crowds[0]); i++)
		run(crowds[i]);
}
