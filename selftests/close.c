// SPDX-License-Identifier: GPL-2.0
/* Closing, by close() and by death: what the other side reads, and what it is told. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness.h"

static void note_after(const struct transport *t, struct end *e)
{
	char buf[16];
	int i;

	trace_mask(poll_now(e->fd, POLL_ALL), "poll");
	for (i = 0; i < 4; i++)
		NOTE(end_recv(e, buf, 4, MSG_DONTWAIT), "recv %d", i);
	trace_mask(poll_now(e->fd, POLL_ALL), "poll after recv");
	NOTE(get_int(e->fd, SOL_SOCKET, SO_ERROR), "SO_ERROR");
}

static void quiet(const struct transport *t)
{
	struct end e[2];
	int side;

	for (side = 0; side < 2; side++) {
		tp_pair(t, e);
		end_close(&e[side]);
		tp_settle(t);
		note_after(t, &e[!side]);
		end_close(&e[!side]);
	}
}

static void quiet_send(const struct transport *t)
{
	struct end e[2];

	tp_pair(t, e);
	end_close(&e[1]);
	NOTE(end_send(&e[0], "x", 1, 0), "send");
	NOTE(end_send(&e[0], "x", 1, MSG_DONTWAIT), "send again");
	note_after(t, &e[0]);
	end_close(&e[0]);
}

static void in_flight(const struct transport *t)
{
	struct end e[2];
	int side;

	for (side = 0; side < 2; side++) {
		tp_pair(t, e);
		NOTE(end_send(&e[side], "inflight", 8, 0), "send");
		end_close(&e[side]);
		tp_settle(t);
		note_after(t, &e[!side]);
		end_close(&e[!side]);
	}
}

/* Closed with bytes that it never read: the peer is told that they are lost. */
static void unread(const struct transport *t)
{
	struct end e[2];
	int side;

	for (side = 0; side < 2; side++) {
		tp_pair(t, e);
		NOTE(end_send(&e[!side], "lost", 4, 0), "send");
		tp_settle(t);
		end_close(&e[side]);
		tp_settle(t);
		note_after(t, &e[!side]);
		end_close(&e[!side]);
	}
}

static void unread_send(const struct transport *t)
{
	struct end e[2];
	char c;

	tp_pair(t, e);
	NOTE(end_send(&e[0], "lost", 4, 0), "send");
	tp_settle(t);
	end_close(&e[1]);
	tp_settle(t);
	NOTE(end_send(&e[0], "x", 1, 0), "send, which learns of it");
	NOTE(end_send(&e[0], "x", 1, 0), "send after that");
	NOTE(end_recv(&e[0], &c, 1, MSG_DONTWAIT), "recv");
	end_close(&e[0]);
}

static void unread_partly(const struct transport *t)
{
	struct end e[2];
	char c[2];

	tp_pair(t, e);
	NOTE(end_send(&e[0], "abcd", 4, 0), "send");
	NOTE(end_send(&e[0], "abcd", 4, 0), "send");
	tp_settle(t);
	NOTE(end_recv(&e[1], c, 2, 0), "recv a part");
	end_close(&e[1]);
	tp_settle(t);
	note_after(t, &e[0]);
	end_close(&e[0]);
}

/* The error that comes after the last byte; see exceptions.h. */
static void unread_waitall(const struct transport *t)
{
	struct end e[2];
	char buf[16];

	tp_pair(t, e);
	NOTE(end_send(&e[0], "lost", 4, 0), "send what is not read");
	NOTE(end_send(&e[1], "inflight", 8, 0), "send what is under way");
	end_close(&e[1]);
	NOTE(end_recv(&e[0], buf, 16, MSG_WAITALL), "recv of more");
	NOTE(end_recv(&e[0], buf, 16, MSG_WAITALL), "recv after that");
	NOTE(end_recv(&e[0], buf, 16, 0), "recv at last");
	end_close(&e[0]);
}

static void unread_and_in_flight(const struct transport *t)
{
	struct end e[2];

	tp_pair(t, e);
	NOTE(end_send(&e[0], "lost", 4, 0), "send what is not read");
	NOTE(end_send(&e[1], "inflight", 8, 0), "send what is under way");
	tp_settle(t);
	end_close(&e[1]);
	tp_settle(t);
	note_after(t, &e[0]);
	end_close(&e[0]);
}

static void lingers(const struct transport *t)
{
	static const struct linger l[] = { { 1, 0 }, { 1, 1 }, { 0, 0 } };
	struct end e[2];
	size_t i;

	for (i = 0; i < 3; i++) {
		tp_pair(t, e);
		NOTE(setsockopt(e[0].fd, SOL_SOCKET, SO_LINGER, &l[i], sizeof(l[i])),
		     "SO_LINGER %zu", i);
		NOTE(end_send(&e[0], "inflight", 8, 0), "send");
		end_close(&e[0]);
		note_after(t, &e[1]);
		end_close(&e[1]);
	}
}

