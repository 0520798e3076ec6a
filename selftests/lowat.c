// SPDX-License-Identifier: GPL-2.0
/* SO_RCVLOWAT: how many bytes make a receive return, and a poll. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caught.h"
#include "harness.h"

static void receiving(const struct transport *t)
{
	struct end e[2];
	struct call c;
	struct task k;
	char buf[64];

	tp_pair(t, e);
	NOTE(get_int(e[1].fd, SOL_SOCKET, SO_RCVLOWAT), "the default");
	NOTE(set_int(e[1].fd, SOL_SOCKET, SO_RCVLOWAT, 10), "set 10");
	NOTE(get_int(e[1].fd, SOL_SOCKET, SO_RCVLOWAT), "get");
	c = (struct call){ &e[1], buf, 64, 0 };
	task_start(&k, call_recv, &c);
	/* TCP never wakes who has taken some of them already. */
	trace_num(task_sleeps(&k), "recv waits");
	NOTE(end_send(&e[0], "abcd", 4, 0), "send 4");
	trace_num(task_sleeps(&k), "recv waits");
	NOTE(end_send(&e[0], "efgh", 4, 0), "send 4");
	trace_num(task_sleeps(&k), "recv waits");
	NOTE(end_send(&e[0], "ijkl", 4, 0), "send 4");
	NOTE(task_join(&k), "recv");
	trace_bytes(buf, 12, "the bytes");
	pair_close(e);
}

/* With less than it: @ends says what makes the call end, or not. */
static void some_then(const struct transport *t, void (*ends)(struct end *e, struct task *k),
		      int timeout_ms)
{
	struct end e[2];
	struct call c;
	struct task k;
	char buf[64];

	tp_pair(t, e);
	NOTE(set_int(e[1].fd, SOL_SOCKET, SO_RCVLOWAT, 10), "set 10");
	MUST(!set_timeout(e[1].fd, SO_RCVTIMEO, timeout_ms));
	c = (struct call){ &e[1], buf, 64, 0 };
	task_start(&k, call_recv, &c);
	trace_num(task_sleeps(&k), "recv waits");
	NOTE(end_send(&e[0], "abcd", 4, 0), "send 4");
	ends(e, &k);
	NOTE(task_join(&k), "recv");
	pair_close(e);
}

#define IDLE_MS	4000	/* a ring at rest has left its mapping by then */

static void after_rest(struct end *e, struct task *k)
{
	sleep_ms(IDLE_MS);
	NOTE(end_send(&e[0], "efghijkl", 8, 0), "send 8");
	trace_num(task_ends(k, 10000), "recv ends");
	NOTE(end_send(&e[0], "mnopqrstuvw", 11, 0), "send 11");
}

/* Nobody makes who waits take less than it but what made TCP's own. */
static void at_rest(const struct transport *t)
{
	some_then(t, after_rest, 0);
}

static void by_time(struct end *e, struct task *k)
{
	(void)e;
	trace_num(task_ends(k, 10000), "recv ends");
}

static void timed_out(const struct transport *t)
{
	some_then(t, by_time, 5000);
}

static void by_signal(struct end *e, struct task *k)
{
	(void)e;
	trace_num(task_sleeps(k), "recv waits");
	catch_signal(SIGUSR1, 0);
	pthread_kill(k->thread, SIGUSR1);
	trace_num(task_ends(k, 10000), "recv ends");
}

static void interrupted(const struct transport *t)
{
	some_then(t, by_signal, 0);
}

static void by_end(struct end *e, struct task *k)
{
	trace_num(task_sleeps(k), "recv waits");
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	trace_num(task_ends(k, 10000), "recv ends");
}

static void ended(const struct transport *t)
{
	some_then(t, by_end, 0);
}

/* Two that want less than it, woken by what is enough for both: each takes its part. */
static void two_readers(const struct transport *t)
{
	struct call c[2];
	struct task k[2];
	struct end e[2];
	char buf[2][5];
	int i;

	tp_pair(t, e);
	NOTE(set_int(e[1].fd, SOL_SOCKET, SO_RCVLOWAT, 10), "set 10");
	for (i = 0; i < 2; i++) {
		c[i] = (struct call){ &e[1], buf[i], 5, 0 };
		task_start(&k[i], call_recv, &c[i]);
		trace_num(task_sleeps(&k[i]), "recv waits");
	}
	NOTE(end_send(&e[0], "abcdefghij", 10, 0), "send 10");
	for (i = 0; i < 2; i++)
		trace_num(task_ends(&k[i], 10000), "recv ends");
	shutdown(e[0].fd, SHUT_WR);
	for (i = 0; i < 2; i++)
		NOTE(task_join(&k[i]), "recv");
	pair_close(e);
}

/*
 * What the socket tells a reader of something else makes it take what there is: a call for
 * @len bytes, of which four are there. As TCP has it.
 */
static void some_when(const struct transport *t, size_t len, void (*tells)(struct end *e))
{
	struct end e[2];
	struct call c;
	struct task k;
	char buf[64];

	tp_pair(t, e);
	MUST(!set_int(e[1].fd, SOL_SOCKET, SO_RCVLOWAT, 10));
	c = (struct call){ &e[1], buf, len, 0 };
	task_start(&k, call_recv, &c);
	WANT_TRUE(task_sleeps(&k), "recv waits");
	WANT(end_send(&e[0], "abcd", 4, 0), 4, 0, "send 4");
	WANT_TRUE(task_sleeps(&k), "recv waits");
	tells(e);
	WANT_TRUE(task_ends(&k, 10000), "recv ends");
	shutdown(e[0].fd, SHUT_WR);
	WANT(task_join(&k), 4, 0, "recv");
	pair_close(e);
}

