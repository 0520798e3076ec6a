// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings that a hostile process moves to other addresses: revocation finds them
 * there, also while they are on their way.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "scribble.h"

/* Addresses that nobody else gets meanwhile. */
static char *room(size_t len)
{
	char *at = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(at != MAP_FAILED);
	return at;
}

static char *move_to(char *from, size_t len, char *to)
{
	return mremap(from, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, to);
}

/* To a new address, the old one anybody may have. False: it has not moved. */
static bool move(char **at, size_t len)
{
	char *to = room(len), *got = move_to(*at, len, to);

	if (got == to)
		*at = got;
	return got == to;
}

static bool move_own(struct raw *w)
{
	bool ok = move(&w->r.own, PAGE);

	w->own = (void *)w->r.own;
	return ok;
}

static bool move_data(struct raw *w)
{
	return move(&w->r.data, 2 * w->l.size);
}

/* What was moved serves as before; what is written to it later does not count. */
static void moved(const struct transport *t)
{
	long lies = stat_number("bad_peer");
	struct scribbler s = { 0 };
	struct raw tx, rx;
	struct task k;
	struct end e[2];
	char c[8];

	raw_pair(t, e, RING / 2, &tx, &rx);
	/* One page is in use before it moves, the other not. */
	raw_publish(&tx, tx.l.own);
	WANT_TRUE(move_own(&tx) && move_data(&tx) && move_own(&rx) && move_data(&rx), "move");
	memcpy(tx.r.data + tx.l.own % tx.l.size, "moved", 5);
	raw_publish(&tx, tx.l.own + 5);
	WANT(end_recv(&e[1], c, 5, MSG_DONTWAIT), 5, 0, "by what was moved");
	WANT_TRUE(!memcmp(c, "moved", 5), "the bytes");
	WANT(send(e[0].fd, "a", 1, 0), 1, 0, "send takes TX back");
	WANT(end_recv(&e[1], c, 1, 0), 1, 0, "recv");
	WANT(end_send(&e[1], "b", 1, 0), 1, 0, "send");
	WANT(recv(e[0].fd, c, 1, 0), 1, 0, "recv takes RX back");
	WANT(*tx.own, 0, 0, "the index is a page of nobody's");
	s = (struct scribbler){ .tx = &tx, .rx = &rx };
	task_start(&k, scribble, &s);
	exact(e, 0, "beside the stores");
	s.stop = true;
	task_join(&k);
	WANT(stat_number("bad_peer") - lies, 0, 0, "no lie was noticed");
	raw_unmap(&tx);
	raw_unmap(&rx);
	pair_close(e);
}

/**
 * struct mover - who moves and stores without pause
 * @gone: the role was taken back: lies, too
 * @stuck: what did not move
 */
struct mover {
	struct raw *tx;
	atomic_bool stop, gone;
	atomic_long moves;
	long stuck;
};

static long move_about(void *arg)
{
	struct mover *v = arg;
	struct chance c = { 78 };

	while (!v->stop) {
		v->stuck += !move_own(v->tx);
		/* The index that the lease began with is true whenever it counts. */
		raw_publish(v->tx, v->gone ? chance64(&c) : v->tx->l.own);
		v->stuck += !move_data(v->tx);
		memset(v->tx->r.data + 64 * chance_below(&c, RING / 64), 0xee, 64);
		v->moves++;
	}
	return 0;
}

/* Until so many more moves. */
static void await_moves(struct mover *v, long more)
{
	long until = v->moves + more;

	while (v->moves < until)
		sleep_ms(1);
}

/* The role again; false: it has settled on system calls. */
static bool again(struct end e[2], struct raw *tx, long *wrong)
{
	char c;
	int n;

	set_int(e[0].fd, SOL_SPEED, SPEED_UNLEASE, SPEED_ROLE_TX);
	for (n = 0; lease_role(e[0].fd, SPEED_ROLE_TX, &tx->l); n++) {
		*wrong += errno != EAGAIN;
		*wrong += send(e[0].fd, "x", 1, 0) != 1;
		*wrong += end_recv(&e[1], &c, 1, 0) != 1 || c != 'x';
		if (n > 300)
			return false;
	}
	return true;
}

static void on_the_move(const struct transport *t)
{
	long lies = stat_number("bad_peer"), wrong = 0;
	int rounds = soak_times(60, 30), i;
	struct mover v = { 0 };
	struct raw tx;
	struct task k;
	struct end e[2];
	char c[8];

	raw_pair(t, e, RING / 2, &tx, NULL);
	v.tx = &tx;
	for (i = 0; i < rounds; i++) {
		v.stop = false;
		v.gone = false;
		task_start(&k, move_about, &v);
		await_moves(&v, 2);
		wrong += send(e[0].fd, "12345678", 8, MSG_NOSIGNAL) != 8;
		v.gone = true;
		await_moves(&v, 2);
		wrong += end_recv(&e[1], c, 8, MSG_WAITALL) != 8 || memcmp(c, "12345678", 8);
		exact(e, 0, "beside the moves");
		v.stop = true;
		task_join(&k);
		if (!again(e, &tx, &wrong))
			break;
	}
	WANT(wrong, 0, 0, "wrong");
	WANT(v.stuck, 0, 0, "regions that did not move");
	WANT(stat_number("bad_peer") - lies, 0, 0, "no lie was noticed");
	WANT_TRUE(i >= 4, "granted again at least that often");
	raw_unmap(&tx);
	pair_close(e);
}

/* What would make two of a region, or a part of one. */
static void refused(const struct transport *t)
{
	struct raw tx, rx;
	struct end e[2];
	size_t len;
	char *to;

	raw_pair(t, e, RING / 2, &tx, &rx);
	len = 2 * rx.l.size;
	to = room(2 * len);
	WANT_TRUE(mremap(rx.r.data, len, len, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL) ==
		  MAP_FAILED, "move it and keep the old address");
	WANT_TRUE(mremap(tx.r.own, 0, PAGE, MREMAP_MAYMOVE) == MAP_FAILED, "a second one");
	WANT_TRUE(mremap(tx.r.own, PAGE, 2 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED, "let it grow");
	WANT_TRUE(mremap(tx.r.data, len, PAGE, 0) == MAP_FAILED, "let it shrink");
	WANT_TRUE(move_to(tx.r.data, PAGE, to) == MAP_FAILED, "move its first page");
	WANT_TRUE(move_to(tx.r.data + PAGE, PAGE, to) == MAP_FAILED, "move its second page");
	exact(e, 0, "after all that");
	raw_unmap(&tx);
	raw_unmap(&rx);
	munmap(to, 2 * len);
	pair_close(e);
}

#define EACH	(CASE_STREAM | CASE_SPEED | CASE_FUSED)

static const struct test_case cases[] = {
	{ "moved", moved, EACH | CASE_PATHS },
	{ "on_the_move", on_the_move, EACH | CASE_PATHS },
	{ "refused", refused, EACH },
};

RUN_CASES(cases)
