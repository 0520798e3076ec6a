// SPDX-License-Identifier: GPL-2.0
/*
 * SPEED_IOC_EPOLL: an epoll set that alone waits is woken once for all that comes until
 * it asks, and hears of everything; with others beside it nothing changes. Both roles
 * are worked by hand. What may claim: map_epoll_claim.c.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "epolling.h"
#include "hand.h"
#include "harness.h"
#include "uring.h"

static void level(const struct transport *t)
{
	struct hand tx, rx;
	struct end e[2];
	int ep, i, round, woken;

	hand_both(t, e, &tx, &rx);
	ep = epoll_on(rx.fd, EPOLLIN);
	WANT_TRUE(hand_put(&tx) && hand_put(&tx), "woken each time");
	WANT_OK(hand_claim(&rx), "claim");
	WANT(epoll_next(ep, 0), EPOLLIN, 0, "an event");
	WANT(hand_take_all(&rx), 2, 0, "bytes");
	WANT(epoll_next(ep, 0), 0, 0, "no event");
	for (round = 0; round < 20; round++) {
		for (i = 0, woken = 0; i < 50; i++)
			woken += hand_put(&tx);
		WANT(woken, 1, 0, "%d: woken once", round);
		WANT(epoll_next(ep, 0), EPOLLIN, 0, "%d: an event", round);
		WANT_TRUE(hand_put(&tx), "%d: it has asked", round);
		WANT(hand_take_all(&rx), 51, 0, "%d: bytes", round);
		WANT(epoll_next(ep, 0), 0, 0, "%d: taken", round);
	}
	close(ep);
	WANT_TRUE(!hand_put(&tx) || !hand_put(&tx), "nobody waits");
	pair_close(e);
}

/* One that looks for edges hears of each that comes after it was told. */
static void edge(const struct transport *t)
{
	struct hand tx, rx;
	struct end e[2];
	int ep, i;

	ep = hand_claimed(t, e, &tx, &rx, EPOLLIN | EPOLLET);
	for (i = 0; i < 20; i++) {
		WANT_TRUE(hand_put(&tx), "%d: woken", i);
		WANT_TRUE(!hand_put(&tx), "%d: not again", i);
		WANT(epoll_next(ep, 0), EPOLLIN, 0, "%d: an edge", i);
		WANT(epoll_next(ep, 0), 0, 0, "%d: told", i);
		if (i & 1)
			hand_take_all(&rx);
	}
	close(ep);
	pair_close(e);
}

static void oneshot(const struct transport *t)
{
	struct epoll_event on = { .events = EPOLLIN | EPOLLONESHOT };
	struct hand tx, rx;
	struct end e[2];
	int ep, i;

	ep = hand_claimed(t, e, &tx, &rx, EPOLLIN | EPOLLONESHOT);
	for (i = 0; i < 20; i++) {
		hand_put(&tx);
		WANT(epoll_next(ep, 0), EPOLLIN, 0, "%d: an event", i);
		hand_put(&tx);
		hand_put(&tx);
		WANT(epoll_next(ep, 0), 0, 0, "%d: told", i);
		if (i & 1)
			hand_take_all(&rx);
		MUST(epoll_ctl(ep, EPOLL_CTL_MOD, rx.fd, &on) == 0);
		WANT(epoll_next(ep, 0), i & 1 ? 0 : EPOLLIN, 0, "%d: armed again", i);
		MUST(epoll_ctl(ep, EPOLL_CTL_MOD, rx.fd, &on) == 0);
	}
	close(ep);
	pair_close(e);
}

/* Another set is as good; two are not. */
static void replaced(const struct transport *t)
{
	struct epoll_event on = { .events = EPOLLIN };
	struct hand tx, rx;
	struct end e[2];
	int ep, other;

	ep = hand_claimed(t, e, &tx, &rx, EPOLLIN);
	WANT_TRUE(hand_put(&tx) && !hand_put(&tx), "woken once");
	other = epoll_on(rx.fd, EPOLLIN);
	WANT_TRUE(hand_put(&tx) && hand_put(&tx), "two sets: woken each time");
	WANT(epoll_next(ep, 0), EPOLLIN, 0, "the one");
	WANT(epoll_next(other, 0), EPOLLIN, 0, "the other");
	MUST(epoll_ctl(ep, EPOLL_CTL_DEL, rx.fd, &on) == 0);
	WANT_TRUE(hand_put(&tx) && !hand_put(&tx), "the other alone: woken once");
	WANT(epoll_next(other, 0), EPOLLIN, 0, "an event");
	close(ep);
	close(other);
	pair_close(e);
}

