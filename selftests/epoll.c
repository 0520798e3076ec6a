// SPDX-License-Identifier: GPL-2.0
/*
 * epoll: level, edge, one-shot and exclusive, with a publisher on either path.
 *
 * Edge-triggered and exclusive waiters are not asked again by the kernel, so a
 * publisher that forgets to wake is not made good by the next poll: here it
 * shows as a wait that never ends.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "epolling.h"
#include "harness.h"

static void level(const struct transport *t)
{
	struct end e[2];
	char buf[16];
	int ep, i;

	tp_pair(t, e);
	ep = epoll_on(e[1].fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP);
	trace_mask(epoll_next(ep, 0), "idle");
	for (i = 0; i < 3; i++) {
		NOTE(end_send(&e[0], "abcd", 4, 0), "send");
		tp_settle(t);
		trace_mask(epoll_next(ep, 0), "with data");
		trace_mask(epoll_next(ep, 0), "with data, again");
		NOTE(end_recv(&e[1], buf, 16, 0), "recv");
		trace_mask(epoll_next(ep, 0), "without data");
	}
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	tp_settle(t);
	trace_mask(epoll_next(ep, 0), "at the end");
	close(ep);
	pair_close(e);
}

static void edge(const struct transport *t)
{
	struct end e[2];
	char buf[16];
	int ep, i;

	tp_pair(t, e);
	ep = epoll_on(e[1].fd, EPOLLIN | EPOLLET);
	trace_mask(epoll_next(ep, 0), "idle");
	for (i = 0; i < 3; i++) {
		NOTE(end_send(&e[0], "abcd", 4, 0), "send");
		tp_settle(t);
		trace_mask(epoll_next(ep, 5000), "the edge");
		trace_mask(epoll_next(ep, 0), "no other edge");
		NOTE(end_send(&e[0], "efgh", 4, 0), "send more, while there is some");
		tp_settle(t);
		trace_mask(epoll_next(ep, 5000), "each publication is an edge");
		NOTE(end_recv(&e[1], buf, 4, 0), "recv a part");
		trace_mask(epoll_next(ep, 0), "reading is none");
		NOTE(end_recv(&e[1], buf, 16, MSG_DONTWAIT), "recv the rest");
		trace_mask(epoll_next(ep, 0), "still none");
	}
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	tp_settle(t);
	trace_mask(epoll_next(ep, 5000), "the end is an edge");
	trace_mask(epoll_next(ep, 0), "once");
	close(ep);
	pair_close(e);
}

static void edge_space(const struct transport *t)
{
	struct end e[2];
	int ep, i;

	tp_pair(t, e);
	ep = epoll_on(e[0].fd, EPOLLOUT | EPOLLET);
	trace_mask(epoll_next(ep, 0), "writable at first");
	trace_mask(epoll_next(ep, 0), "told once");
	for (i = 0; i < 3; i++) {
		end_fill(&e[0], 4096);
		/* What AF_UNIX tells while it fills is nobody's business here. */
		while (epoll_next(ep, 0))
			;
		trace_num(end_drain(&e[1], 0) > 0, "drain");
		trace_mask(epoll_next(ep, 5000), "writable again");
	}
	close(ep);
	pair_close(e);
}

static void one_shot(const struct transport *t)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT };
	struct end e[2];
	char buf[16];
	int ep, i;

	tp_pair(t, e);
	ep = epoll_on(e[1].fd, EPOLLIN | EPOLLONESHOT);
	for (i = 0; i < 3; i++) {
		NOTE(end_send(&e[0], "a", 1, 0), "send");
		trace_mask(epoll_next(ep, 5000), "the shot");
		NOTE(end_send(&e[0], "b", 1, 0), "send");
		tp_settle(t);
		trace_mask(epoll_next(ep, 0), "no other");
		NOTE(epoll_ctl(ep, EPOLL_CTL_MOD, e[1].fd, &ev), "again");
		trace_mask(epoll_next(ep, 5000), "the shot after that");
		NOTE(end_recv(&e[1], buf, 16, 0) > 0, "recv");
		while (end_recv(&e[1], buf, 16, MSG_DONTWAIT) > 0)
			;
		NOTE(epoll_ctl(ep, EPOLL_CTL_MOD, e[1].fd, &ev), "and again");
		trace_mask(epoll_next(ep, 0), "there is nothing");
	}
	close(ep);
	pair_close(e);
}