static void full(const struct transport *t)
{
	struct end e[2];
	size_t sent;
	char c;

	tp_pair(t, e);
	sent = end_fill(&e[0], 4096);
	end_close(&e[0]);
	tp_settle(t);
	trace_num(end_drain_late(&e[1], 0, sent) == sent, "all of it came");
	NOTE(end_recv(&e[1], &c, 1, 0), "and the end");
	end_close(&e[1]);
}

static void wakes_reader(const struct transport *t)
{
	struct end e[2];
	char c;
	struct call call = { &e[1], &c, 1, 0 };
	struct task k;

	tp_pair(t, e);
	task_start(&k, call_recv, &call);
	trace_num(task_sleeps(&k), "recv waits");
	end_close(&e[0]);
	NOTE(task_join(&k), "recv");
	end_close(&e[1]);
}

static void wakes_writer(const struct transport *t)
{
	char *buf = calloc(1, 4096);
	struct end e[2];
	struct call call = { &e[0], buf, 4096, 0 };
	struct task k;

	MUST(buf);
	tp_pair(t, e);
	end_fill(&e[0], 4096);
	task_start(&k, call_send, &call);
	trace_num(task_sleeps(&k), "send waits");
	end_close(&e[1]);
	NOTE(task_join(&k), "send");
	end_close(&e[0]);
	free(buf);
}

static int send_and_exit(void *arg)
{
	struct end *e = arg;

	close(e[1].fd);
	return end_send(&e[0], "last words", 10, 0) == 10 ? 0 : 1;
}

static int send_and_die(void *arg)
{
	struct end *e = arg;

	close(e[1].fd);
	if (end_send(&e[0], "last words", 10, 0) != 10)
		return 1;
	return raise(SIGKILL);
}

/* Dies with the socket open; the body then reads what it sent. */
static void by_death(const struct transport *t, int (*child)(void *arg))
{
	struct end e[2];
	char buf[16];

	tp_pair(t, e);
	trace_num(process_join(process_start(child, e)), "the process");
	/* The body's own descriptor of that side was the last one. */
	end_close(&e[0]);
	tp_settle(t);
	NOTE(end_recv(&e[1], buf, sizeof(buf), 0), "recv");
	trace_bytes(buf, 10, "the bytes");
	NOTE(end_recv(&e[1], buf, sizeof(buf), 0), "and the end");
	end_close(&e[1]);
}

static void by_exit(const struct transport *t)
{
	by_death(t, send_and_exit);
}

static void by_kill(const struct transport *t)
{
	by_death(t, send_and_die);
}

/* A pair that belongs to the child alone, so that its death closes it. */
static int connect_and_die(void *arg)
{
	struct { const struct transport *t; struct address a; } *c = arg;
	struct end e;

	end_init(c->t, &e, tp_connect(c->t, &c->a), 0);
	if (end_send(&e, "last", 4, 0) != 4 || end_send(&e, "words", 5, 0) != 5)
		return 1;
	return raise(SIGKILL);
}

static void holder_killed(const struct transport *t)
{
	struct { const struct transport *t; struct address a; } c = { t };
	int listener = tp_listen(t, 4, &c.a);
	pid_t child = process_start(connect_and_die, &c);
	char buf[16];
	struct end e;

	end_init(t, &e, accept(listener, NULL, NULL), 1);
	trace_num(process_join(child), "the process");
	tp_settle(t);
	NOTE(end_recv(&e, buf, 4, MSG_WAITALL), "recv");
	NOTE(end_recv(&e, buf + 4, 5, MSG_WAITALL), "recv");
	trace_bytes(buf, 9, "the bytes");
	NOTE(end_recv(&e, buf, 16, 0), "and the end");
	trace_mask(poll_now(e.fd, POLL_ALL), "poll");
	end_close(&e);
	close(listener);
}

static const struct test_case cases[] = {
	{ "quiet", quiet, CASE_BOTH | CASE_PATHS },
	{ "quiet_send", quiet_send, CASE_BOTH | CASE_PATHS },
	{ "in_flight", in_flight, CASE_BOTH | CASE_PATHS },
	{ "unread", unread, CASE_BOTH | CASE_PATHS },
	{ "unread_send", unread_send, CASE_BOTH | CASE_PATHS },
	{ "unread_partly", unread_partly, CASE_BOTH | CASE_PATHS },
	{ "unread_waitall", unread_waitall, CASE_STREAM | CASE_PATHS },
	{ "unread_and_in_flight", unread_and_in_flight, CASE_BOTH | CASE_PATHS },
	{ "lingers", lingers, CASE_BOTH | CASE_PATHS },
	{ "full", full, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "wakes_reader", wakes_reader, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "wakes_writer", wakes_writer, CASE_BOTH | CASE_PATHS },
	{ "by_exit", by_exit, CASE_BOTH | CASE_TCP | CASE_PATHS | CASE_UNMAPPED },
	{ "by_kill", by_kill, CASE_BOTH | CASE_TCP | CASE_PATHS | CASE_UNMAPPED },
	{ "holder_killed", holder_killed, CASE_BOTH | CASE_PATHS | CASE_UNMAPPED },
};

RUN_CASES(cases)
