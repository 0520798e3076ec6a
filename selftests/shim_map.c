// SPDX-License-Identifier: GPL-2.0
/*
 * A fused TCP connection mapped by libspeed: bytes go by the ring with no call, and
 * whatever moves the connection to TCP and back moves a mapped one as well.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <unistd.h>

#include "mapped.h"
#include "movers.h"
#include "stress.h"

static unsigned long calls(const struct end e[2])
{
	unsigned long n = 0;
	int i;

	for (i = 0; i < 2; i++) {
		struct speed_stats st = { 0 };

		if (e[i].map)
			speed_get_stats(e[i].map, &st);
		n += st.calls;
	}
	return n;
}

static void no_calls(const struct transport *t)
{
	unsigned long before;
	struct end e[2];

	mapped_ends(t, e);
	before = calls(e);
	WANT(mapped_talk(e, 1000), 1000, 0, "messages");
	if (t->path[0] == PATH_MAPPED && t->path[1] == PATH_MAPPED)
		WANT(calls(e) - before, 0, 0, "plain calls");
	WANT_TRUE(tcp_fused(FDS(e)), "fused");
	pair_close(e);
}

/* A mapped sender learns of it within 100 ms, on a machine that is idle. */
static void want_by_tcp(const struct mover *m, struct end e[2], size_t *sent)
{
	long until = now_ms() + 20000;

	do {
		sleep_ms(100);
		WANT(end_send(&e[0], "!", 1, 0), 1, 0, "%s: send by TCP", m->name);
		++*sent;
	} while ((tcp_flags(e[0].fd) & SPEED_FUSION_TX) && now_ms() < until);
	WANT(tcp_reason(e[0].fd), m->reason, 0, "%s: the reason", m->name);
}

/* Bytes under way both ways when it moves: they come, in order, and go on. */
static void move(const struct mover *m, struct end e[2])
{
	char in[300] = "";
	size_t sent = 6, i;
	long late;

	WANT(end_send(&e[0], "before", 6, 0), 6, 0, "%s: send", m->name);
	WANT(end_send(&e[1], "BEFORE", 6, 0), 6, 0, "%s: send", m->name);
	WANT_TRUE(m->off(FDS(e)), "%s: it is there", m->name);
	if (!m->refused)
		want_by_tcp(m, e, &sent);
	else
		m->on(FDS(e));
	WANT(end_recv(&e[1], in, sent, MSG_WAITALL), sent, 0, "%s: recv", m->name);
	WANT_TRUE(!memcmp(in, "before", 6), "%s: the bytes", m->name);
	for (i = 6; i < sent; i++)
		WANT_TRUE(in[i] == '!', "%s: the byte after them", m->name);
	WANT(end_recv(&e[0], in, 6, MSG_WAITALL), 6, 0, "%s: recv", m->name);
	WANT_TRUE(!memcmp(in, "BEFORE", 6), "%s: the bytes", m->name);
	WANT(mapped_talk(e, 50), 50, 0, "%s: messages", m->name);
	if (!m->refused)
		m->on(FDS(e));
	for (late = now_ms() + 20000; !tcp_fused(FDS(e)) && now_ms() < late;)
		MUST(mapped_talk(e, 10) == 10);
	WANT_TRUE(tcp_fused(FDS(e)), "%s: fused again", m->name);
}

static void moves(const struct transport *t)
{
	struct end e[2];
	size_t i;

	mapped_ends(t, e);
	for (i = 0; i < movers_here(); i++)
		move(&movers[i], e);
	WANT_TRUE(mapped_again(e), "mapped again, by and by");
	pair_close(e);
}

/* The one that a kernel may lack, alone. */
static void queueing(const struct transport *t)
{
	struct end e[2];

	if (!movers_all())
		trace_skip("needs CONFIG_NET_SCHED: %s is left out", mover_queueing->name);
	mapped_ends(t, e);
	move(mover_queueing, e);
	pair_close(e);
}

/* More than the ring holds, unread: TCP takes it, and it comes after the ring's. */
static void full(const struct transport *t)
{
	static unsigned char out[1 << 20], in[1 << 20];
	ssize_t n, sent = 0;
	struct end e[2];

	mapped_ends(t, e);
	for (n = 0; n < (ssize_t)sizeof(out); n++)
		out[n] = n * 31 + n / 977;
	while (sent < (ssize_t)sizeof(out)) {
		n = end_send(&e[0], out + sent, sizeof(out) - sent < 5000 ? sizeof(out) - sent : 5000,
			     MSG_DONTWAIT);
		MUST(n > 0);
		sent += n;
	}
	WANT(end_recv(&e[1], in, sizeof(in), MSG_WAITALL), sizeof(in), 0, "recv");
	WANT_TRUE(!memcmp(in, out, sizeof(in)), "the bytes");
	WANT(mapped_talk(e, 100), 100, 0, "messages");
	pair_close(e);
}

/* The end of the stream, and an end with bytes that nobody read. */
static void ends(const struct transport *t)
{
	struct end e[2];
	char in[16];

	mapped_ends(t, e);
	WANT(end_send(&e[0], "last", 4, 0), 4, 0, "send");
	MUST(!shutdown(e[0].fd, SHUT_WR));
	WANT_ERR(end_send(&e[0], "x", 1, MSG_NOSIGNAL), EPIPE, "send after shutdown");
	WANT(end_recv(&e[1], in, sizeof(in), 0), 4, 0, "recv of what came before");
	WANT(end_recv(&e[1], in, sizeof(in), 0), 0, 0, "the end");
	WANT(end_send(&e[1], "back", 4, 0), 4, 0, "send the other way");
	WANT(end_recv(&e[0], in, sizeof(in), 0), 4, 0, "recv of it");
	pair_close(e);
	mapped_ends(t, e);
	WANT(end_send(&e[0], "unread", 6, 0), 6, 0, "send");
	end_close(&e[1]);
	WANT_ERR(end_recv(&e[0], in, sizeof(in), 0), ECONNRESET, "recv after a reset");
	WANT_ERR(end_send(&e[0], "x", 1, MSG_NOSIGNAL), EPIPE, "send after it");
	end_close(&e[0]);
	mapped_ends(t, e);
	end_close(&e[1]);
	WANT(end_recv(&e[0], in, sizeof(in), 0), 0, 0, "the end");
	end_close(&e[0]);
}

/* A mapped sender, an edge-triggered reader. */
static void edge(const struct transport *t)
{
	struct end e[2];
	struct pollfd p;
	char in[4];
	int i;

	mapped_ends(t, e);
	p = (struct pollfd){ .fd = e[1].fd, .events = POLLIN };
	for (i = 0; i < 200; i++) {
		WANT(end_recv(&e[1], in, 4, MSG_DONTWAIT) < 0 && errno == EAGAIN, 1, 0, "nothing");
		WANT(poll(&p, 1, 0), 0, 0, "not readable");
		WANT(end_send(&e[0], "edge", 4, 0), 4, 0, "send");
		WANT(poll(&p, 1, 5000), 1, 0, "readable");
		WANT(end_recv(&e[1], in, 4, MSG_DONTWAIT), 4, 0, "recv");
	}
	pair_close(e);
}

#define PATHS	(CASE_STREAM | CASE_FUSED_ONLY | CASE_PATHS)

static const struct test_case cases[] = {
	{ "no_calls", no_calls, PATHS },
	{ "moves", moves, PATHS },
	{ "queueing", queueing, PATHS },
	{ "full", full, PATHS },
	{ "ends", ends, PATHS },
	{ "edge", edge, PATHS },
};

RUN_CASES(cases)
