// SPDX-License-Identifier: GPL-2.0
/*
 * stream: messages of --size bytes (512) one way, as fast as they go. The
 * receiver asks for --size bytes at a time and takes what it gets.
 *
 * With --touch the sender writes every byte of a message before it sends it
 * and the receiver reads every byte of a message when it is complete; with zero
 * copy both happen in the ring. Both sides' sums must agree.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>

#include "bench.h"
#include "transport.h"

#define TRIES	3	/* of a trial in which somebody stood still */

/* Of the biggest messages one is warm-up enough. */
static uint64_t warm_up(size_t size, uint64_t n)
{
	return n / 8 + (size > BUFFER_MAX ? 1 : 4);
}

static uint64_t send_all(struct end *e, size_t size, uint64_t n)
{
	const struct transport *t = e->transport;
	uint64_t i;

	for (i = 0; i < n; i++) {
		if (!opt.touch) {
			t->put(e, e->buffer, size);
		} else if (t->put_filled) {
			t->put_filled(e, size, i);
		} else {
			fill(e->buffer, size, i);
			t->put(e, e->buffer, size);
		}
	}
	return 0;
}

/* What the receiver's sum must be. */
static uint64_t sum_expected(struct end *e, size_t size, uint64_t n)
{
	uint64_t total = 0;
	uint64_t i;

	/*
	 * Each message is words of seed + offset: only the seed differs, and
	 * it is added once a word. (The rest of a message is bytes; --touch
	 * wants a multiple of eight.)
	 */
	fill(e->buffer, size, 0);
	for (i = 0; i < n; i++)
		total += i * (size / 8);
	return total + n * sum(e->buffer, size);
}

static uint64_t receive_all(struct end *e, size_t size, uint64_t n)
{
	const struct transport *t = e->transport;
	uint64_t left = size * n;
	uint64_t total = 0;

	while (left) {
		size_t want = left < size ? (size_t)left : size;

		if (!opt.touch) {
			left -= t->get_some(e, e->buffer, want);
		} else if (t->get_summed) {
			left -= t->get_summed(e, want, &total);
		} else {
			t->get(e, e->buffer, want);
			total += sum(e->buffer, want);
			left -= want;
		}
	}
	return total;
}

static bool is_tcp(int fd)
{
	int protocol;
	socklen_t len = sizeof(protocol);

	return !getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) &&
	       protocol == IPPROTO_TCP;
}

/* What TCP still gathers at the end would wait for an answer that is late by design. */
static void flush(struct end *e)
{
	int on = 1, off = 0;

	if (!opt.delay || !is_tcp(e->out))
		return;
	if (setsockopt(e->out, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) ||
	    setsockopt(e->out, IPPROTO_TCP, TCP_NODELAY, &off, sizeof(off)))
		die("TCP_NODELAY: %m");
}

/* Once after the warm-up and once at the end the receiver says that it has everything. */
static uint64_t sender(struct end *e, size_t size, uint64_t n)
{
	const struct transport *t = e->transport;
	uint64_t start, sum_theirs;

	send_all(e, size, warm_up(size, n));
	flush(e);
	t->get(e, &sum_theirs, sizeof(sum_theirs));
	start = now_ns();
	send_all(e, size, n);
	flush(e);
	t->get(e, &sum_theirs, sizeof(sum_theirs));
	start = now_ns() - start;
	if (opt.touch && sum_theirs != sum_expected(e, size, n))
		die("stream over %s: bytes differ at the other side", t->name);
	return start;
}

static uint64_t receiver(struct end *e, size_t size, uint64_t n)
{
	uint64_t total;

	total = receive_all(e, size, warm_up(size, n));
	e->transport->put(e, &total, sizeof(total));
	total = receive_all(e, size, n);
	e->transport->put(e, &total, sizeof(total));
	return 0;
}

/*
 * A sender that waits does so for 20 ms where its ring is full, and goes on by TCP: a reader
 * that stood still for so long, as in a starved guest, makes that a trial of TCP.
 */
static uint64_t by_ring(struct series *s, uint64_t n)
{
	unsigned int tries = TRIES;
	uint64_t ns;

	for (;;) {
		fused_lets_off(--tries);
		ns = sides_run(s->transport, s->size, n, sender, receiver);
		if (!fused_let_off())
			break;
		progress_done();
		fprintf(stderr, "bench:   %s: once more: its reader stood still\n",
			s->transport->name);
	}
	fused_lets_off(false);
	return ns;
}

uint64_t stream_trial(struct series *s, uint64_t n)
{
	uint64_t ns = by_ring(s, n);

	s->extra[STREAM_BY_RING] = s->transport->fused ? fused_share() : 0;
	s->extra[STREAM_LEASES] = s->transport->preload ? (double)speedrun_leased() : 0;
	return ns;
}

void exp_stream(void)
{
	const char *name = opt.touch ? "stream-touched" : "stream";
	struct series all[SERIES_MAX];
	unsigned int count = series_make(all, ABLE_STREAM);
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!all[i].size)
			all[i].size = opt.touch ? 65536 : 512;
		if (opt.touch)
			touch_check(all[i].size);
		all[i].trial = stream_trial;
	}
	measure(all, count);
	for (i = 0; i < count; i++) {
		to_bandwidth(&all[i]);
		emit(name, &all[i], opt.icount ? "message" : "throughput", unit_of_bandwidth());
	}
}
