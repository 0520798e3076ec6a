// SPDX-License-Identifier: GPL-2.0
/* Zero copy over the module: spans of the ring, or of the private buffer where it has none. */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include <linux/speed_ring.h>

#include "caught.h"
#include "regions.h"
#include "span.h"
#include "task.h"

#define SMALL	8192	/* SO_SNDBUF and SO_RCVBUF; the ring has twice as much */
#define INTRUDERS	6

static void want_in_ring(const struct end e[2], long sends, long recvs)
{
	struct speed_stats s[2];

	MUST(!speed_get_stats(e[0].map, &s[0]) && !speed_get_stats(e[1].map, &s[1]));
	WANT(s[0].mapped_sends, sends, 0, "commits in the ring");
	WANT(s[1].mapped_recvs, recvs, 0, "releases in the ring");
	WANT(s[0].calls + s[1].calls, 0, 0, "system calls instead");
}

/* What is committed comes, what is not released comes again; a message is whole. */
static void spans(const struct transport *t)
{
	bool record = t->type == SOCK_SEQPACKET;
	const void *got;
	struct end e[2];
	void *span;

	span_pair(t, e, 0);
	WANT(speed_reserve(e[0].map, 1000, &span, 0), 1000, 0, "reserve");
	stream_fill(span, 1000, 0);
	WANT_ERR(speed_peek(e[1].map, 1, &got, MSG_DONTWAIT), EAGAIN, "nothing is sent yet");
	WANT(speed_commit(e[0].map, 600, 0), 600, 0, "commit a part");
	WANT(speed_reserve(e[0].map, 9, &span, 0), 9, 0, "reserve");
	WANT(speed_commit(e[0].map, SPEED_CANCEL, 0), 0, 0, "cancel");
	WANT(speed_peek(e[1].map, 100, &got, 0), record ? 600 : 100, 0, "peek");
	WANT_OK(speed_release(e[1].map, SPEED_CANCEL), "cancel");
	WANT(speed_peek(e[1].map, 4000, &got, 0), 600, 0, "they come again");
	WANT_TRUE(stream_check(got, 600, 0), "the bytes");
	WANT_OK(speed_release(e[1].map, 250), "release some");
	WANT(span_put(e[0].map, record ? 0 : 77, 600), record ? 0 : 77, 0,
	     "commit, of a message none");
	WANT(span_take(e[1].map, 4000, 250, 0), record ? 0 : 427, 0, "the rest, or the message");
	WANT_OK(speed_release(e[1].map, 0), "release no bytes");
	WANT_ERR(speed_peek(e[1].map, 1, &got, MSG_DONTWAIT), EAGAIN, "nothing is left");
	want_in_ring(e, 2, 2);
	pair_close(e);
}

/* Spans of all lengths, over the ring's end, one after the other. */
static void wrap(const struct transport *t)
{
	size_t at = TP_MOVED(t), bytes, len, size;
	bool record = t->type == SOCK_SEQPACKET;
	int i, over = 0, wrong = 0;
	struct speed_info info;
	struct end e[2];

	span_pair(t, e, SMALL);
	MUST(!get_exact(e[0].fd, SPEED_INFO, &info, sizeof(info)));
	size = info.ring_bytes[SPEED_ROLE_TX];
	for (i = 0; at < 100 * size; i++) {
		len = i % 8 == 7 ? size - 32 * record : 1 + i * 977ul % (size / 2);
		wrong += span_put(e[0].map, len, at) != (ssize_t)len;
		wrong += span_take(e[1].map, len, at, 0) != (ssize_t)len;
		bytes = record ? SPEED_RECORD_BYTES(len) : len;
		over += at % size + bytes > size;
		at += bytes;
	}
	WANT(wrong, 0, 0, "wrong spans");
	WANT_TRUE(over > 50, "many lie over the ring's end");
	want_in_ring(e, i, i);
	pair_close(e);
}

/* Another user: this thread, another or a child, by system call or by the handle. */
static long intrude(const struct end *e, int which, bool receives)
{
	long (*fn)(void *) = receives ? call_recv : call_send;
	struct end by = { .fd = e->fd, .map = e->map };
	char buf[2] = "!!";
	struct call c = { &by, buf, 2, 0 };
	struct task k;
	pid_t pid;

	by.path = which < INTRUDERS / 2 ? PATH_KERNEL : PATH_MAPPED;
	if (which % 3 == 0)
		return fn(&c);
	if (which % 3 == 1) {
		task_start(&k, fn, &c);
		return task_join(&k);
	}
	pid = fork();
	if (!pid)
		_exit(fn(&c));
	return process_join(pid);
}

