// SPDX-License-Identifier: GPL-2.0
/* The backlog: how many wait, what those do who find it full, and its end. */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "harness.h"

#define MANY	64

/* The number of connects that a backlog takes is AF_UNIX's own. */
static void backlog(const struct transport *t)
{
	static const int backlogs[] = { 0, 1, 3, 10 };
	int client[MANY], i, n, fd;
	struct address a;

	for (i = 0; i < 4; i++) {
		int listener = tp_listen(t, backlogs[i], &a);

		for (n = 0; n < MANY; n++) {
			client[n] = tp_socket(t, SOCK_NONBLOCK);
			if (connect_to(client[n], &a))
				break;
		}
		trace_num(n, "connects with a backlog of %d", backlogs[i]);
		NOTE(connect_to(client[n], &a), "one more, non-blocking");
		trace_mask(poll_now(client[n], POLL_ALL), "poll it");
		fd = accept(listener, NULL, NULL);
		NOTE(connect_to(client[n], &a), "the same one after an accept");
		close(fd);
		for (; n >= 0; n--)
			close(client[n]);
		close(listener);
	}
}

static long call_connect(void *arg)
{
	struct { int fd; struct address a; } *c = arg;

	return connect_to(c->fd, &c->a);
}

static void backlog_waits(const struct transport *t)
{
	struct { int fd; struct address a; } c;
	int listener = tp_listen(t, 0, &c.a);
	int first = tp_connect(t, &c.a), fd;
	struct task k;
	long begin;

	c.fd = tp_socket(t, 0);
	MUST(set_timeout(c.fd, SO_SNDTIMEO, 120) == 0);
	begin = ticked_ms();
	NOTE(connect_to(c.fd, &c.a), "connect with a time limit");
	trace_num(ticked_ms() - begin >= 60, "not before its time");
	MUST(set_timeout(c.fd, SO_SNDTIMEO, 0) == 0);

	task_start(&k, call_connect, &c);
	trace_num(task_sleeps(&k), "connect waits");
	fd = accept(listener, NULL, NULL);
	NOTE(task_join(&k), "and returns");
	close(fd);
	fd = accept(listener, NULL, NULL);
	NOTE(send(fd, "x", 1, 0), "send to who waited");
	NOTE(recv(c.fd, &(char){ 0 }, 1, 0), "recv");
	close(fd);
	close(first);
	close(c.fd);
	close(listener);
}

static void backlog_closes(const struct transport *t)
{
	struct { int fd; struct address a; } c;
	int listener = tp_listen(t, 0, &c.a);
	int first = tp_connect(t, &c.a);
	struct task k;

	c.fd = tp_socket(t, 0);
	task_start(&k, call_connect, &c);
	trace_num(task_sleeps(&k), "connect waits");
	close(listener);
	NOTE(task_join(&k), "and returns when the listener closes");
	close(first);
	close(c.fd);
}

/* Clients whose listener closes before they are accepted. */
static void close_pending(const struct transport *t)
{
	struct address a;
	int listener = tp_listen(t, 4, &a);
	int quiet = tp_connect(t, &a), talked = tp_connect(t, &a);
	char c;

	NOTE(send(talked, "early", 5, 0), "send before accept");
	close(listener);
	tp_settle(t);
	trace_mask(poll_now(quiet, POLL_ALL), "poll the quiet client");
	NOTE(recv(quiet, &c, 1, MSG_DONTWAIT), "recv of the quiet client");
	NOTE(recv(quiet, &c, 1, MSG_DONTWAIT), "and again");
	NOTE(send(quiet, "x", 1, 0), "send of the quiet client");
	trace_mask(poll_now(talked, POLL_ALL), "poll the other client");
	NOTE(send(talked, "x", 1, MSG_NOSIGNAL), "send of the other client");
	NOTE(recv(talked, &c, 1, MSG_DONTWAIT), "recv of the other client");
	close(quiet);
	close(talked);
}

static void early_data(const struct transport *t)
{
	struct address a;
	int listener = tp_listen(t, 4, &a);
	int client = tp_connect(t, &a), fd;
	char buf[16];

	NOTE(send(client, "early", 5, 0), "send before accept");
	close(client);
	fd = accept(listener, NULL, NULL);
	trace_num(fd >= 0, "accept a client that has gone");
	NOTE(recv(fd, buf, sizeof(buf), 0), "recv");
	NOTE(recv(fd, buf, sizeof(buf), 0), "recv at the end");
	close(fd);
	close(listener);
}

static void in_order(const struct transport *t)
{
	struct address a;
	int listener = tp_listen(t, 8, &a), client[5], fd, i;
	char c;

	for (i = 0; i < 5; i++) {
		client[i] = tp_connect(t, &a);
		NOTE(send(client[i], &(char){ 'a' + i }, 1, 0), "send %d", i);
	}
	for (i = 0; i < 5; i++) {
		fd = accept(listener, NULL, NULL);
		c = 0;
		recv(fd, &c, 1, 0);
		trace_num(c, "who came in place %d", i);
		close(fd);
	}
	for (i = 0; i < 5; i++)
		close(client[i]);
	close(listener);
}

static const struct test_case cases[] = {
	{ "backlog", backlog, CASE_BOTH },
	{ "backlog_waits", backlog_waits, CASE_BOTH },
	{ "backlog_closes", backlog_closes, CASE_BOTH },
	{ "close_pending", close_pending, CASE_BOTH },
	{ "early_data", early_data, CASE_BOTH | CASE_TCP },
	{ "in_order", in_order, CASE_BOTH | CASE_TCP },
};

RUN_CASES(cases)