#define WAITERS	4

static long wait_exclusive(void *fd)
{
	struct epoll_event ev;
	int ep = epoll_on(*(int *)fd, EPOLLIN | EPOLLEXCLUSIVE);
	long n = epoll_wait(ep, &ev, 1, 20000);

	close(ep);
	return n;
}

/* Some of the exclusive waiters are woken by a byte; by the end, all. */
static void exclusive(const struct transport *t)
{
	struct task k[WAITERS];
	struct end e[2];
	int i, done = 0, sum = 0;

	tp_pair(t, e);
	for (i = 0; i < WAITERS; i++)
		task_start(&k[i], wait_exclusive, &e[1].fd);
	for (i = 0; i < WAITERS; i++)
		trace_num(task_sleeps(&k[i]), "%d waits", i);
	NOTE(end_send(&e[0], "x", 1, 0), "send");
	for (i = 0; i < 500 && !done; i++) {
		int j;

		sleep_ms(10);
		for (j = 0; j < WAITERS; j++)
			done += __atomic_load_n(&k[j].done, __ATOMIC_ACQUIRE);
	}
	trace_num(done > 0, "somebody was woken");
	/* Every message wakes a further one. */
	for (i = 0; i < WAITERS; i++) {
		end_send(&e[0], "x", 1, MSG_NOSIGNAL);
		sleep_ms(20);
	}
	end_close(&e[0]);
	for (i = 0; i < WAITERS; i++)
		sum += task_join(&k[i]);
	trace_num(sum, "woken in the end");
	end_close(&e[1]);
}

static void exclusive_accept(const struct transport *t)
{
	struct task k[WAITERS];
	struct address a;
	int listener = tp_listen(t, 8, &a), client[WAITERS], i, sum = 0;

	for (i = 0; i < WAITERS; i++)
		task_start(&k[i], wait_exclusive, &listener);
	for (i = 0; i < WAITERS; i++)
		trace_num(task_sleeps(&k[i]), "%d waits", i);
	for (i = 0; i < WAITERS; i++)
		client[i] = tp_connect(t, &a);
	for (i = 0; i < WAITERS; i++)
		sum += task_join(&k[i]);
	trace_num(sum, "woken");
	for (i = 0; i < WAITERS; i++)
		close(client[i]);
	close(listener);
}

static void nested(const struct transport *t)
{
	struct end e[2];
	char c;
	int inner, outer;

	tp_pair(t, e);
	inner = epoll_on(e[1].fd, EPOLLIN);
	outer = epoll_on(inner, EPOLLIN);
	trace_mask(epoll_next(outer, 0), "idle");
	NOTE(end_send(&e[0], "x", 1, 0), "send");
	trace_mask(epoll_next(outer, 5000), "the outer");
	trace_mask(poll_now(inner, POLLIN), "poll of the inner");
	NOTE(end_recv(&e[1], &c, 1, 0), "recv");
	trace_mask(epoll_next(outer, 0), "idle again");
	close(outer);
	close(inner);
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "level", level, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "edge", edge, CASE_STREAM | CASE_TCP | CASE_PATHS },
	{ "edge_space", edge_space, CASE_BOTH | CASE_PATHS },
	{ "one_shot", one_shot, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "exclusive", exclusive, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "exclusive_accept", exclusive_accept, CASE_BOTH },
	{ "nested", nested, CASE_BOTH | CASE_TCP | CASE_PATHS },
};

RUN_CASES(cases)
