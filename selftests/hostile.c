// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that lies: one side maps its roles by hand and writes every index,
 * length and record header with chosen values and with random ones, while the
 * other side, by either path, receives and sends.
 *
 * What it may see is known exactly: the bytes of the ring as far as the index
 * makes sense, and ECONNRESET, end-of-file and EPIPE as soon as it does not.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "stress.h"

#define RING	8192
#define RANDOM	12	/* values of each kind, besides the chosen ones */

/**
 * struct trial - one lie and what the victim makes of it
 * @e: side 0 lies, side 1 is the victim
 * @w: the role that lies
 * @shadow: what its ring holds, as the liar wrote it
 */
struct trial {
	const struct transport *t;
	struct end e[2];
	struct raw w;
	unsigned char *shadow;
};

static void trial_begin(struct trial *y, const struct transport *t, int role)
{
	struct transport u = by_hand_0(t);

	y->t = t;
	tp_pair_sized(&u, y->e, RING / 2);	/* which the kernel doubles */
	raw_open(&y->w, y->e[0].fd, role);
	MUST(y->w.l.size == RING);
	y->shadow = malloc(y->w.l.size);
	MUST(y->shadow);
}

static void trial_end(struct trial *y)
{
	raw_unmap(&y->w);
	free(y->shadow);
	pair_close(y->e);
}

/* Whatever comes after a reset: it is told once, then it is the end. */
static void want_broken(struct trial *y, const char *what, uint64_t value)
{
	char c;

	WANT(end_recv(&y->e[1], &c, 1, 0), 0, 0, "%s %#lx: recv after", what, value);
	WANT_ERR(end_send(&y->e[1], "x", 1, MSG_NOSIGNAL), EPIPE, "%s %#lx: send after", what,
		 value);
	WANT_TRUE(poll_now(y->e[1].fd, POLLIN) & POLLHUP, "%s %#lx: poll after", what, value);
}

/* The record at a position of the ring as it was written, or false: a lie. */
static bool shadow_record(const struct trial *y, uint64_t at, uint64_t ready,
			  struct speed_record *rec)
{
	if (ready < sizeof(*rec))
		return false;
	memcpy(rec, y->shadow + (at & (y->w.l.size - 1)), sizeof(*rec));
	return speed_record_check(rec, ready) != 0;
}

static bool shadow_equal(const struct trial *y, const unsigned char *got, size_t n, uint64_t at)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (got[i] != y->shadow[(at + i) & (y->w.l.size - 1)])
			return false;
	}
	return true;
}

/*
 * Receives until there is no more and compares with what the ring holds from
 * @tail to @head. A misaligned end of messages may be noticed at once.
 */
static void victim_receives(struct trial *y, uint64_t tail, uint64_t head)
{
	bool seq = y->t->type == SOCK_SEQPACKET;
	bool lie = head - tail > y->w.l.size || (seq && head % 8);
	unsigned char *buf = malloc(2 * y->w.l.size);
	long wrong = 0;
	int err;

	MUST(buf);
	while (1) {
		ssize_t n;

		errno = 0;
		n = end_recv(&y->e[1], buf, 2 * y->w.l.size, MSG_DONTWAIT);
		err = errno;
		if (seq && tail != head && !lie) {
			struct speed_record rec;

			if (!shadow_record(y, tail, head - tail, &rec)) {
				lie = true;
			} else {
				wrong += n != (ssize_t)rec.len ||
					 !shadow_equal(y, buf, n, tail + sizeof(rec));
				tail += SPEED_RECORD_BYTES(rec.len);
				if (n < 0)
					break;
				continue;
			}
		}
		if (n < 0)
			break;
		if (seq && lie && head - tail <= y->w.l.size) {
			struct speed_record rec;

			wrong += !shadow_record(y, tail, head - tail, &rec) ||
				 n != (ssize_t)rec.len ||
				 !shadow_equal(y, buf, n, tail + sizeof(rec));
			tail += SPEED_RECORD_BYTES(rec.len);
		} else {
			wrong += !n || n > (ssize_t)(head - tail) || lie ||
				 !shadow_equal(y, buf, n, tail);
			tail += n;
		}
		if (wrong)
			break;
	}
	WANT(wrong, 0, 0, "head %#lx: wrong bytes", head);
	WANT(err, lie ? ECONNRESET : EAGAIN, 0, "head %#lx: the end", head);
	if (!lie)
		WANT_TRUE(tail == head, "head %#lx: all of it", head);
	else
		want_broken(y, "head", head);
	free(buf);
}

/* Lengths that are more than the ring, negative, or wrap when rounded up. */
static const uint32_t lengths[] = {
	0, 1, 7, 8, 9, 15, 16, 100, 4080, 4088, 4089, 8168, 8176, 8177, 8184, 8185, 8192, 8193,
	65536, 0x7ffffff7, 0x7fffffff, 0x80000000, 0xfffffff0, 0xfffffff7, 0xfffffff8, 0xffffffff,
};

#define LENGTHS		(sizeof(lengths) / sizeof(lengths[0]))

/* Known bytes; for messages a chain of records from @at on that ends in the given one. */
static void liar_writes(struct trial *y, uint64_t at, const struct speed_record *last)
{
	const struct speed_record first = { .len = 100 };
	uint64_t mask = y->w.l.size - 1;

	stream_fill(y->shadow, y->w.l.size, at);
	if (last) {
		memcpy(y->shadow + (at & mask), &first, sizeof(first));
		at += SPEED_RECORD_BYTES(first.len);
		memcpy(y->shadow + (at & mask), last, sizeof(*last));
	}
	memcpy(y->w.r.data, y->shadow, y->w.l.size);
}

