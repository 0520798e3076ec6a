// SPDX-License-Identifier: GPL-2.0
/* Zero copy that waits: for room, for bytes, for as many as are wanted, and in vain. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>

#include "caught.h"
#include "span.h"
#include "task.h"

#define SMALL	8192	/* SO_SNDBUF and SO_RCVBUF; the ring has twice as much */

#define TOTAL	(1 << 20)

static long produce(void *arg)
{
	struct end *e = arg;
	size_t at, len;
	ssize_t n;

	for (at = 0; at < TOTAL; at += n) {
		len = 1 + at * 31 % 9000;
		n = span_put(e->map, len < TOTAL - at ? len : TOTAL - at, at);
		if (n <= 0)
			return -1;
	}
	shutdown(e->fd, SHUT_WR);
	return at;
}

/* Both wait for each other, and the stream or the messages are exact. */
static void flows(const struct transport *t)
{
	struct end e[2];
	struct task k;
	size_t at = 0;
	ssize_t n;

	span_pair(t, e, SMALL);
	task_start(&k, produce, &e[0]);
	while ((n = span_take(e[1].map, 1 + at % 7000, at, 0)) > 0)
		at += n;
	WANT(n, 0, 0, "the end");
	WANT(at, TOTAL, 0, "bytes");
	WANT(task_join(&k), TOTAL, 0, "the other side");
	pair_close(e);
}

/* Of a stream, for so many bytes or half a ring. */
static long peek_all(void *arg)
{
	struct call *c = arg;

	return span_take(c->e->map, c->len, 0, MSG_WAITALL);
}

static void waits_for_all(const struct transport *t)
{
	struct end e[2];
	struct call c = { &e[1], NULL, 1000, 0 };
	struct task k;

	span_pair(t, e, 0);
	task_start(&k, peek_all, &c);
	WANT_TRUE(task_sleeps(&k), "it sleeps");
	WANT(span_put(e[0].map, 999, 0), 999, 0, "commit");
	WANT_TRUE(task_sleeps(&k), "it sleeps for one byte more");
	WANT(span_put(e[0].map, 501, 999), 501, 0, "commit");
	WANT(task_join(&k), 1000, 0, "peek");
	WANT(span_take(e[1].map, 4000, 1000, MSG_DONTWAIT), 500, 0, "the rest");
	WANT(span_put(e[0].map, 400, 0), 400, 0, "commit");
	WANT_OK(shutdown(e[0].fd, SHUT_WR), "shutdown");
	WANT(peek_all(&c), 400, 0, "fewer, at the end");
	WANT(peek_all(&c), 0, 0, "the end");
	pair_close(e);

	span_pair(t, e, SMALL);
	c.len = 100 * SMALL;
	WANT(span_put(e[0].map, SMALL, 0), SMALL, 0, "commit half a ring");
	WANT(peek_all(&c), SMALL, 0, "that is enough");
	pair_close(e);
}

/* Nothing comes: a signal, a time limit; the direction is free afterwards. */
static void given_up(const struct transport *t)
{
	struct end e[2];
	struct call c = { &e[1], NULL, 1000, 0 };
	struct task k;

	span_pair(t, e, 0);
	catch_signal(SIGUSR1, 0);
	task_start(&k, peek_all, &c);
	WANT_TRUE(task_sleeps(&k), "it sleeps");
	pthread_kill(k.thread, SIGUSR1);
	WANT_ERR(task_join(&k), EINTR, "peek, a handler without SA_RESTART");
	WANT_OK(set_timeout(e[1].fd, SO_RCVTIMEO, 100), "SO_RCVTIMEO");
	WANT_ERR(peek_all(&c), EAGAIN, "peek");
	WANT(span_put(e[0].map, 300, 0), 300, 0, "commit");
	WANT(peek_all(&c), 300, 0, "what came in time");
	pair_close(e);
}