/* A span that was taken back: nothing of it is sent, or received. */
static void stale(const struct transport *t)
{
	const void *got;
	struct end e[2];
	char buf[16];
	void *span;
	int i;

	for (i = 0; i < INTRUDERS; i++) {
		span_pair(t, e, 0);
		WANT(span_put(e[1].map, 300, 0), 300, 0, "%d: commit by the peer", i);
		WANT(speed_reserve(e[0].map, 100, &span, 0), 100, 0, "%d: reserve", i);
		WANT(speed_peek(e[0].map, 300, &got, 0), 300, 0, "%d: peek", i);
		memset(span, 'x', 100);
		WANT(intrude(&e[0], i, false), 2, 0, "%d: another sends", i);
		WANT(intrude(&e[0], i, true), 2, 0, "%d: another receives", i);
		WANT_ERR(speed_commit(e[0].map, 100, 0), ESTALE, "%d: commit", i);
		WANT_ERR(speed_release(e[0].map, 300), ESTALE, "%d: release", i);
		WANT_ERR(speed_commit(e[0].map, 1, 0), EINVAL, "%d: the span is gone", i);
		WANT(recv(e[1].fd, buf, sizeof(buf), 0), 2, 0, "%d: what another sent", i);
		WANT_TRUE(!memcmp(buf, "!!", 2), "%d: its bytes", i);
		WANT_ERR(recv(e[1].fd, buf, 1, MSG_DONTWAIT), EAGAIN, "%d: nothing else", i);
		WANT(span_put(e[0].map, 300, 0), 300, 0, "%d: commit again", i);
		WANT(span_take(e[1].map, 300, 0, 0), 300, 0, "%d: the bytes", i);
		if (t->type == SOCK_STREAM)
			WANT(span_take(e[0].map, 300, 2, 0), 298, 0, "%d: what another left", i);
		WANT(span_put(e[1].map, 50, 300), 50, 0, "%d: commit by the peer", i);
		WANT(span_take(e[0].map, 300, 300, 0), 50, 0, "%d: what came after it", i);
		pair_close(e);
	}
}

/* How many of its calls another thread finds refused as they must be. */
static long refused(void *arg)
{
	const void *got;
	long n = 0;
	void *span;

	n += speed_reserve(arg, 1, &span, 0) == -1 && errno == EBUSY;
	n += speed_peek(arg, 1, &got, 0) == -1 && errno == EBUSY;
	n += speed_commit(arg, 1, 0) == -1 && errno == EINVAL;
	n += speed_release(arg, 1) == -1 && errno == EINVAL;
	return n;
}

static void held(struct speed *s, struct speed *peer)
{
	const void *got;
	struct task k;
	void *span;

	WANT_ERR(speed_reserve(s, 1, &span, MSG_NOSIGNAL), EINVAL, "reserve, a flag");
	WANT_ERR(speed_peek(s, 1, &got, MSG_PEEK), EINVAL, "peek, a flag");
	WANT_ERR(speed_commit(s, 1, 0), EINVAL, "commit, nothing is reserved");
	WANT_ERR(speed_release(s, 1), EINVAL, "release, nothing was peeked at");
	WANT(span_put(peer, 10, 0), 10, 0, "commit by the peer");
	WANT(speed_reserve(s, 10, &span, 0), 10, 0, "reserve");
	WANT(speed_peek(s, 10, &got, 0), 10, 0, "and peek");
	task_start(&k, refused, s);
	WANT(task_join(&k), 4, 0, "another thread");
	WANT_ERR(speed_reserve(s, 1, &span, 0), EDEADLK, "reserve twice");
	WANT_ERR(speed_peek(s, 1, &got, 0), EDEADLK, "peek twice");
	WANT_ERR(speed_commit(s, 11, 0), EINVAL, "commit more than that");
	WANT_ERR(speed_commit(s, 1, MSG_MORE), EINVAL, "commit, a flag");
	WANT_ERR(speed_release(s, 11), EINVAL, "release more than that");
	stream_fill(span, 10, 0);
	WANT(speed_commit(s, 10, 0), 10, 0, "it is still there: commit");
	WANT_OK(speed_release(s, 10), "release");
	WANT(span_take(peer, 10, 0, 0), 10, 0, "the peer has it");
}

