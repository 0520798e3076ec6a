// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that lies is told of: bad_peer in /proc/net/speed_stat goes up by one
 * for each connection that a lie ended, whatever else is done with it, and
 * speed:speed_reset fires once, with the pair and the end that owns the ring.
 *
 * hostile.c has the lies themselves; here is one of each kind.
 */
#define _GNU_SOURCE
#include <sys/ioctl.h>
#include <unistd.h>

#include "stress.h"
#include "tracing.h"

#define RING		8192
#define LIARS		5

/**
 * struct lie - side 0 tells it, by the role that it maps
 * @ring: the end that produces into the ring in which it is
 * @index: what it publishes there
 * @record: the header at the ring's beginning, of SOCK_SEQPACKET
 */
struct lie {
	int role;
	int ring;
	uint64_t index;
	struct speed_record record;
};

static const struct lie head = { SPEED_ROLE_TX, 0, RING + 8 };
/* Farther than the victim will ever have sent. */
static const struct lie tail = { SPEED_ROLE_RX, 1, 1ull << 40 };
static const struct lie length = { SPEED_ROLE_TX, 0, RING, { .len = RING } };
static const struct lie reserved = { SPEED_ROLE_TX, 0, RING, { .len = 8, .reserved = 1 } };

static void tell(struct raw *w, const struct lie *lie)
{
	if (w->l.type == SOCK_SEQPACKET && lie->role == SPEED_ROLE_TX)
		memcpy(w->r.data, &lie->record, sizeof(lie->record));
	raw_publish(w, w->l.own + lie->index);
}

/* What comes to the victim's mind until it gets an error; which one. */
static int victim_errno(struct end *e, const struct lie *lie)
{
	char buf[512] = "";
	long n, all = 0;

	do {
		n = lie->role == SPEED_ROLE_TX ? end_recv(e, buf, sizeof(buf), MSG_DONTWAIT) :
						 end_send(e, buf, sizeof(buf), MSG_DONTWAIT);
		all += n;
	} while (n > 0 && all < 64 * RING);
	return n < 0 ? errno : 0;
}

