// SPDX-License-Identifier: GPL-2.0
/* poll() and select(): the mask in each state, and who is woken. */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

#include "harness.h"

static void note_mask(int fd, const char *when)
{
	trace_mask(poll_now(fd, POLL_EVERY), "poll %s", when);
	trace_mask(poll_now(fd, POLLIN), "poll for IN %s", when);
	trace_mask(poll_now(fd, POLLOUT), "poll for OUT %s", when);
	trace_mask(poll_now(fd, 0), "poll for nothing %s", when);
}

static void states(const struct transport *t)
{
	struct address a;
	struct end e[2];
	int fd = tp_socket(t, 0), client;

	note_mask(fd, "a fresh socket");
	tp_address(t, &a);
	MUST(bind_to(fd, &a) == 0);
	note_mask(fd, "a bound socket");
	MUST(listen(fd, 4) == 0);
	note_mask(fd, "a listener");
	client = tp_connect(t, &a);
	note_mask(fd, "a listener with a client");
	note_mask(client, "a client that waits");
	close(accept(fd, NULL, NULL));
	note_mask(fd, "a listener without");
	note_mask(client, "a client whose peer has gone");
	close(client);
	close(fd);
	fd = tp_socket(t, 0);
	connect_to(fd, &a);
	note_mask(fd, "a socket that was refused");
	close(fd);
	note_mask(fd, "a closed descriptor");

	tp_pair(t, e);
	note_mask(e[0].fd, "a connected socket");
	note_mask(e[1].fd, "an accepted socket");
	pair_close(e);
}

static void data(const struct transport *t)
{
	struct end e[2];
	char buf[16];
	int i;

	tp_pair(t, e);
	for (i = 0; i < 4; i++) {
		NOTE(end_send(&e[0], "abcd", 4, 0), "send");
		note_mask(e[1].fd, "with data");
		NOTE(end_recv(&e[1], buf, 2, 0), "recv a part");
		note_mask(e[1].fd, "with a part left");
		NOTE(end_recv(&e[1], buf, 16, MSG_DONTWAIT), "recv the rest");
		note_mask(e[1].fd, "without data");
		note_mask(e[0].fd, "the sender");
	}
	NOTE(end_send(&e[0], "abcd", 4, 0), "send");
	end_close(&e[0]);
	note_mask(e[1].fd, "with data and the end");
	NOTE(end_recv(&e[1], buf, 16, 0), "recv");
	note_mask(e[1].fd, "at the end");
	NOTE(end_recv(&e[1], buf, 16, 0), "recv of the end");
	note_mask(e[1].fd, "after the end");
	end_close(&e[1]);
}

static void full(const struct transport *t)
{
	struct end e[2];

	tp_pair(t, e);
	end_fill(&e[0], 4096);
	note_mask(e[0].fd, "a full socket");
	note_mask(e[1].fd, "its reader");
	trace_num(end_drain(&e[1], 0) > 0, "drain");
	note_mask(e[0].fd, "a drained socket");
	end_fill(&e[0], 4096);
	end_close(&e[1]);
	note_mask(e[0].fd, "a full socket that was reset");
	end_close(&e[0]);
}

struct wait {
	int fd;
	short events;
	int ms;
};

static long call_poll(void *arg)
{
	struct wait *w = arg;

	return poll_wait(w->fd, w->events, w->ms);
}

static long call_select(void *arg)
{
	struct wait *w = arg;
	fd_set r, o, x;
	int n;

	FD_ZERO(&r);
	FD_ZERO(&o);
	FD_ZERO(&x);
	if (w->events & POLLIN)
		FD_SET(w->fd, &r);
	if (w->events & POLLOUT)
		FD_SET(w->fd, &o);
	FD_SET(w->fd, &x);
	n = select(w->fd + 1, &r, &o, &x, NULL);
	return n * 10 + !!FD_ISSET(w->fd, &r) + 2 * !!FD_ISSET(w->fd, &o) +
	       4 * !!FD_ISSET(w->fd, &x);
}

static void woken_by_data(const struct transport *t, long (*fn)(void *arg))
{
	struct end e[2];
	char buf[16];
	int i;

	tp_pair(t, e);
	for (i = 0; i < 4; i++) {
		struct wait w = { e[1].fd, POLLIN, -1 };
		struct task k;

		task_start(&k, fn, &w);
		trace_num(task_sleeps(&k), "it waits");
		NOTE(end_send(&e[0], "x", 1, 0), "send");
		trace_num(task_join(&k), "it returns");
		NOTE(end_recv(&e[1], buf, 16, 0), "recv");
	}
	pair_close(e);
}