/* Who holds a direction keeps it, in the ring and in the private buffer. */
static void busy(const struct transport *t)
{
	struct speed *nomap;
	struct end e[2];
	void *span;

	span_pair(t, e, 0);
	held(e[0].map, e[1].map);
	want_in_ring(e, 1, 1);
	nomap = speed_attach(e[0].fd, SPEED_ATTACH_NOMAP);
	MUST(nomap);
	held(nomap, e[1].map);
	WANT_ERR(speed_reserve(nomap, t->type == SOCK_STREAM ? 0 : SPEED_RING_MAX + 1ul, &span, 0),
		 t->type == SOCK_STREAM ? EINVAL : EMSGSIZE, "reserve none, or too many");
	speed_detach(nomap);
	pair_close(e);
}

/* Where nothing is mapped: its size, what it sends, what it leaves with the socket. */
static void unmapped(const struct transport *t)
{
	bool record = t->type == SOCK_SEQPACKET;
	struct speed *s[2];
	const void *got;
	struct end e[2];
	char buf[3000];
	void *span;

	tp_pair(t, e);
	s[0] = speed_attach(e[0].fd, SPEED_ATTACH_NOMAP);
	s[1] = speed_attach(e[1].fd, SPEED_ATTACH_NOMAP);
	MUST(s[0] && s[1]);
	WANT(speed_reserve(s[0], 100000, &span, 0), record ? 100000 : 65536, 0, "reserve");
	stream_fill(span, 3000, 0);
	WANT(speed_commit(s[0], 3000, 0), 3000, 0, "commit");
	WANT(speed_peek(s[1], 1000, &got, 0), record ? 3000 : 1000, 0, "peek");
	WANT_TRUE(stream_check(got, 1000, 0), "the bytes");
	WANT_OK(speed_release(s[1], SPEED_CANCEL), "cancel");
	WANT(poll_now(e[1].fd, POLLIN), POLLIN, 0, "the socket has them");
	WANT(speed_peek(s[1], 1000, &got, 0), record ? 3000 : 1000, 0, "peek");
	WANT(recv(e[1].fd, buf, sizeof(buf), 0), 3000, 0, "another receives them");
	WANT_ERR(speed_release(s[1], 1000), ESTALE, "release");
	speed_detach(s[0]);
	speed_detach(s[1]);
	pair_close(e);
}

/* The end: read, written to, and after a span was reserved. */
static void ends(const struct transport *t)
{
	const void *got;
	struct end e[2];
	void *span;
	int way;

	catch_signal(SIGPIPE, 0);
	for (way = 0; way < (t->fused ? 1 : 2); way++) {
		span_pair(t, e, 0);
		WANT(span_put(e[1].map, 300, 0), 300, 0, "%d: commit by the peer", way);
		WANT(speed_reserve(e[0].map, 10, &span, 0), 10, 0, "%d: reserve", way);
		if (way)
			end_close(&e[1]);
		else
			MUST(!shutdown(e[0].fd, SHUT_WR) && !shutdown(e[1].fd, SHUT_WR));
		/* Either takes the direction back, if nobody else is at it. */
		WANT_TRUE(speed_commit(e[0].map, 10, MSG_NOSIGNAL) == -1 &&
			  (errno == ESTALE || (way && errno == EPIPE)), "%d: commit", way);
		WANT(caught, t->type == SOCK_STREAM ? way : 0, 0, "%d: no SIGPIPE", way);
		WANT_ERR(span_put(e[0].map, 10, 0), EPIPE, "%d: reserve and commit", way);
		WANT(caught, t->type == SOCK_STREAM ? way + 1 : 0, 0, "%d: SIGPIPE", way);
		WANT(span_take(e[0].map, 1000, 0, 0), 300, 0, "%d: what came before", way);
		WANT(speed_peek(e[0].map, 1, &got, 0), 0, 0, "%d: the end", way);
		WANT_OK(speed_release(e[0].map, 0), "%d: release no bytes", way);
		pair_close(e);
	}
}

#define EACH	(CASE_BOTH | CASE_SPEED | CASE_FUSED)

static const struct test_case cases[] = {
	{ "spans", spans, EACH },
	{ "wrap", wrap, EACH },
	{ "stale", stale, EACH },
	{ "busy", busy, EACH },
	{ "unmapped", unmapped, EACH },
	{ "ends", ends, EACH },
};

RUN_CASES(cases)
