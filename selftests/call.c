// SPDX-License-Identifier: GPL-2.0
/* Call and reply over the module: by whatever path, and each way in which one ends. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>

#include "caught.h"
#include "harness.h"
#include "task.h"

#define TIMES	300
#define MOST	3000	/* bytes */

/* A connection of which an end is mapped, or makes plain calls alone. */
static void handles(const struct transport *t, struct end e[2], bool map0, bool map1)
{
	struct transport some = *t;
	int i;

	some.path[0] = map0 ? PATH_MAPPED : PATH_KERNEL;
	some.path[1] = map1 ? PATH_MAPPED : PATH_KERNEL;
	tp_pair(&some, e);
	for (i = 0; i < 2; i++) {
		if (!e[i].map)
			e[i].map = speed_attach(e[i].fd, SPEED_ATTACH_NOMAP);
		MUST(e[i].map);
	}
}

struct caller {
	struct end *e;
	const char *req;
	char rep[16];
	size_t len;
	int flags;
};

static long calls(void *arg)
{
	struct caller *c = arg;

	return speed_call(c->e->map, c->req, strlen(c->req), c->rep, c->len, c->flags);
}

/* It has sent what it asks and sleeps. */
static void call_sleeps(struct task *k, struct caller *c)
{
	char buf[16];

	task_start(k, calls, c);
	WANT_TRUE(task_sleeps(k), "the call sleeps");
	WANT(recv(c->e[1].fd, buf, sizeof(buf), MSG_DONTWAIT), strlen(c->req), 0, "the request");
}

/* Answers each request, which tells its number and length, with one of another length. */
static long serve(void *arg)
{
	unsigned char req[MOST], rep[MOST];
	struct end *e = arg;
	long right = 0;
	size_t len = 0;
	ssize_t n;

	while ((n = speed_reply_wait(e->map, len ? rep : NULL, len, req, MOST, 0)) > 0) {
		right += stream_check(req, n, n);
		len = MOST + 1 - n;
		stream_fill(rep, len, len);
	}
	return n ? -1 : right;
}

/* How many answers are right. */
static int ask(struct end *e, int times)
{
	unsigned char req[MOST], rep[MOST];
	int i, right = 0;
	ssize_t len, want;

	for (i = 0; i < times; i++) {
		len = 1 + i * 71 % MOST;
		want = MOST + 1 - len;
		stream_fill(req, len, len);
		right += speed_call(e->map, req, len, rep, want, MSG_WAITALL) == want &&
			 stream_check(rep, want, want);
	}
	return right;
}

static void answers(const struct transport *t)
{
	struct speed_stats s[2];
	struct end e[2];
	struct task k;
	int i;

	for (i = 0; i < 5; i++) {
		handles(t, e, i & 1 || i == 4, i >= 2);
		if (i == 4)
			on_one_processor();
		MUST(!speed_set_spin(e[0].map, 0) && !speed_set_spin(e[1].map, 0));
		task_start(&k, serve, &e[1]);
		WANT(ask(&e[0], TIMES), TIMES, 0, "%d: answers", i);
		MUST(!shutdown(e[0].fd, SHUT_WR));
		WANT(task_join(&k), TIMES, 0, "%d: requests, and the end", i);
		MUST(!speed_get_stats(e[0].map, &s[0]) && !speed_get_stats(e[1].map, &s[1]));
		WANT(s[0].mapped_sends, e[0].path ? TIMES : 0, 0, "%d: requests in the ring", i);
		WANT(s[0].calls, e[0].path ? 0 : 2 * TIMES, 0, "%d: system calls instead", i);
		/* Who sleeps wakes the other by the same entry into the kernel. */
		if (i == 4)
			WANT_TRUE(s[0].waits > TIMES / 2 && s[0].wakes < s[0].waits / 4,
				  "%lu waits, and %lu wakes apart from them",
				  (unsigned long)s[0].waits, (unsigned long)s[0].wakes);
		pair_close(e);
	}
}