static void one_head(const struct transport *t, uint64_t before, uint64_t head, bool relative,
		     const struct speed_record *rec)
{
	long lies = stat_number("bad_peer");
	struct trial y;
	char *buf = malloc(before + 1);
	ssize_t n = 0;

	MUST(buf);
	trial_begin(&y, t, SPEED_ROLE_TX);
	if (before) {
		struct speed_record one = { .len = before - sizeof(one) };

		liar_writes(&y, 0, NULL);
		if (t->type == SOCK_SEQPACKET)
			memcpy(y.w.r.data, &one, sizeof(one));
		raw_publish(&y.w, before);
		n = end_recv(&y.e[1], buf, before, 0);
		WANT(n, t->type == SOCK_SEQPACKET ? one.len : before, 0, "the truth first");
	}
	if (relative)
		head += before;
	liar_writes(&y, before, t->type == SOCK_SEQPACKET ? rec : NULL);
	raw_publish(&y.w, head);
	victim_receives(&y, before, head);
	trial_end(&y);
	lies = stat_number("bad_peer") - lies;
	WANT_TRUE(lies == 0 || lies == 1, "head %#lx: counted at most once", head);
	free(buf);
}

static const int64_t offsets[] = {
	0, 1, 7, 8, 9, 16, 112, 4096, 8184, 8191, 8192, 8193, 8200, 16384, -1, -8, -16, -4096, -8192,
	-8193, 1ll << 31, 1ll << 32, 1ll << 62, INT64_MAX, INT64_MIN, -(1ll << 32),
};

#define OFFSETS		(sizeof(offsets) / sizeof(offsets[0]))

static void heads(const struct transport *t)
{
	static const struct speed_record good = { .len = 24 };
	struct chance c = chance_of(2);
	size_t i;

	for (i = 0; i < OFFSETS; i++) {
		one_head(t, 0, offsets[i], false, &good);
		one_head(t, 2048, offsets[i], true, &good);
	}
	for (i = 0; i < (size_t)soak_times(RANDOM, 40); i++) {
		one_head(t, 0, chance64(&c), false, &good);
		one_head(t, 2048, chance_below(&c, 3 * RING) - RING, true, &good);
	}
}

/* Every length and reserved word in a header, with a head that says otherwise. */
static void headers(const struct transport *t)
{
	struct chance c = chance_of(3);
	struct speed_record rec = { 0 };
	size_t i;

	for (i = 0; i < LENGTHS; i++) {
		rec = (struct speed_record){ .len = lengths[i] };
		one_head(t, 0, RING, false, &rec);
		one_head(t, 2048, 112 + 8, true, &rec);
		one_head(t, 2048, 112 + 4096, true, &rec);
		rec.reserved = 1u << (i % 32);
		one_head(t, 0, RING, false, &rec);
	}
	for (i = 0; i < (size_t)soak_times(RANDOM, 40); i++) {
		rec.len = chance_below(&c, 2) ? chance64(&c) : chance_below(&c, RING);
		rec.reserved = chance_below(&c, 4) ? 0 : chance64(&c);
		one_head(t, 2048, chance_below(&c, RING / 8) * 8, true, &rec);
	}
}

/* The victim sends until it is stopped: by what it may send, or by the reset. */
static void one_tail(const struct transport *t, uint64_t sent, uint64_t tail)
{
	size_t chunk = 512, accepted = 0;
	unsigned char buf[512];
	struct trial y;
	bool lie;
	ssize_t n;
	int err;

	trial_begin(&y, t, SPEED_ROLE_RX);
	stream_fill(buf, sizeof(buf), 0);
	if (sent) {
		size_t len = t->type == SOCK_SEQPACKET ? sent - 8 : sent;

		WANT(end_send(&y.e[1], buf, len, 0), len, 0, "the truth first");
	}
	raw_publish(&y.w, tail);
	/* A tail that goes back is a lie, too, though a producer need not look then. */
	lie = sent - tail > y.w.l.size || (int64_t)tail < 0 ||
	      (t->type == SOCK_SEQPACKET && tail % 8);
	while ((n = end_send(&y.e[1], buf, chunk, MSG_DONTWAIT | MSG_NOSIGNAL)) > 0 &&
	       accepted < (64 << 20))
		accepted += n;
	err = n < 0 ? errno : 0;
	WANT_TRUE(err == ECONNRESET ? lie : err == EAGAIN,
		  "tail %#lx after %lu: %s, %zu accepted", tail, sent, strerrorname_np(err),
		  accepted);
	if (err == ECONNRESET) {
		want_broken(&y, "tail", tail);
		WANT_TRUE(accepted <= 2 * y.w.l.size, "tail %#lx: at most the ring", tail);
	}
	trial_end(&y);
}

static void tails(const struct transport *t)
{
	struct chance c = chance_of(4);
	size_t i;

	for (i = 0; i < OFFSETS; i++) {
		one_tail(t, 0, offsets[i]);
		one_tail(t, 512, 512 + offsets[i]);
	}
	for (i = 0; i < (size_t)soak_times(RANDOM, 40); i++) {
		one_tail(t, 512, chance64(&c));
		one_tail(t, 512, chance_below(&c, 3 * RING) - RING);
	}
}

static const struct test_case cases[] = {
	{ "heads", heads, CASE_BOTH | CASE_SPEED | CASE_PATHS },
	{ "headers", headers, CASE_SEQPACKET | CASE_SPEED | CASE_PATHS },
	{ "tails", tails, CASE_BOTH | CASE_SPEED | CASE_PATHS },
};

RUN_CASES(cases)
