/* SPDX-License-Identifier: GPL-2.0 */
/* One side that stores where it may, the other that works: the pair and the ring's shadow. */
#ifndef SPEED_SELFTESTS_HOSTILE_STORE_H
#define SPEED_SELFTESTS_HOSTILE_STORE_H

#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stress.h"

#define RING		8192
#define MASK		(RING - 1)
#define PIECE		64	/* of the ring, each way between two stores */
#define MESSAGE		(PIECE - sizeof(struct speed_record))
#define ASK		512	/* of a stream, in one receive */

/**
 * struct trial - who stores, and whom it is to hurt
 * @e: side 0 stores, side 1 is the victim
 * @shadow: what the ring to the victim holds
 * @head: published by side 0
 * @seen: of that, what the victim has received
 * @tail: received by side 0
 * @stored: the last store, for what is wrong
 * @why: what was wrong first
 */
struct trial {
	const struct transport *t;
	struct end e[2];
	struct raw tx, rx;
	unsigned char shadow[RING];
	uint64_t head, seen, tail;
	char stored[64], why[192];
	long wrong, steps, resets;
};

static bool seqpacket(const struct trial *y)
{
	return y->t->type == SOCK_SEQPACKET;
}

static void wrong(struct trial *y, const char *fmt, ...)
{
	char what[96];
	va_list ap;

	if (y->wrong++)
		return;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	snprintf(y->why, sizeof(y->why), "%s, after %s", what, y->stored);
}

static void pair_begin(struct trial *y)
{
	raw_pair(y->t, y->e, RING / 2, &y->tx, &y->rx);	/* which the kernel doubles */
	MUST(y->tx.l.size == RING && y->rx.l.size == RING);
	memcpy(y->shadow, y->tx.r.data, RING);
	y->head = y->tx.l.own;
	y->seen = y->head;
	y->tail = y->rx.l.own;
}

static void pair_end(struct trial *y)
{
	raw_unmap(&y->tx);
	raw_unmap(&y->rx);
	pair_close(y->e);
}

/* The connection is broken, which was told once. */
static void pair_again(struct trial *y)
{
	char c;

	y->resets++;
	if (end_recv(&y->e[1], &c, 1, MSG_DONTWAIT))
		wrong(y, "recv after the reset");
	if (end_send(&y->e[1], "x", 1, MSG_NOSIGNAL) != -1 || errno != EPIPE)
		wrong(y, "send after the reset");
	if (!(poll_now(y->e[1].fd, POLLIN) & POLLHUP))
		wrong(y, "poll after the reset");
	pair_end(y);
	pair_begin(y);
}

/* Known bytes of the ring, of SOCK_SEQPACKET a message; they are not published. */
static void put(struct trial *y, size_t bytes)
{
	struct speed_record rec = { .len = bytes - sizeof(rec) };
	unsigned char piece[RING];
	size_t i;

	stream_fill(piece, bytes, y->head);
	if (seqpacket(y))
		memcpy(piece, &rec, sizeof(rec));
	for (i = 0; i < bytes; i++)
		y->shadow[(y->head + i) & MASK] = piece[i];
	memcpy(y->tx.r.data + (y->head & MASK), piece, bytes);
}

static void put_published(struct trial *y, size_t bytes)
{
	put(y, bytes);
	y->head += bytes;
	raw_publish(&y->tx, y->head);
}

/* What the next receive returns; -1: a reset. */
static ssize_t due(const struct trial *y)
{
	uint64_t ready = y->head - y->seen;
	struct speed_record rec;

	if (ready > RING || (seqpacket(y) && ready < sizeof(rec)))
		return -1;
	if (!seqpacket(y))
		return ready < ASK ? ready : ASK;
	memcpy(&rec, y->shadow + (y->seen & MASK), sizeof(rec));
	return speed_record_check(&rec, ready) ? (ssize_t)rec.len : -1;
}

static bool shadow_equal(const struct trial *y, const unsigned char *got, size_t n, uint64_t at)
{
	size_t i;

	for (i = 0; i < n && got[i] == y->shadow[(at + i) & MASK]; i++)
		;
	return i == n;
}

/* All that was published; false: a reset, which was due. */
static bool victim_receives(struct trial *y)
{
	size_t room = seqpacket(y) ? RING : ASK;
	size_t skip = seqpacket(y) ? sizeof(struct speed_record) : 0;
	unsigned char buf[RING];

	while (y->seen != y->head && !y->wrong) {
		/* The end of messages is aligned: that it is not may be noticed at once. */
		bool odd = seqpacket(y) && y->head % 8;
		ssize_t want = due(y), n = end_recv(&y->e[1], buf, room, MSG_DONTWAIT);

		if (n < 0 && errno == ECONNRESET && (want < 0 || odd))
			return false;
		if (n < 0 || n != want)
			wrong(y, "recv %zd and not %zd (%s)", n, want, strerrorname_np(errno));
		else if (!shadow_equal(y, buf, n, y->seen + skip))
			wrong(y, "recv of other bytes");
		y->seen += seqpacket(y) ? SPEED_RECORD_BYTES(n) : (uint64_t)n;
	}
	return true;
}

/* A message, which side 0 finds in the ring and takes. */
static void victim_sends(struct trial *y)
{
	uint64_t bytes = seqpacket(y) ? PIECE : MESSAGE, head;
	struct speed_record rec = { .len = MESSAGE };
	unsigned char out[PIECE];
	ssize_t n;

	memcpy(out, &rec, sizeof(rec));
	stream_fill(out + sizeof(rec), MESSAGE, y->tail);
	n = end_send(&y->e[1], out + sizeof(rec), MESSAGE, MSG_DONTWAIT | MSG_NOSIGNAL);
	head = regions_other(&y->rx.r);
	if (n != MESSAGE)
		wrong(y, "send %zd (%s)", n, strerrorname_np(errno));
	else if (head - y->tail != bytes)
		wrong(y, "its index moved by %ld", (long)(head - y->tail));
	else if (memcmp(y->rx.r.data + (y->tail & MASK), out + PIECE - bytes, bytes))
		wrong(y, "sent other bytes");
	y->tail = head;
	raw_publish(&y->rx, head);
}

static void victim_works(struct trial *y)
{
	y->steps++;
	if (!victim_receives(y))
		pair_again(y);
	else if (!y->wrong)
		victim_sends(y);
}

static void store(struct trial *y, const char *what, char *region, size_t at, uint64_t value)
{
	snprintf(y->stored, sizeof(y->stored), "%#lx at %s + %#zx", value, what, at);
	__atomic_store_n((uint64_t *)(region + at), value, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* The ring's bytes lie there twice in a row. */
static void store_data(struct trial *y, size_t at, uint64_t value, bool high)
{
	memcpy(y->shadow + at, &value, sizeof(value));
	store(y, "DATA", y->tx.r.data, at + (high ? RING : 0), value);
}

#endif