/* None of what follows a reset may be counted again. */
static void more_lies(struct end e[2], struct raw *w, const struct lie *lie)
{
	struct lie again = *lie;
	char buf[64] = "";

	again.index += RING + 8;
	tell(w, &again);
	ioctl(e[0].fd, SPEED_IOC_WAKE, SPEED_WAKE_READER | SPEED_WAKE_WRITER);
	end_recv(&e[1], buf, sizeof(buf), MSG_DONTWAIT);
	end_send(&e[1], buf, sizeof(buf), MSG_DONTWAIT | MSG_NOSIGNAL);
	recv(e[0].fd, buf, sizeof(buf), MSG_DONTWAIT);
	send(e[0].fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void told_once(const struct transport *t, const struct lie *lie)
{
	long before = stat_number("bad_peer");
	struct tracing g;
	struct end e[2];
	struct raw w;
	uint64_t pair;

	tracing_need();
	tracing_begin(&g);
	raw_pair(t, e, RING / 2, lie->role == SPEED_ROLE_TX ? &w : NULL,
		 lie->role == SPEED_ROLE_RX ? &w : NULL);
	pair = pair_of(e[0].fd);
	tell(&w, lie);
	WANT(stat_number("bad_peer") - before, 0, 0, "counted before anyone looks");
	WANT(victim_errno(&e[1], lie), ECONNRESET, 0, "the victim's errno");
	WANT(stat_number("bad_peer") - before, 1, 0, "counted");
	more_lies(e, &w, lie);
	raw_unmap(&w);
	pair_close(e);
	WANT(stat_number("bad_peer") - before, 1, 0, "counted, at the end");
	tracing_end(&g);
	WANT(tracing_fired(&g, "speed_reset", pair, -1), 1, 0, "speed_reset");
	WANT(tracing_fired(&g, "speed_reset", pair, lie->ring), 1, 0, "speed_reset of that ring");
	free(g.log);
}

static void of_head(const struct transport *t)
{
	told_once(t, &head);
}

static void of_tail(const struct transport *t)
{
	told_once(t, &tail);
}

static void of_record(const struct transport *t)
{
	told_once(t, &length);
	told_once(t, &reserved);
}

/* The liar's own plain call ends its lease, and that is where it is found. */
static void by_lease_end(const struct transport *t)
{
	long before = stat_number("bad_peer");
	struct tracing g;
	struct end e[2];
	struct raw w;
	uint64_t pair;

	tracing_need();
	tracing_begin(&g);
	raw_pair(t, e, RING / 2, &w, NULL);
	pair = pair_of(e[0].fd);
	tell(&w, &head);
	WANT_ERR(send(e[0].fd, "x", 1, MSG_NOSIGNAL), ECONNRESET, "the liar's plain send");
	WANT(stat_number("bad_peer") - before, 1, 0, "counted");
	raw_unmap(&w);
	pair_close(e);
	WANT(stat_number("bad_peer") - before, 1, 0, "counted, at the end");
	tracing_end(&g);
	WANT(tracing_fired(&g, "speed_reset", pair, 0), 1, 0, "speed_reset");
	free(g.log);
}

/* Each liar counts, and none for another. */
static void several(const struct transport *t)
{
	long before = stat_number("bad_peer");
	struct end e[LIARS][2];
	uint64_t pair[LIARS];
	struct tracing g;
	struct raw w;
	int i;

	tracing_need();
	tracing_begin(&g);
	for (i = 0; i < LIARS; i++) {
		raw_pair(t, e[i], RING / 2, &w, NULL);
		pair[i] = pair_of(e[i][0].fd);
		/* Every other one is honest. */
		if (i % 2 == 0)
			tell(&w, &head);
		raw_unmap(&w);
	}
	for (i = 0; i < LIARS; i++)
		WANT(victim_errno(&e[i][1], &head), i % 2 ? EAGAIN : ECONNRESET, 0,
		     "errno of victim %d", i);
	for (i = 0; i < LIARS; i++)
		pair_close(e[i]);
	WANT(stat_number("bad_peer") - before, (LIARS + 1) / 2, 0, "counted");
	tracing_end(&g);
	for (i = 0; i < LIARS; i++)
		WANT(tracing_fired(&g, "speed_reset", pair[i], 0), i % 2 == 0, 0,
		     "speed_reset of pair %d", i);
	free(g.log);
}

/* Bytes both ways, a full ring, a shutdown and unread bytes are no lies. */
static void honest(const struct transport *t)
{
	long before = stat_number("bad_peer");
	struct tracing g;
	struct end e[2];
	uint64_t pair;
	char buf[512];

	tracing_need();
	tracing_begin(&g);
	tp_pair_sized(t, e, RING / 2);
	pair = pair_of(e[0].fd);
	WANT_TRUE(end_fill(&e[0], 512) > 0, "fill the ring");
	WANT(end_recv(&e[1], buf, 512, 0), 512, 0, "recv");
	WANT(end_send(&e[1], buf, 512, 0), 512, 0, "send back");
	WANT_OK(shutdown(e[0].fd, SHUT_WR), "shutdown");
	WANT(end_recv(&e[0], buf, 512, 0), 512, 0, "recv");
	pair_close(e);
	WANT(stat_number("bad_peer") - before, 0, 0, "counted");
	tracing_end(&g);
	WANT_TRUE(tracing_fired(&g, "speed_close", pair, -1) > 0, "the recording works");
	WANT(tracing_fired(&g, "speed_reset", pair, -1), 0, 0, "speed_reset");
	free(g.log);
}

#define VICTIMS	(CASE_SPEED | CASE_FUSED | CASE_PATHS | CASE_UNMAPPED)

static const struct test_case cases[] = {
	{ "of_head", of_head, CASE_BOTH | VICTIMS },
	{ "of_tail", of_tail, CASE_BOTH | VICTIMS },
	{ "of_record", of_record, CASE_SEQPACKET | VICTIMS },
	{ "by_lease_end", by_lease_end, CASE_BOTH | CASE_SPEED | CASE_FUSED },
	{ "several", several, CASE_BOTH | VICTIMS },
	{ "honest", honest, CASE_BOTH | VICTIMS },
};

RUN_CASES(cases)