static void woken_by_space(const struct transport *t, long (*fn)(void *arg))
{
	struct end e[2];
	int i;

	tp_pair(t, e);
	for (i = 0; i < 4; i++) {
		struct wait w = { e[0].fd, POLLOUT, -1 };
		struct task k;

		end_fill(&e[0], 4096);
		task_start(&k, fn, &w);
		trace_num(task_sleeps(&k), "it waits");
		trace_num(end_drain(&e[1], 0) > 0, "drain");
		trace_num(task_join(&k), "it returns");
	}
	pair_close(e);
}

static void poll_data(const struct transport *t)
{
	woken_by_data(t, call_poll);
}

static void poll_space(const struct transport *t)
{
	woken_by_space(t, call_poll);
}

static void select_data(const struct transport *t)
{
	woken_by_data(t, call_select);
}

static void select_space(const struct transport *t)
{
	woken_by_space(t, call_select);
}

static void poll_ends(const struct transport *t)
{
	struct end e[2];
	int how;

	for (how = 0; how < 4; how++) {
		struct wait w = { 0, POLLIN | POLLRDHUP, -1 };
		struct task k;

		tp_pair(t, e);
		w.fd = e[1].fd;
		task_start(&k, call_poll, &w);
		trace_num(task_sleeps(&k), "it waits");
		if (how == 3)
			end_close(&e[0]);
		else
			NOTE(shutdown(e[how == 2].fd, how == 1 ? SHUT_WR : SHUT_RDWR), "shutdown");
		trace_mask(task_join(&k), "it returns");
		pair_close(e);
	}
}

static void poll_accept(const struct transport *t)
{
	struct address a;
	int listener = tp_listen(t, 1, &a), client;
	struct wait w = { listener, POLLIN, -1 };
	struct task k;

	task_start(&k, call_poll, &w);
	trace_num(task_sleeps(&k), "it waits");
	client = tp_connect(t, &a);
	trace_mask(task_join(&k), "it returns");
	close(client);
	close(listener);
}

static void times_out(const struct transport *t)
{
	struct end e[2];
	long begin;

	tp_pair(t, e);
	begin = now_ms();
	trace_mask(poll_wait(e[0].fd, POLLIN, 120), "poll with a time limit");
	trace_num(now_ms() - begin >= 60, "not before its time");
	pair_close(e);
}

/* Both directions at once, by one poll. */
static void several(const struct transport *t)
{
	struct end a[2], b[2];
	struct pollfd p[4];
	int i;

	tp_pair(t, a);
	tp_pair(t, b);
	for (i = 0; i < 4; i++)
		p[i] = (struct pollfd){ i < 2 ? a[i].fd : b[i - 2].fd, POLLIN, 0 };
	NOTE(end_send(&a[0], "x", 1, 0), "send on one");
	NOTE(end_send(&b[1], "x", 1, 0), "send on the other");
	MUST(poll_wait(a[1].fd, POLLIN, 20000) && poll_wait(b[0].fd, POLLIN, 20000));
	NOTE(poll(p, 4, -1), "poll of four");
	for (i = 0; i < 4; i++)
		trace_mask(p[i].revents, "mask %d", i);
	p[1].fd = -1;
	NOTE(poll(p, 4, 0), "poll of three");
	trace_mask(p[1].revents, "mask of the ignored one");
	pair_close(a);
	pair_close(b);
}

static const struct test_case cases[] = {
	{ "states", states, CASE_BOTH },
	{ "data", data, CASE_STREAM | CASE_SEQPACKET | CASE_PATHS },
	{ "full", full, CASE_BOTH | CASE_PATHS },
	{ "poll_data", poll_data, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "poll_space", poll_space, CASE_BOTH | CASE_PATHS },
	{ "select_data", select_data, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "select_space", select_space, CASE_BOTH | CASE_PATHS },
	{ "poll_ends", poll_ends, CASE_BOTH | CASE_PATHS },
	{ "poll_accept", poll_accept, CASE_BOTH },
	{ "times_out", times_out, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "several", several, CASE_BOTH | CASE_TCP | CASE_PATHS },
};

RUN_CASES(cases)
