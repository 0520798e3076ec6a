// SPDX-License-Identifier: GPL-2.0
/*
 * No wake-up is lost: thousands of times a side sleeps in epoll just when the
 * other publishes, by either path.
 */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "epolling.h"
#include "harness.h"

struct player {
	struct end *e;
	unsigned int events;
	int rounds;
};

/* Waits by epoll for each ball, and sends it back; the lost ones. */
static long play(void *arg)
{
	struct player *p = arg;
	int ep = epoll_on(p->e->fd, p->events), i;
	long wrong = 0;
	uint32_t ball;

	for (i = 0; i < p->rounds; i++) {
		ssize_t n;

		while ((n = end_recv(p->e, &ball, 4, MSG_DONTWAIT)) < 0 && errno == EAGAIN) {
			if (!epoll_next(ep, 30000)) {
				wrong += 1000000;	/* a wake-up was lost */
				goto out;
			}
		}
		wrong += n != 4 || ball != (uint32_t)i;
		if (end_send(p->e, &ball, 4, MSG_NOSIGNAL) != 4) {
			wrong += 1000;
			break;
		}
	}
out:
	close(ep);
	return wrong;
}

static void ping_pong(const struct transport *t, unsigned int events, int rounds)
{
	struct end e[2];
	struct player p = { &e[1], events, rounds };
	struct task k;
	uint32_t i, ball;
	long wrong = 0;
	int ep;

	tp_pair(t, e);
	ep = epoll_on(e[0].fd, events);
	task_start(&k, play, &p);
	for (i = 0; i < (uint32_t)rounds && !wrong; i++) {
		wrong += end_send(&e[0], &i, 4, MSG_NOSIGNAL) != 4;
		while (end_recv(&e[0], &ball, 4, MSG_DONTWAIT) < 0) {
			if (errno != EAGAIN || !epoll_next(ep, 30000)) {
				wrong += 1000000;
				break;
			}
		}
		wrong += ball != i;
	}
	shutdown(e[0].fd, SHUT_RDWR);
	trace_num(wrong, "wrong on this side");
	trace_num(task_join(&k), "wrong on the other");
	close(ep);
	pair_close(e);
}

/*
 * Of all paths together 10,000 balls by edges, twenty times that in the long form. The
 * references are not on trial: a few rounds show what is right.
 */
static int rounds(const struct transport *t, int n)
{
	if (!t->speed)
		return 100;
	return soak_times(t->type == SOCK_STREAM ? n : n / 4, 20);
}

static void ping_pong_level(const struct transport *t)
{
	ping_pong(t, EPOLLIN, rounds(t, 500));
}

static void ping_pong_edge(const struct transport *t)
{
	ping_pong(t, EPOLLIN | EPOLLET, rounds(t, 2000));
}

static void ping_pong_exclusive(const struct transport *t)
{
	ping_pong(t, EPOLLIN | EPOLLEXCLUSIVE, rounds(t, 500));
}

/* The one side sleeps in epoll, the other in recv. */
static long echo(void *arg)
{
	struct player *p = arg;
	uint32_t ball;
	ssize_t n;

	while ((n = end_recv(p->e, &ball, 4, 0)) == 4) {
		if (end_send(p->e, &ball, 4, MSG_NOSIGNAL) != 4)
			return -1;
	}
	return n;
}

static void against_recv(const struct transport *t)
{
	int n = rounds(t, 500), i, ep;
	struct end e[2];
	struct player p = { &e[1], 0, n };
	struct task k;
	uint32_t ball;
	long wrong = 0;

	tp_pair(t, e);
	ep = epoll_on(e[0].fd, EPOLLIN | EPOLLET);
	task_start(&k, echo, &p);
	for (i = 0; i < n && !wrong; i++) {
		wrong += end_send(&e[0], &i, 4, 0) != 4;
		while (end_recv(&e[0], &ball, 4, MSG_DONTWAIT) < 0) {
			if (errno != EAGAIN || !epoll_next(ep, 30000)) {
				wrong += 1000000;
				break;
			}
		}
		wrong += ball != (uint32_t)i;
	}
	trace_num(wrong, "wrong");
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	NOTE(task_join(&k), "the other side");
	close(ep);
	pair_close(e);
}

/* A stream that the writer and the reader both drive by edge-triggered epoll. */
static long write_by_edges(void *arg)
{
	struct player *p = arg;
	int ep = epoll_on(p->e->fd, EPOLLOUT | EPOLLET);
	size_t total = p->rounds, done = 0;
	static char buf[20000];

	while (done < total) {
		size_t len = total - done < sizeof(buf) ? total - done : sizeof(buf);
		ssize_t n;

		stream_fill(buf, len, done);
		n = end_send(p->e, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0)
			done += n;
		else if (errno != EAGAIN || !epoll_next(ep, 30000))
			break;
	}
	shutdown(p->e->fd, SHUT_WR);
	close(ep);
	return done;
}

static void stream_by_edges(const struct transport *t)
{
	size_t total = soak_times(4 << 20, 10), got = 0;
	struct end e[2];
	struct player p = { &e[0], 0, total };
	struct task k;
	char buf[7000];
	int ep, wrong = 0;

	tp_pair(t, e);
	ep = epoll_on(e[1].fd, EPOLLIN | EPOLLET);
	task_start(&k, write_by_edges, &p);
	for (;;) {
		ssize_t n = end_recv(&e[1], buf, sizeof(buf), MSG_DONTWAIT);

		if (n > 0) {
			wrong += !stream_check(buf, n, got);
			got += n;
		} else if (n == 0 || errno != EAGAIN || !epoll_next(ep, 30000)) {
			break;
		}
	}
	trace_num(task_join(&k), "sent");
	trace_num(got, "received");
	trace_num(wrong, "wrong");
	close(ep);
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "ping_pong_level", ping_pong_level, CASE_BOTH | CASE_TCP | CASE_PATHS | CASE_LONG },
	{ "ping_pong_edge", ping_pong_edge, CASE_BOTH | CASE_TCP | CASE_PATHS | CASE_LONG },
	{ "ping_pong_exclusive", ping_pong_exclusive,
	  CASE_BOTH | CASE_TCP | CASE_PATHS | CASE_LONG },
	{ "against_recv", against_recv, CASE_BOTH | CASE_TCP | CASE_PATHS | CASE_LONG },
	{ "stream_by_edges", stream_by_edges, CASE_STREAM | CASE_TCP | CASE_PATHS | CASE_LONG },
};

RUN_CASES(cases)