static void rejoin(int ep, int fd, unsigned int events)
{
	struct epoll_event on = { .events = events };

	MUST(epoll_ctl(ep, EPOLL_CTL_DEL, fd, &on) == 0);
	MUST(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &on) == 0);
}

/* Out of the set and in again: it has been woken for that. */
static void rejoined(const struct transport *t)
{
	static const unsigned int ways[] = { 0, EPOLLET, EPOLLONESHOT, EPOLLEXCLUSIVE };
	struct hand tx, rx;
	struct end e[2];
	int ep, i;

	ep = hand_claimed(t, e, &tx, &rx, EPOLLIN);
	for (i = 0; i < 40; i++) {
		rejoin(ep, rx.fd, EPOLLIN | ways[i % 4]);
		if (i & 4) {
			WANT(epoll_next(ep, 0), 0, 0, "%d: nothing yet", i);
			WANT_TRUE(hand_put(&tx), "%d: it has asked", i);
		} else {
			WANT_TRUE(!hand_put(&tx), "%d: it has not asked", i);
		}
		WANT(epoll_next(ep, 0), EPOLLIN, 0, "%d: an event", i);
		WANT(hand_take_all(&rx), 1, 0, "%d: the byte", i);
	}
	close(ep);
	pair_close(e);
}

/* Into a set on which somebody sleeps, and into one that another set, or poll(), watches. */
static void rejoined_asleep(const struct transport *t)
{
	struct hand tx, rx;
	struct end e[2];
	struct task k;
	int ep, outer, watched, i;

	ep = hand_claimed(t, e, &tx, &rx, EPOLLIN);
	outer = epoll_on(ep, EPOLLIN);
	for (i = 0; i < 30; i++) {
		watched = i & 1 ? outer : ep;
		if (i % 3)
			rejoin(ep, rx.fd, EPOLLIN);
		task_start(&k, sleeps_in_poll, &watched);
		MUST(task_sleeps(&k));
		if (!(i % 3))
			rejoin(ep, rx.fd, EPOLLIN);
		WANT_TRUE(task_sleeps(&k), "%d: it sleeps on", i);
		hand_put(&tx);
		WANT(task_join(&k), 1, 0, "%d: woken", i);
		WANT(epoll_next(ep, 0), EPOLLIN, 0, "%d: an event", i);
		WANT(hand_take_all(&rx), 1, 0, "%d: the byte", i);
	}
	close(outer);
	close(ep);
	pair_close(e);
}

static volatile sig_atomic_t signals;

static void count(int sig)
{
	(void)sig;
	signals++;
}

/* Others that wait beside the set. */
static void beside(const struct transport *t)
{
	struct hand tx, rx;
	struct end e[2];
	struct task k;
	int ep, i;

	ep = hand_claimed(t, e, &tx, &rx, EPOLLIN);
	for (i = 0; i < 20; i++) {
		WANT_TRUE(hand_put(&tx) && !hand_put(&tx), "%d: woken once", i);
		hand_take_all(&rx);
		task_start(&k, sleeps_in_poll, &rx.fd);
		MUST(task_sleeps(&k));
		WANT_TRUE(hand_put(&tx), "%d: somebody sleeps in poll", i);
		WANT(task_join(&k), 1, 0, "%d: poll", i);
		WANT(epoll_next(ep, 0), EPOLLIN, 0, "%d: an event", i);
		hand_take_all(&rx);
		WANT(epoll_next(ep, 0), 0, 0, "%d: taken", i);
	}
	MUST(signal(SIGIO, count) != SIG_ERR && fcntl(rx.fd, F_SETOWN, getpid()) == 0);
	WANT_TRUE(hand_put(&tx) && !hand_put(&tx), "woken, and it does not ask");
	MUST(fcntl(rx.fd, F_SETFL, O_ASYNC) == 0);
	for (i = 0; i < 20; i++) {
		signals = 0;
		WANT_TRUE(hand_put(&tx), "%d: a signal is wanted", i);
		WANT_TRUE(signals, "%d: the signal", i);
	}
	close(ep);
	pair_close(e);
}

