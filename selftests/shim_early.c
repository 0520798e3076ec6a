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

/* The connection is made while it reads, and these bytes are sent: it is told so many. */
static void connects(struct early *e, struct task *k, int listener, const struct address *at,
		     const void *bytes, size_t len, long told, int i)
{
	int fd[2];

	tcp_join(listener, at, e->fd, fd);
	MUST(send(fd[1], bytes, len, MSG_DONTWAIT) > 0);
	WANT_TRUE(task_ends(k, SOON_MS), "%d: it is told", i);
	if (!task_ends(k, 0))
		shutdown(fd[1], SHUT_RDWR);
	WANT(task_join(k), told, 0, "%d: recv", i);
	tcp_close(fd);
}

/* A byte after the connection is there; @named: by name, asked for while others read. */
static void byte_to(int listener, const struct address *at, bool named)
{
	int i;

	for (i = 0; i < soak_times(TRIES, 10); i++) {
		struct early e;
		struct task k;

		early_begin(&e, &k, at, false);
		if (named)
			WANT_OK(tcp_set_ulp(e.fd, "speed"), "%d: TCP_ULP", i);
		connects(&e, &k, listener, at, "x", 1, 1, i);
	}
	close(listener);
}

static void byte(const struct transport *t)
{
	struct address at;

	(void)t;
	tcp_shim_net();
	byte_to(tcp_listen_at(LOCAL4, 0, &at), &at, false);
}

static void named(const struct transport *t)
{
	struct address at;
	int listener;

	(void)t;
	tcp_own_net();
	listener = tcp_listen_at(LOCAL4, 0, &at);
	WANT_OK(tcp_set_ulp(listener, "speed"), "TCP_ULP of the listener");
	byte_to(listener, &at, true);
}

/* More than the ring takes: its first bytes are the first. */
static void order(const struct transport *t)
{
	static unsigned char much[MUCH];
	struct address at;
	int listener, i;

	(void)t;
	stream_fill(much, sizeof(much), 0);
	tcp_shim_net();
	listener = tcp_listen_at(LOCAL4, 0, &at);
	for (i = 0; i < soak_times(TRIES, 10); i++) {
		struct early e;
		struct task k;

		early_begin(&e, &k, &at, true);
		connects(&e, &k, listener, &at, much, sizeof(much), sizeof(e.got), i);
		WANT_TRUE(!memcmp(e.got, much, sizeof(e.got)), "%d: the first bytes first", i);
	}
	close(listener);
}

static const struct test_case cases[] = {
	{ "byte", byte, CASE_STREAM | CASE_SPEED },
	{ "order", order, CASE_STREAM | CASE_SPEED },
	{ "named", named, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