/* Where nobody waits a full ring gives the private buffer, which the kernel has no room for. */
static void full(const struct transport *t)
{
	struct end e[2];
	void *span;

	span_pair(t, e, SMALL);
	MUST(end_fill(&e[0], 1000));
	WANT(speed_reserve(e[0].map, 1000, &span, MSG_DONTWAIT), 1000, 0, "reserve");
	WANT_ERR(speed_commit(e[0].map, 1000, MSG_DONTWAIT), EAGAIN, "commit");
	WANT_ERR(speed_commit(e[0].map, 1, MSG_DONTWAIT), EINVAL, "the span is gone");
	WANT_OK(set_nonblock(e[0].fd, true), "O_NONBLOCK");
	WANT_ERR(span_put(e[0].map, 1000, 0), EAGAIN, "commit");
	MUST(end_discard(&e[1]));
	WANT(span_put(e[0].map, 1000, 0), 1000, 0, "when it was read");
	pair_close(e);
}

/* A connection, and a handle of its reading end that works by system call alone. */
static struct speed *nomap_pair(const struct transport *t, struct end e[2])
{
	struct speed *nomap;

	tp_pair(t, e);
	nomap = speed_attach(e[1].fd, SPEED_ATTACH_NOMAP);
	MUST(nomap);
	return nomap;
}

static void nomap_close(struct speed *nomap, struct end e[2])
{
	speed_detach(nomap);
	pair_close(e);
}

/* Of what was peeked at another takes a part: the rest comes again. */
static void part_taken(const struct transport *t)
{
	struct speed *nomap;
	const void *got;
	struct end e[2];
	char buf[200];

	nomap = nomap_pair(t, e);
	memset(buf, 'x', 100);
	WANT(send(e[0].fd, buf, 100, 0), 100, 0, "send");
	WANT(speed_peek(nomap, 100, &got, 0), 100, 0, "peek");
	WANT(recv(e[1].fd, buf, 50, 0), 50, 0, "another takes a half");
	WANT_ERR(speed_release(nomap, 100), ESTALE, "release");
	WANT(recv(e[1].fd, buf, 200, MSG_DONTWAIT), 50, 0,
	     "nothing was taken: the rest comes again");
	nomap_close(nomap, e);
}

/* Messages behind the one that was peeked at are no sign that it is gone. */
static void two_messages(const struct transport *t)
{
	struct speed *nomap;
	const void *got;
	struct end e[2];
	int i;

	nomap = nomap_pair(t, e);
	for (i = 1; i <= 3; i++)
		WANT(send(e[0].fd, "abc", i, 0), i, 0, "send");
	for (i = 1; i <= 3; i++) {
		WANT(speed_peek(nomap, 0, &got, 0), i, 0, "peek");
		WANT_OK(speed_release(nomap, i), "release");
	}
	nomap_close(nomap, e);
}

/* At the mark FIONREAD says that there is nothing, and what is behind it can be read. */
static void at_the_mark(const struct transport *t)
{
	struct speed *nomap;
	const void *got;
	struct end e[2];
	char buf[10];

	nomap = nomap_pair(t, e);
	WANT(send(e[0].fd, "0123456789", 10, 0), 10, 0, "send");
	WANT(send(e[0].fd, "!", 1, MSG_OOB), 1, 0, "the urgent byte");
	WANT(send(e[0].fd, "abcde", 5, 0), 5, 0, "send behind it");
	WANT(recv(e[1].fd, buf, 10, MSG_WAITALL), 10, 0, "up to the mark");
	WANT(speed_peek(nomap, 5, &got, MSG_WAITALL), 5, 0, "peek");
	WANT_TRUE(!memcmp(got, "abcde", 5), "what is behind it");
	WANT_OK(speed_release(nomap, 5), "release");
	nomap_close(nomap, e);
}

static const struct test_case cases[] = {
	{ "two_messages", two_messages, CASE_SEQPACKET | CASE_SPEED },
	{ "at_the_mark", at_the_mark, CASE_STREAM | CASE_FUSED_ONLY },
	{ "part_taken", part_taken, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "flows", flows, CASE_BOTH | CASE_SPEED | CASE_FUSED },
	{ "waits_for_all", waits_for_all, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "given_up", given_up, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "full", full, CASE_BOTH | CASE_SPEED },
};

RUN_CASES(cases)