/* It says what it saw, and does not ask. */
static void multishot(const struct transport *t)
{
	struct io_uring_cqe cqe;
	struct hand tx, rx;
	struct end e[2];
	struct uring u;
	int ep, i;

	need_uring(&u);
	ep = hand_claimed(t, e, &tx, &rx, EPOLLIN);
	uring_prepare(&u, IORING_OP_POLL_ADD, rx.fd, NULL, IORING_POLL_ADD_MULTI, 7)->
		poll32_events = POLLIN;
	uring_submit(&u);
	for (i = 0; i < 20; i++) {
		WANT_TRUE(hand_put(&tx), "%d: woken", i);
		WANT_TRUE(uring_wait(&u, &cqe, URING_SOON_MS), "%d: a completion", i);
		WANT(cqe.res & POLLIN, POLLIN, 0, "%d: readable", i);
		hand_take_all(&rx);
	}
	uring_close(&u);
	close(ep);
	pair_close(e);
}

struct player {
	const struct hand *rx;
	int ep;
	uint64_t total;
	unsigned int rejoins;
};

static long takes_all(void *arg)
{
	struct player *p = arg;
	uint64_t got = 0;

	while (got < p->total) {
		if (!epoll_next(p->ep, 30000))
			return -1;	/* a wake-up was lost */
		got += hand_take_all(p->rx);
		if (p->rejoins)
			rejoin(p->ep, p->rx->fd, p->rejoins);
	}
	return 0;
}

/* Nothing is missed, at whatever moment a byte comes. */
static void raced(const struct transport *t, unsigned int how, bool rejoins)
{
	struct player p = {
		.total = soak_times(20000, 50),
		.rejoins = rejoins ? EPOLLIN | how : 0,
	};
	struct hand tx, rx;
	struct end e[2];
	struct task k;
	uint64_t i;
	long woken = 0;

	p.rx = &rx;
	p.ep = hand_claimed(t, e, &tx, &rx, EPOLLIN | how);
	task_start(&k, takes_all, &p);
	for (i = 0; i < p.total; i++) {
		while (*hand_own(&tx) - hand_other(&tx) > (i & 7 ? 4 : 0) &&
		       !__atomic_load_n(&k.done, __ATOMIC_ACQUIRE))
			sched_yield();
		woken += hand_put(&tx);
	}
	WANT(task_join(&k), 0, 0, "all came");
	WANT_TRUE(woken, "somebody slept");
	close(p.ep);
	pair_close(e);
}

static void raced_level(const struct transport *t)
{
	raced(t, 0, false);
}

static void raced_edge(const struct transport *t)
{
	raced(t, EPOLLET, false);
}

static void raced_rejoin(const struct transport *t)
{
	raced(t, 0, true);
}

static void raced_rejoin_edge(const struct transport *t)
{
	raced(t, EPOLLET, true);
}

#define BY_HAND	(CASE_STREAM | CASE_SPEED | CASE_FUSED)

static const struct test_case cases[] = {
	{ "level", level, BY_HAND },
	{ "edge", edge, BY_HAND },
	{ "oneshot", oneshot, BY_HAND },
	{ "replaced", replaced, BY_HAND },
	{ "rejoined", rejoined, BY_HAND },
	{ "rejoined_asleep", rejoined_asleep, BY_HAND },
	{ "beside", beside, BY_HAND },
	{ "multishot", multishot, BY_HAND },
	{ "raced_level", raced_level, BY_HAND | CASE_LONG },
	{ "raced_edge", raced_edge, BY_HAND | CASE_LONG },
	{ "raced_rejoin", raced_rejoin, BY_HAND | CASE_LONG },
	{ "raced_rejoin_edge", raced_rejoin_edge, BY_HAND | CASE_LONG },
};

RUN_CASES(cases)