/* What is refused; no reply before the first request; an empty message is one, too. */
static void odd(const struct transport *t)
{
	bool record = t->type == SOCK_SEQPACKET;
	struct end e[2];
	char buf[16];
	int i;

	for (i = 0; i < 2; i++) {
		handles(t, e, i, i);
		WANT_ERR(speed_call(e[1].map, "a", 1, buf, 0, 0), EINVAL, "%d: no room", i);
		WANT_ERR(speed_call(e[1].map, "a", 1, buf, 1, MSG_DONTWAIT), EINVAL, "%d: flag", i);
		WANT_ERR(speed_reply_wait(e[1].map, "a", 1, buf, 0, 0), EINVAL, "%d: no room", i);
		WANT_ERR(speed_reply_wait(e[1].map, "a", 1, buf, 1, MSG_PEEK), EINVAL,
			 "%d: flag", i);
		WANT(send(e[0].fd, "ask", 3, 0), 3, 0, "%d: a request", i);
		WANT(speed_reply_wait(e[1].map, NULL, 0, buf, 16, 0), 3, 0, "%d: no reply yet", i);
		WANT_ERR(recv(e[0].fd, buf, 16, MSG_DONTWAIT), EAGAIN, "%d: none was sent", i);
		WANT(send(e[0].fd, "more", 4, 0), 4, 0, "%d: a request", i);
		WANT(speed_reply_wait(e[1].map, "", 0, buf, 16, 0), 4, 0, "%d: an empty reply", i);
		WANT(send(e[1].fd, "done", 4, 0), 4, 0, "%d: a reply", i);
		if (record)
			WANT(recv(e[0].fd, buf, 16, 0), 0, 0, "%d: the empty one", i);
		WANT(speed_call(e[0].map, NULL, 0, buf, 16, 0), 4, 0, "%d: an empty request", i);
		WANT(recv(e[1].fd, buf, 16, MSG_DONTWAIT), record ? 0 : -1, record ? 0 : EAGAIN,
		     "%d: it is a message", i);
		pair_close(e);
	}
}

/* By a shutdown, before a call and in it; by a close, which leaves the request unread. */
static void ended(const struct transport *t)
{
	struct end e[2];
	struct caller c = { e, "what", .len = 16, .flags = MSG_WAITALL };
	struct task k;
	char buf[16];
	int i, pipes = t->type == SOCK_STREAM;	/* as with AF_UNIX */

	catch_signal(SIGPIPE, 0);
	for (i = 0; i < 2; i++) {
		handles(t, e, i, i);
		call_sleeps(&k, &c);
		WANT(send(e[1].fd, "end", 3, 0), 3, 0, "%d: a reply", i);
		if (t->type == SOCK_STREAM)
			WANT_TRUE(task_sleeps(&k), "%d: it waits for all", i);
		WANT_OK(shutdown(e[1].fd, SHUT_WR), "%d: shutdown", i);
		WANT(task_join(&k), 3, 0, "%d: all that there is", i);
		WANT(speed_call(e[0].map, "a", 1, buf, 16, 0), 0, 0, "%d: the end", i);
		WANT_OK(shutdown(e[0].fd, SHUT_WR), "%d: shutdown", i);
		WANT_ERR(speed_call(e[0].map, "a", 1, buf, 16, 0), EPIPE, "%d: call", i);
		WANT(caught, pipes * (i + 1), 0, "%d: SIGPIPE", i);
		WANT_ERR(speed_reply_wait(e[0].map, "a", 1, buf, 16, MSG_NOSIGNAL), EPIPE,
			 "%d: reply", i);
		WANT(caught, pipes * (i + 1), 0, "%d: none with MSG_NOSIGNAL", i);
		WANT(speed_reply_wait(e[0].map, NULL, 0, buf, 16, 0), 0, 0, "%d: no reply", i);
		pair_close(e);

		handles(t, e, i, i);
		task_start(&k, calls, &c);
		WANT_TRUE(task_sleeps(&k), "%d: the call sleeps", i);
		end_close(&e[1]);
		WANT_ERR(task_join(&k), ECONNRESET, "%d: a close", i);
		pair_close(e);
	}
}

static void interrupted(const struct transport *t)
{
	struct end e[2];
	struct caller c = { e, "what", .len = 16 };
	struct task k;
	int i;

	for (i = 0; i < 2; i++) {
		handles(t, e, i, i);
		catch_signal(SIGUSR1, 0);
		call_sleeps(&k, &c);
		pthread_kill(k.thread, SIGUSR1);
		WANT_ERR(task_join(&k), EINTR, "%d: a handler without SA_RESTART", i);
		catch_signal(SIGUSR1, SA_RESTART);
		call_sleeps(&k, &c);
		pthread_kill(k.thread, SIGUSR1);
		while (caught < 2 * i + 2)
			sleep_ms(1);
		WANT_TRUE(task_sleeps(&k), "%d: with SA_RESTART it sleeps again", i);
		WANT(send(e[1].fd, "this", 4, 0), 4, 0, "%d: the reply", i);
		WANT(task_join(&k), 4, 0, "%d: the call", i);
		pair_close(e);
	}
}

/* Half a request is of no use: with SA_RESTART the sending half goes on after a signal. */
static void interrupted_request(const struct transport *t)
{
	static char big[(4 << 20) + 1], in[1 << 16];
	struct end e[2];
	struct caller c = { e, big, .len = 16 };
	long got = 0, n;
	struct task k;

	memset(big, 'a', sizeof(big) - 1);
	handles(t, e, true, true);
	catch_signal(SIGUSR1, SA_RESTART);
	task_start(&k, calls, &c);
	WANT_TRUE(task_sleeps(&k), "the ring is full");
	pthread_kill(k.thread, SIGUSR1);
	while (!caught)
		sleep_ms(1);
	WANT_TRUE(task_sleeps(&k), "it sleeps again");
	while (got < (long)sizeof(big) - 1 && (n = recv(e[1].fd, in, sizeof(in), 0)) > 0)
		got += n;
	WANT(got, sizeof(big) - 1, 0, "the request");
	WANT(send(e[1].fd, "this", 4, 0), 4, 0, "the reply");
	WANT(task_join(&k), 4, 0, "the call");
	pair_close(e);
}