static void by_urgent(struct end *e)
{
	WANT(end_send(&e[0], "!", 1, MSG_OOB), 1, 0, "send, urgent");
}

/* The mark wakes whoever waits. */
static void urgent(const struct transport *t)
{
	some_when(t, 64, by_urgent);
}

static void by_own_shutdown(struct end *e)
{
	WANT(shutdown(e[1].fd, SHUT_WR), 0, 0, "shutdown of its own direction");
}

static void shut(const struct transport *t)
{
	some_when(t, 4, by_own_shutdown);
}

static void less_than_it(const struct transport *t)
{
	struct end e[2];
	char buf[64];

	tp_pair(t, e);
	NOTE(set_int(e[1].fd, SOL_SOCKET, SO_RCVLOWAT, 10), "set 10");
	NOTE(end_send(&e[0], "abcdefgh", 8, 0), "send 8");
	tp_settle(t);
	NOTE(end_recv(&e[1], buf, 4, 0), "recv of 4, which is less");
	NOTE(end_recv(&e[1], buf, 64, MSG_DONTWAIT), "recv with DONTWAIT");
	NOTE(end_recv(&e[1], buf, 64, MSG_DONTWAIT), "recv of nothing");
	NOTE(end_send(&e[0], "abc", 3, 0), "send 3");
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	NOTE(end_recv(&e[1], buf, 64, 0), "recv of what is left");
	NOTE(end_recv(&e[1], buf, 64, 0), "recv at the end");
	pair_close(e);
}

static void values(const struct transport *t)
{
	static const int v[] = { 0, 1, 100, -1, 0x7fffffff };
	int fd = tp_socket(t, 0);
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		NOTE(set_int(fd, SOL_SOCKET, SO_RCVLOWAT, v[i]), "set %d", v[i]);
		NOTE(get_int(fd, SOL_SOCKET, SO_RCVLOWAT), "get");
	}
	NOTE(set_int(fd, SOL_SOCKET, SO_SNDLOWAT, 2), "SO_SNDLOWAT cannot be set");
	NOTE(get_int(fd, SOL_SOCKET, SO_SNDLOWAT), "SO_SNDLOWAT");
	close(fd);
}

static void polling(const struct transport *t)
{
	struct end e[2];
	char buf[64];

	tp_pair(t, e);
	NOTE(set_int(e[1].fd, SOL_SOCKET, SO_RCVLOWAT, 10), "set 10");
	NOTE(end_send(&e[0], "abcd", 4, 0), "send 4");
	trace_mask(poll_now(e[1].fd, POLLIN), "poll with 4");
	NOTE(end_send(&e[0], "efghijkl", 8, 0), "send 8");
	trace_mask(poll_now(e[1].fd, POLLIN), "poll with 12");
	NOTE(end_recv(&e[1], buf, 4, 0), "recv 4");
	trace_mask(poll_now(e[1].fd, POLLIN), "poll with 8");
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	trace_mask(poll_now(e[1].fd, POLLIN), "poll with 8 and the end");
	pair_close(e);
}

/* More than the ring holds: what the buffers allow counts, not the ring. */
static void more_than_a_ring(const struct transport *t)
{
	size_t want = 300000;
	char *buf = calloc(1, 2 * want), *in = calloc(1, 2 * want);
	struct end e[2];
	struct call c;
	struct task k;

	MUST(buf && in);
	tp_pair_sized(t, e, 1 << 20);
	NOTE(set_int(e[1].fd, SOL_SOCKET, SO_RCVLOWAT, want), "set");
	c = (struct call){ &e[1], in, 2 * want, 0 };
	task_start(&k, call_recv, &c);
	NOTE(end_send_all(&e[0], buf, want - 1), "send a byte too few");
	trace_num(task_sleeps(&k), "recv waits");
	NOTE(end_send_all(&e[0], buf, 1), "send the last byte");
	NOTE(task_join(&k) >= (long)want, "recv returns them");
	pair_close(e);
	free(in);
	free(buf);
}

static const struct test_case cases[] = {
	{ "receiving", receiving, CASE_ALL | CASE_UNMAPPED },
	{ "at_rest", at_rest, CASE_ALL | CASE_UNMAPPED },
	{ "timed_out", timed_out, CASE_STREAM | CASE_TCP },
	{ "interrupted", interrupted, CASE_STREAM | CASE_TCP },
	{ "ended", ended, CASE_STREAM | CASE_TCP },
	{ "urgent", urgent, CASE_STREAM | CASE_FUSED_ONLY },
	{ "two_readers", two_readers, CASE_STREAM | CASE_TCP },
	{ "shut", shut, CASE_STREAM | CASE_FUSED_ONLY },
	{ "less_than_it", less_than_it, CASE_ALL | CASE_UNMAPPED },
	{ "values", values, CASE_BOTH },
	{ "polling", polling, CASE_STREAM | CASE_PATHS | CASE_UNMAPPED },
	{ "more_than_a_ring", more_than_a_ring, CASE_STREAM | CASE_PATHS | CASE_UNMAPPED },
};

RUN_CASES(cases)
