// SPDX-License-Identifier: GPL-2.0
/*
 * latency: a message of --size bytes (64) goes to the server and comes back.
 * Blocking calls, one message under way.
 */
#include "bench.h"
#include "transport.h"

/* Rounds before the clock starts, so that caches and leases are as they stay. */
static uint64_t warm_up(uint64_t n)
{
	return n / 8 + 4;
}

static void round_trips(struct end *e, size_t size, uint64_t n)
{
	const struct transport *t = e->transport;

	for (; n; n--) {
		if (t->call) {
			t->call(e, e->buffer, size);
			continue;
		}
		t->put(e, e->buffer, size);
		t->get(e, e->buffer, size);
	}
}

static uint64_t client(struct end *e, size_t size, uint64_t n)
{
	uint64_t start;

	round_trips(e, size, warm_up(n));
	start = now_ns();
	round_trips(e, size, n);
	return now_ns() - start;
}

static uint64_t server(struct end *e, size_t size, uint64_t n)
{
	const struct transport *t = e->transport;

	n += warm_up(n);
	t->get(e, e->buffer, size);
	for (; n > 1; n--) {
		if (t->reply_wait) {
			t->reply_wait(e, e->buffer, size);
			continue;
		}
		t->put(e, e->buffer, size);
		t->get(e, e->buffer, size);
	}
	t->put(e, e->buffer, size);
	return 0;
}

uint64_t latency_trial(struct series *s, uint64_t n)
{
	return sides_run(s->transport, s->size, n, client, server);
}

void exp_latency(void)
{
	struct series all[SERIES_MAX];
	unsigned int count, i;

	if (opt.detail) {
		exp_detail();
		return;
	}
	count = series_make(all, ABLE_LINK);
	for (i = 0; i < count; i++) {
		if (!all[i].size)
			all[i].size = 64;
		all[i].trial = latency_trial;
	}
	measure(all, count);
	for (i = 0; i < count; i++)
		emit("latency", &all[i], "round_trip", unit_of_time());
}
