// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that stores: one side maps its roles by hand and stores chosen words and random
 * ones at each offset of all that it may write, its OWN pages and the DATA of its TX,
 * between the transfers of the other side, which works by either path.
 *
 * Of an OWN page only the index is read. A word of DATA is seen where it lies in what
 * was published, as bytes or as a header, and nowhere else: a shadow of the ring tells
 * what comes. A header or an index that is a lie is ECONNRESET, and a fresh pair goes on.
 */
#define _GNU_SOURCE
#include "hostile_store.h"

/* As a header: a length that is right, too small, or too large, and a reserved word. */
static const uint64_t words[] = {
	0, 1, 8, 40, MESSAGE, MESSAGE + 1, RING - 8, RING, 0x7fffffff, 0xfffffff8, 0xffffffff,
	1ull << 32, 1ull << 63 | 8, INT64_MAX, UINT64_MAX,
};

#define WORDS	(sizeof(words) / sizeof(words[0]))

/* Each chosen word in turn, and as many random ones. */
static uint64_t word(struct chance *c, long i)
{
	return i & 1 ? chance64(c) : words[i / 2 % WORDS];
}

static void trial_begin(struct trial *y, const struct transport *t)
{
	*y = (struct trial){ .t = t };
	pair_begin(y);
}

static void trial_end(struct trial *y, long lies)
{
	char c;

	if (!y->wrong) {
		strcpy(y->stored, "all that");
		victim_works(y);
		if (end_recv(&y->e[1], &c, 1, MSG_DONTWAIT) != -1 || errno != EAGAIN)
			wrong(y, "recv with nothing there");
	}
	trace_num(y->steps, "steps");
	trace_num(y->resets, "resets");
	WANT(y->wrong, 0, 0, "wrong: %s", y->why);
	WANT_TRUE(stat_number("bad_peer") - lies >= y->resets, "each reset was for a lie");
	pair_end(y);
}

/* Beside the index there is nothing in an OWN page. */
static void own_pages(const struct transport *t)
{
	int times = brief() ? 1 : soak_times(4, 8), page, i;
	long lies = stat_number("bad_peer"), n = 0;
	struct chance c = chance_of(31 + t->path[0]);
	struct trial y;
	size_t at;

	trial_begin(&y, t);
	for (i = 0; i < times; i++)
	for (page = 0; page < 2; page++)
	for (at = sizeof(uint64_t); at < PAGE && !y.wrong; at += sizeof(uint64_t)) {
		put_published(&y, PIECE);
		store(&y, page ? "RX's OWN" : "TX's OWN", page ? y.rx.r.own : y.tx.r.own, at,
		      word(&c, n++));
		victim_works(&y);
	}
	WANT(y.resets, 0, 0, "resets");
	trial_end(&y, lies);
}

/* The next piece begins at @at of the ring. */
static void reach(struct trial *y, size_t at)
{
	size_t bytes = (at - y->head) & MASK;

	if (!bytes)
		return;
	put_published(y, bytes);
	victim_works(y);
}

/*
 * Each word, in the middle of what was published and far from it. A header's goes to a
 * fresh pair as a rule: once is enough.
 */
static void data_pages(const struct transport *t)
{
	int times = brief() ? 1 : soak_times(4, 8), i;
	long lies = stat_number("bad_peer"), n = 0;
	struct chance c = chance_of(32 + t->path[0]);
	struct trial y;
	size_t in, at;

	trial_begin(&y, t);
	for (i = 0; i < times; i++)
	for (in = t->type == SOCK_SEQPACKET && i ? 8 : 0; in < PIECE; in += 8)
	for (at = 0; at < RING && !y.wrong; at += PIECE, n++) {
		reach(&y, at);
		put_published(&y, PIECE);
		store_data(&y, (at + in + RING / 2) & MASK, word(&c, n + i), in & 8);
		store_data(&y, at + in, word(&c, n + i), at & PIECE);
		victim_works(&y);
	}
	WANT_TRUE(!y.resets == (t->type == SOCK_STREAM), "messages had lies, bytes have none");
	trial_end(&y, lies);
}

static void store_head(struct trial *y, uint64_t value)
{
	char c;

	put(y, PIECE);
	y->head = value;
	store(y, "TX's OWN", y->tx.r.own, 0, value);
	y->steps++;
	if (!victim_receives(y))
		pair_again(y);
	else if (!y->wrong && (end_recv(&y->e[1], &c, 1, MSG_DONTWAIT) != -1 || errno != EAGAIN))
		wrong(y, "recv with nothing there");
}

/* A producer looks once it needs to: what is far from all that it has sent is found. */
static void store_tail(struct trial *y, uint64_t value)
{
	bool far = value - y->tail > 2 * RING && y->tail - value > 2 * RING;
	unsigned char out[MESSAGE] = { 0 };
	size_t accepted = 0;
	ssize_t n;

	store(y, "RX's OWN", y->rx.r.own, 0, value);
	y->steps++;
	do {
		n = end_send(&y->e[1], out, sizeof(out), MSG_DONTWAIT | MSG_NOSIGNAL);
		accepted += n > 0 ? n : 0;
	} while (n > 0 && accepted < 64 * RING);
	if (n < 0 && errno == ECONNRESET && value != y->tail)
		pair_again(y);
	else if (n > 0 || errno != EAGAIN || far)
		wrong(y, "send %zd (%s) and %zu before", n, strerrorname_np(errno), accepted);
}

/* The index itself: near the truth, and anywhere. */
static void indices(const struct transport *t)
{
	int times = soak_times(3 * WORDS, 10), i, role;
	long lies = stat_number("bad_peer");
	struct chance c = chance_of(33 + t->path[0]);
	struct trial y;

	trial_begin(&y, t);
	for (role = 0; role < SPEED_ROLES; role++)
	for (i = 0; i < times && !y.wrong; i++) {
		uint64_t value = word(&c, i);

		put_published(&y, PIECE);
		victim_works(&y);
		if (i % 3)
			value = (role == SPEED_ROLE_TX ? y.head : y.tail) + (int32_t)value % RING;
		(role == SPEED_ROLE_TX ? store_head : store_tail)(&y, value);
		pair_end(&y);
		pair_begin(&y);
	}
	WANT_TRUE(y.resets, "lies were found");
	trial_end(&y, lies);
}

#define STORED	(CASE_BOTH | CASE_SPEED | CASE_FUSED | CASE_PATHS | CASE_LONG)

static const struct test_case cases[] = {
	{ "own_pages", own_pages, STORED },
	{ "data_pages", data_pages, STORED },
	{ "indices", indices, STORED },
};

RUN_CASES(cases)
