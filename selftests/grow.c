// SPDX-License-Identifier: GPL-2.0
/*
 * A ring gets few pages at first and the rest before its producer goes beyond them:
 * bytes that lie over that place, wherever in the ring it is, also while they are read
 * and looked at, and what the first bytes of a connection take.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow.h"
#include "held.h"
#include "stress.h"

#define FIRST		16384	/* bytes that there are pages for */
#define RING		65536	/* of SO_SNDBUF and SO_RCVBUF of half as much */
#define MOST		33000
#define DEFAULT_RING	(256l << 10)

static unsigned char out[MOST], in[MOST];

static void put(struct end *e, size_t len, size_t offset)
{
	stream_fill(out, len, offset);
	WANT(end_send_all(e, out, len), len, 0, "send %zu at %zu", len, offset);
}

static void get(struct end *e, size_t len, size_t offset)
{
	WANT(end_recv_all(e, in, len), len, 0, "receive %zu at %zu", len, offset);
	WANT_TRUE(stream_check(in, len, offset), "the bytes at %zu", offset);
}

static void look(struct end *e, size_t len, size_t offset)
{
	WANT(end_recv(e, in, len, MSG_PEEK), len, 0, "look at %zu at %zu", len, offset);
	WANT_TRUE(stream_check(in, len, offset), "looked at, at %zu", offset);
}

/*
 * From a known place on: some bytes, more that need pages, and more again, with some of them
 * unread each time. A message is received as it was sent. @at: bytes moved before.
 */
static void grow(struct end *from, struct end *to, size_t at, size_t first, size_t second)
{
	size_t third = at + first + second;

	put(from, first, at);
	look(to, first, at);
	put(from, second, at + first);
	look(to, first, at);
	get(to, first, at);
	put(from, 7000, third);
	put(from, 1, third + 7000);
	get(to, second, at + first);
	get(to, 7000, third);
	put(from, 20000, third + 7001);
	get(to, 1, third + 7000);
	get(to, 20000, third + 7001);
}

static const size_t firsts[] = { 1, 4096, FIRST - 16, FIRST - 1, FIRST, FIRST + 1, 30000 };
static const size_t seconds[] = { 1, 9000, 25000 };

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static void sizes(const struct transport *t)
{
	struct end e[2];
	size_t i;

	for (i = 0; i < COUNT(firsts) * COUNT(seconds); i++) {
		held_empty_pool();
		tp_pair_sized(t, e, RING / 2);
		grow(&e[i % 2], &e[!(i % 2)], TP_MOVED(t), firsts[i % COUNT(firsts)],
		     seconds[i / COUNT(firsts)]);
		pair_close(e);
	}
}

static const size_t moved[] = {
	3, 4096, 9000, 16000, 40000, RING - FIRST, RING - 5000, RING - 1, RING, RING + 17,
};

/* Connections that have moved so much and been idle since. */
static void idle_pairs(const struct transport *t, struct end e[][2])
{
	size_t i, at, n;

	for (i = 0; i < COUNT(moved); i++) {
		tp_pair_sized(t, e[i], RING / 2);
		for (at = 0; at < moved[i]; at += n) {
			n = moved[i] - at < 5000 ? moved[i] - at : 5000;
			put(&e[i][0], n, at);
			get(&e[i][1], n, at);
		}
	}
	for (i = 0; i < COUNT(moved); i++)
		WANT_TRUE(proc_speed_idle(e[i][0].fd), "%zu bytes: its pages go", moved[i]);
	held_empty_pool();
}

/* A ring that was idle begins again where it was: in a page's middle, before the ring's end. */
static void again(const struct transport *t)
{
	static struct end e[COUNT(moved)][2];
	size_t i;

	idle_pairs(t, e);
	for (i = 0; i < COUNT(moved); i++) {
		grow(&e[i][0], &e[i][1], moved[i], firsts[i % COUNT(firsts)],
		     seconds[i % COUNT(seconds)]);
		pair_close(e[i]);
		held_empty_pool();
	}
}

/* Bytes that lie in the first pages are where a mapping of all has them, and no others. */
static void leased(const struct transport *t)
{
	struct transport u = by_hand_0(t);
	static struct end e[COUNT(moved)][2];
	size_t i, at, n, wrong;
	struct raw w;

	u.path[1] = PATH_KERNEL;
	idle_pairs(&u, e);
	for (i = 0; i < COUNT(moved); i++) {
		n = i % 2 ? 1 : FIRST - moved[i] % 4096;
		put(&e[i][0], n, moved[i]);
		WANT(stat_number("data_bytes"), FIRST, 0, "bytes of its first pages");
		raw_open(&w, e[i][0].fd, SPEED_ROLE_TX);
		WANT(w.l.size, RING, 0, "bytes mapped");
		for (wrong = 0, at = 0; at < RING; at++) {
			unsigned char want = 0;

			if (at < n)
				stream_fill(&want, 1, moved[i] + at);
			wrong += (unsigned char)w.r.data[(moved[i] + at) % RING] != want;
		}
		WANT(wrong, 0, 0, "%zu bytes at %zu: wrong ones", n, moved[i]);
		raw_unmap(&w);
		get(&e[i][1], n, moved[i]);
		pair_close(e[i]);
		held_empty_pool();
	}
}

/* Each connection gets its pages while its bytes are read. */
static void meanwhile(const struct transport *t)
{
	int i, n = soak_times(40, 100);
	struct flow f;
	struct end e[2];

	for (i = 0; i < n; i++) {
		held_empty_pool();
		tp_pair(t, e);
		flow_start(&f, &e[i % 2], &e[!(i % 2)], 1 + i * 97 % 4000);
		WANT_TRUE(flow_moves(&f, 3 * FIRST), "it moves");
		flow_stop(&f, "while it is read");
		pair_close(e);
	}
}

#define PAIRS		32

static void both_ways(void (*move)(struct end *e, size_t len, size_t offset), struct end e[2],
		      size_t len, size_t offset)
{
	move(&e[0], len, offset);
	move(&e[1], len, offset);
}

/* What a direction takes: with its first byte its first pages, and its ring in the end. */
static void takes(const struct transport *t)
{
	static struct end e[PAIRS][2];
	size_t at = TP_MOVED(t);
	long before;
	int i;

	held_empty_pool();
	before = stat_number("data_bytes");
	/* Unread, so that none is taken away as idle. */
	for (i = 0; i < PAIRS; i++) {
		tp_pair(t, e[i]);
		both_ways(put, e[i], 1, at);
	}
	WANT(stat_number("data_bytes") - before, PAIRS * 2l * FIRST, 0, "with a byte each way");
	for (i = 0; i < PAIRS; i++)
		both_ways(put, e[i], FIRST, at + 1);
	WANT(stat_number("data_bytes") - before, PAIRS * 2 * DEFAULT_RING, 0, "with more");
	for (i = 0; i < PAIRS; i++) {
		both_ways(get, e[i], FIRST + 1, at);
		pair_close(e[i]);
	}
}

static const struct test_case cases[] = {
	{ "sizes", sizes, CASE_BOTH | CASE_SPEED | CASE_PATHS | CASE_UNMAPPED | CASE_FUSED },
	{ "again", again, CASE_BOTH | CASE_SPEED },
	{ "leased", leased, CASE_STREAM | CASE_SPEED },
	{ "meanwhile", meanwhile, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "takes", takes, CASE_STREAM | CASE_SPEED | CASE_FUSED },
};

RUN_CASES(cases)
