// SPDX-License-Identifier: GPL-2.0
/*
 * Looking before sleeping, of libspeed over the module: where it pays it is counted, where
 * it does not it stops, and there is none where it was switched off or where no second
 * processor could run the peer.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "procfile.h"
#include "task.h"
#include "tcp_pair.h"

#define LIMIT_US	100000u	/* of a look that is to be felt */
#define SOON_MS		60000

/* A connection of which both ends are mapped. */
static void mapped_pair(const struct transport *t, struct end e[2])
{
	struct transport mapped = *t;

	mapped.path[0] = PATH_MAPPED;
	mapped.path[1] = PATH_MAPPED;
	tp_pair(&mapped, e);
}

static bool one_processor(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) < 2;
}

static struct speed_stats stats(const struct end *e)
{
	struct speed_stats s;

	MUST(!speed_get_stats(e->map, &s));
	return s;
}

/* A peer: echoes until the end. */
static long echo(void *arg)
{
	struct end *e = arg;
	ssize_t n;
	char ball;

	while ((n = end_recv(e, &ball, 1, 0)) == 1) {
		if (end_send(e, &ball, 1, MSG_NOSIGNAL) != 1)
			return -1;
	}
	return n;
}

/* How many of so many calls are answered; both sides take turns. */
static int play(struct end *e, int rounds)
{
	int i, right = 0;
	char in;

	for (i = 0; i < rounds; i++) {
		char ball = i;

		right += end_send(e, &ball, 1, 0) == 1 && end_recv(e, &in, 1, 0) == 1 && in == ball;
	}
	return right;
}

/* Takes turns until a look pays, or for a long time; whether one did. */
static bool pays(struct end *e)
{
	uint64_t before = stats(e).spins;
	long until = now_ms() + SOON_MS;

	while (stats(e).spins == before && now_ms() < until)
		MUST(play(e, 50) == 50);
	return stats(e).spins > before;
}

#define ROUNDS	500

/*
 * Whose limit is nothing has no look that pays, and leaves the ring for nothing. On one
 * processor the answer may be there before it is waited for, each time.
 */
static void want_none(struct end *e, const char *why)
{
	struct speed_stats before = stats(e), after;

	WANT(play(e, ROUNDS), ROUNDS, 0, "%s: answers", why);
	after = stats(e);
	WANT(after.spins - before.spins, 0, 0, "%s: looks that paid", why);
	WANT(after.calls - before.calls, 0, 0, "%s: system calls instead of the ring", why);
}

/* speed_set_spin() bounds it and switches it off, also over what the sysctl says. */
static void limits(const struct transport *t)
{
	struct end e[2];
	struct task k;
	int i;

	if (!t->fused)
		tcp_own_net();
	for (i = 0; i < 2; i++) {
		MUST(!sysctl_set("spin_us", i ? "0" : "50000"));
		mapped_pair(t, e);
		task_start(&k, echo, &e[1]);
		if (i)
			want_none(&e[0], "net.speed.spin_us is 0");
		else
			WANT_TRUE(pays(&e[0]), "net.speed.spin_us is 50000: a look pays");
		MUST(!speed_set_spin(e[0].map, SPEED_SPIN_MAX));
		WANT_TRUE(pays(&e[0]), "speed_set_spin: a look pays");
		MUST(!speed_set_spin(e[0].map, 0));
		want_none(&e[0], "speed_set_spin of 0");
		MUST(!speed_set_spin(e[0].map, SPEED_SPIN_DEFAULT));
		if (i)
			want_none(&e[0], "net.speed.spin_us again");
		else
			WANT_TRUE(pays(&e[0]), "net.speed.spin_us again: a look pays");
		MUST(!shutdown(e[0].fd, SHUT_WR));
		WANT(task_join(&k), 0, 0, "the other side");
		if (i)
			WANT(stats(&e[1]).spins, 0, 0, "which never looked");
		pair_close(e);
	}
}

/* One who waits, and what of the processor each wait took. */
struct waiter {
	struct end *e;
	int rounds;
	bool anew;	/* each time as if it was the first */
	long us[32];
};

static long wait_often(void *arg)
{
	struct waiter *w = arg;
	char in;
	int i;

	for (i = 0; i < w->rounds; i++) {
		long before = cpu_us();

		if (w->anew)
			speed_set_spin(w->e->map, LIMIT_US);
		if (speed_recv(w->e->map, &in, 1, 0) != 1)
			break;
		w->us[i] = cpu_us() - before;
	}
	return i;
}

/* A peer that answers late: long after the other has gone to sleep. */
static void late(const struct transport *t, struct waiter *w)
{
	struct end e[2];
	struct task k;
	int i;

	mapped_pair(t, e);
	w->e = &e[0];
	MUST(!speed_set_spin(e[0].map, LIMIT_US));
	task_start(&k, wait_often, w);
	for (i = 0; i < w->rounds; i++) {
		WANT_TRUE(task_sleeps(&k), "%d: it sleeps", i);
		sleep_ms(2 * LIMIT_US / 1000);
		WANT(end_send(&e[1], "x", 1, 0), 1, 0, "%d: send", i);
		/* It has come back for the next one before that one is sent. */
		while (stats(&e[0]).mapped_recvs < (uint64_t)i + 1)
			sleep_ms(1);
	}
	WANT(task_join(&k), w->rounds, 0, "bytes");
	WANT(stats(&e[0]).spins, 0, 0, "looks that paid");
	WANT(stats(&e[0]).waits, w->rounds, 0, "sleeps");
	WANT(stats(&e[0]).calls, 0, 0, "system calls instead of the ring");
	pair_close(e);
}

/*
 * Those from there on that looked for so long. The time is the processor's, which a thread
 * that sleeps does not take; a machine that stands still makes one of them long.
 */
static int looks(const struct waiter *w, int from, long us)
{
	int i, n = 0;

	for (i = from; i < w->rounds; i++)
		n += w->us[i] >= us;
	printf("# %d of %d looked for %ld us\n", n, w->rounds - from, us);
	return n;
}

/* Nor for a little while: of these half may be long on a machine that has other work. */
static void want_no_looks(const struct waiter *w, int from)
{
	int n = looks(w, from, LIMIT_US / 4), few = looks(w, from, LIMIT_US / 20);

	WANT_TRUE(n <= 3, "they did not look, but for %d", n);
	WANT_TRUE(few <= (w->rounds - from) / 2, "nor for a little while, but for %d", few);
}

/*
 * A look in vain is followed by one half as long, down to none; the next try is some thirty
 * waits away.
 */
static void never_pays(const struct transport *t)
{
	struct waiter w = { .rounds = 24 };

	late(t, &w);
	want_no_looks(&w, 8);
}

/* With one processor a look would keep the peer from running: there is none. */
static void alone(const struct transport *t)
{
	struct waiter w = { .rounds = 12, .anew = true };
	int n;

	late(t, &w);
	if (one_processor()) {
		want_no_looks(&w, 0);
		return;
	}
	n = looks(&w, 0, LIMIT_US / 2);
	WANT_TRUE(n >= 4, "it looked, %d times", n);
}

static const struct test_case cases[] = {
	{ "limits", limits, CASE_BOTH | CASE_SPEED | CASE_FUSED },
	{ "never_pays", never_pays, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "alone", alone, CASE_STREAM | CASE_SPEED | CASE_FUSED },
};

RUN_CASES(cases)