/* SO_RCVTIMEO and O_NONBLOCK end the waiting half, SO_SNDTIMEO the sending one. */
static void timed(const struct transport *t)
{
	struct end e[2];
	char buf[16];
	int i;

	for (i = 0; i < 2; i++) {
		handles(t, e, i, i);
		MUST(!set_timeout(e[0].fd, SO_RCVTIMEO, 150));
		WANT_ERR(speed_call(e[0].map, "a", 1, buf, 16, 0), EAGAIN, "%d: call", i);
		WANT(recv(e[1].fd, buf, 16, 0), 1, 0, "%d: the request has come", i);
		WANT(send(e[1].fd, "late", 4, 0), 4, 0, "%d: a late reply", i);
		WANT(speed_call(e[0].map, "b", 1, buf, 16, 0), 4, 0, "%d: the next has it", i);
		WANT_OK(set_nonblock(e[0].fd, true), "%d: O_NONBLOCK", i);
		WANT_ERR(speed_call(e[0].map, "c", 1, buf, 16, 0), EAGAIN, "%d: call", i);
		MUST(!set_nonblock(e[0].fd, false) && !set_timeout(e[0].fd, SO_SNDTIMEO, 150));
		if (t->speed) {
			MUST(end_fill(&e[0], 1000) && end_fill(&e[0], 1) < 1000);
			WANT_ERR(speed_call(e[0].map, "d", 1, buf, 16, 0), EAGAIN, "%d: full", i);
		}
		pair_close(e);
	}
}

/* Whoever holds a direction loses it to a call, which is made all the same. */
static void held(const struct transport *t)
{
	const void *got;
	struct end e[2];
	char buf[16];
	void *span;

	handles(t, e, true, true);
	WANT(send(e[1].fd, "one", 3, 0), 3, 0, "a reply");
	WANT(speed_reserve(e[0].map, 10, &span, 0), 10, 0, "reserve");
	WANT(speed_peek(e[0].map, 10, &got, 0), 3, 0, "peek");
	WANT(speed_call(e[0].map, "a", 1, buf, 16, 0), 3, 0, "call");
	WANT_ERR(speed_commit(e[0].map, 10, 0), ESTALE, "commit");
	WANT_ERR(speed_release(e[0].map, 3), ESTALE, "release");
	WANT(recv(e[1].fd, buf, 16, 0), 1, 0, "the request alone");
	pair_close(e);
}

static struct speed *handlers;
static atomic_long handler_got;

static void on_call(int sig)
{
	char rep[16];

	handler_got = speed_call(handlers, "ask", 3, rep, 16, 0) ?: -1;
}

/* A handler that interrupted a receive on the same handle calls: neither is lost. */
static void by_handler(const struct transport *t)
{
	struct sigaction sa = { .sa_handler = on_call, .sa_flags = SA_RESTART };
	struct end e[2];
	char buf[16], in[16];
	struct call c = { e, buf, 16, 0 };
	struct task k;

	handles(t, e, true, true);
	handlers = e[0].map;
	MUST(!sigaction(SIGUSR1, &sa, NULL));
	task_start(&k, call_recv, &c);
	WANT_TRUE(task_sleeps(&k), "a receive sleeps");
	pthread_kill(k.thread, SIGUSR1);
	WANT(recv(e[1].fd, in, 16, 0), 3, 0, "the handler's request");
	WANT(send(e[1].fd, "one", 3, 0), 3, 0, "its reply");
	while (!handler_got)
		sleep_ms(1);
	WANT(handler_got, 3, 0, "the handler has it");
	MUST(send(e[1].fd, "two!", 4, 0) == 4);
	WANT(task_join(&k), 4, 0, "what was interrupted goes on");
	WANT_TRUE(!memcmp(buf, "two!", 4), "the bytes");
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "answers", answers, CASE_BOTH | CASE_SPEED | CASE_FUSED },
	{ "odd", odd, CASE_BOTH | CASE_SPEED | CASE_FUSED },
	{ "ended", ended, CASE_BOTH | CASE_SPEED | CASE_FUSED },
	{ "interrupted", interrupted, CASE_BOTH | CASE_SPEED | CASE_FUSED },
	{ "interrupted_request", interrupted_request, CASE_STREAM | CASE_SPEED },
	{ "timed", timed, CASE_BOTH | CASE_SPEED | CASE_FUSED },
	{ "held", held, CASE_BOTH | CASE_SPEED | CASE_FUSED },
	{ "by_handler", by_handler, CASE_BOTH | CASE_SPEED | CASE_FUSED },
};

RUN_CASES(cases)
