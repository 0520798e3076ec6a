// SPDX-License-Identifier: GPL-2.0
/*
 * A reader that is there before its connection: it calls recv() over and over until the
 * socket is no longer unconnected, and is told what comes, in order, whenever it got in.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "stress.h"
#include "tcp_pair.h"

#define TRIES	150
#define MUCH	(1 << 20)	/* more than a ring holds */
#define SOON_MS	20000

struct early {
	int fd;
	atomic_bool reads;
	unsigned char got[16];
	bool all;
};

static long read_early(void *arg)
{
	struct early *e = arg;
	long n;

	e->reads = true;
	do
		n = recv(e->fd, e->got, sizeof(e->got), e->all ? MSG_WAITALL : 0);
	while (n < 0 && errno == ENOTCONN);
	return n;
}

static void early_begin(struct early *e, struct task *k, const struct address *at, bool all)
{
	*e = (struct early){ .fd = tcp_socket(at), .all = all };
	task_start(k, read_early, e);
	while (!e->reads)
		sched_yield();
}

/* A byte after the connection is there. */
static void byte(const struct transport *t)
{
	struct address at;
	int listener, fd[2], i;

	(void)t;
	tcp_shim_net();
	listener = tcp_listen_at(LOCAL4, 0, &at);
	for (i = 0; i < soak_times(TRIES, 10); i++) {
		struct early e;
		struct task k;

		early_begin(&e, &k, &at, false);
		tcp_join(listener, &at, e.fd, fd);
		MUST(send(fd[1], "x", 1, 0) == 1);
		WANT_TRUE(task_ends(&k, SOON_MS), "%d: it is told", i);
		if (!task_ends(&k, 0))
			shutdown(fd[1], SHUT_RDWR);
		WANT(task_join(&k), 1, 0, "%d: recv", i);
		tcp_close(fd);
	}
	close(listener);
}

/* More than the ring takes: its first bytes are the first. */
static void order(const struct transport *t)
{
	static unsigned char much[MUCH], want[16];
	struct address at;
	int listener, fd[2], i;

	(void)t;
	stream_fill(much, sizeof(much), 0);
	stream_fill(want, sizeof(want), 0);
	tcp_shim_net();
	listener = tcp_listen_at(LOCAL4, 0, &at);
	for (i = 0; i < soak_times(TRIES, 10); i++) {
		struct early e;
		struct task k;

		early_begin(&e, &k, &at, true);
		tcp_join(listener, &at, e.fd, fd);
		MUST(send(fd[1], much, sizeof(much), MSG_DONTWAIT) > 0);
		WANT_TRUE(task_ends(&k, SOON_MS), "%d: it is told", i);
		if (!task_ends(&k, 0))
			shutdown(fd[1], SHUT_RDWR);
		WANT(task_join(&k), (long)sizeof(want), 0, "%d: recv", i);
		WANT_TRUE(!memcmp(e.got, want, sizeof(want)), "%d: the first bytes first", i);
		tcp_close(fd);
	}
	close(listener);
}

/* By name: it may be asked for while others read. */
static void named(const struct transport *t)
{
	struct address at;
	int listener, fd[2], i;

	(void)t;
	tcp_own_net();
	listener = tcp_listen_at(LOCAL4, 0, &at);
	WANT_OK(tcp_set_ulp(listener, "speed"), "TCP_ULP of the listener");
	for (i = 0; i < soak_times(TRIES, 10); i++) {
		struct early e;
		struct task k;

		early_begin(&e, &k, &at, false);
		WANT_OK(tcp_set_ulp(e.fd, "speed"), "%d: TCP_ULP", i);
		tcp_join(listener, &at, e.fd, fd);
		MUST(send(fd[1], "x", 1, 0) == 1);
		WANT_TRUE(task_ends(&k, SOON_MS), "%d: it is told", i);
		if (!task_ends(&k, 0))
			shutdown(fd[1], SHUT_RDWR);
		WANT(task_join(&k), 1, 0, "%d: recv", i);
		tcp_close(fd);
	}
	close(listener);
}

static const struct test_case cases[] = {
	{ "byte", byte, CASE_STREAM | CASE_SPEED },
	{ "order", order, CASE_STREAM | CASE_SPEED },
	{ "named", named, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
