// SPDX-License-Identifier: GPL-2.0
/* Signals: EINTR and restarting. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caught.h"
#include "harness.h"

/* Interrupts a task that sleeps, until it has noticed. */
static void interrupt(struct task *k)
{
	int before = caught;

	MUST(pthread_kill(k->thread, SIGUSR1) == 0);
	while (caught == before)
		sleep_ms(1);
}

static void recv_interrupted(const struct transport *t)
{
	struct end e[2];
	char buf[16];
	struct call c = { &e[0], buf, 16, 0 };
	struct task k;
	int i;

	catch_signal(SIGUSR1, 0);
	tp_pair(t, e);
	for (i = 0; i < 3; i++) {
		task_start(&k, call_recv, &c);
		trace_num(task_sleeps(&k), "recv waits");
		interrupt(&k);
		NOTE(task_join(&k), "recv");
		NOTE(end_send(&e[1], "abc", 3, 0), "send");
		NOTE(end_recv(&e[0], buf, 16, 0), "recv, undisturbed");
	}
	c.flags = MSG_WAITALL;
	task_start(&k, call_recv, &c);
	NOTE(end_send(&e[1], "abc", 3, 0), "send");
	trace_num(task_sleeps(&k), t->type == SOCK_STREAM ? "recv with WAITALL waits" :
		  "recv with WAITALL has a message");
	if (t->type == SOCK_STREAM)
		interrupt(&k);
	NOTE(task_join(&k), "recv with WAITALL returns what it has");
	pair_close(e);
}

static void recv_restarted(const struct transport *t)
{
	struct end e[2];
	char buf[16];
	struct call c = { &e[0], buf, 16, 0 };
	struct task k;
	int i;

	catch_signal(SIGUSR1, SA_RESTART);
	tp_pair(t, e);
	for (i = 0; i < 3; i++) {
		task_start(&k, call_recv, &c);
		trace_num(task_sleeps(&k), "recv waits");
		interrupt(&k);
		trace_num(task_sleeps(&k), "recv waits on");
		NOTE(end_send(&e[1], "abc", 3, 0), "send");
		NOTE(task_join(&k), "recv");
	}
	pair_close(e);
}

/* A transfer that has bytes to return is not restarted. */
static void recv_part_restarted(const struct transport *t)
{
	struct end e[2];
	char buf[16];
	struct call c = { &e[0], buf, 16, MSG_WAITALL };
	struct task k;

	catch_signal(SIGUSR1, SA_RESTART);
	tp_pair(t, e);
	NOTE(end_send(&e[1], "abc", 3, 0), "send before");
	task_start(&k, call_recv, &c);
	trace_num(task_sleeps(&k), "recv of three waits for more");
	interrupt(&k);
	NOTE(task_join(&k), "recv");
	task_start(&k, call_recv, &c);
	trace_num(task_sleeps(&k), "recv of nothing waits");
	interrupt(&k);
	trace_num(task_sleeps(&k), "recv waits on");
	NOTE(end_send(&e[1], "abcde", 5, 0), "send meanwhile");
	trace_num(task_sleeps(&k), "recv of five waits for more");
	interrupt(&k);
	NOTE(task_join(&k), "recv");
	pair_close(e);
}

static void send_part_restarted(const struct transport *t)
{
	static char buf[32 << 20];	/* more than any buffer takes */
	long sent, got = 0, n;
	struct end e[2];
	struct call c;
	struct task k;

	catch_signal(SIGUSR1, SA_RESTART);
	tp_pair(t, e);
	c = (struct call){ &e[0], buf, sizeof(buf), 0 };
	task_start(&k, call_send, &c);
	trace_num(task_sleeps(&k), "send of a part waits");
	interrupt(&k);
	sent = task_join(&k);
	trace_num(sent > 0 && sent < (long)sizeof(buf), "send of a part");
	while (got < sent && (n = end_recv(&e[1], buf, sizeof(buf), 0)) > 0)
		got += n;
	trace_num(got == sent, "that part came");
	NOTE(end_recv(&e[1], buf, 1, MSG_DONTWAIT), "nothing more");
	pair_close(e);
}

#define OFTEN_MS	2
#define OFTEN		1500
#define OFTEN_BYTES	600000	/* more than a ring; TCP accepts more, if not always as much */

/* Returns what is accepted unread, or enough. */
static long fill(const struct transport *t)
{
	static char buf[4096];
	struct end e[2];
	long full = 0, before, n;

	tp_pair(t, e);
	do {
		before = full;
		while ((n = end_send(&e[0], buf, sizeof(buf), MSG_DONTWAIT)) > 0)
			full += n;
		sleep_ms(20);
	} while (full > before && full < 2 * OFTEN_BYTES);
	pair_close(e);
	return full / 2 < OFTEN_BYTES ? full / 2 : OFTEN_BYTES;
}

/* Signals that come again and again do not keep a sender from what room there is. */
static void send_often_restarted(const struct transport *t)
{
	long len = fill(t);
	char *buf = calloc(1, len);
	struct end e[2];
	struct call c = { &e[0], buf, len, 0 };
	struct task k;
	int i;

	MUST(buf);
	catch_signal(SIGUSR1, SA_RESTART);
	tp_pair(t, e);
	task_start(&k, call_send_all, &c);
	for (i = 0; i < OFTEN && !task_ends(&k, 0); i++) {
		pthread_kill(k.thread, SIGUSR1);
		sleep_ms(OFTEN_MS);
	}
	trace_num(i < OFTEN, "accepted before long");
	shutdown(e[1].fd, SHUT_RDWR);
	shutdown(e[0].fd, SHUT_RDWR);
	task_join(&k);
	pair_close(e);
	free(buf);
}

/* A time limit is not restarted, whatever the handler asks for. */
static void recv_with_limit(const struct transport *t)
{
	struct end e[2];
	char buf[16];
	struct call c = { &e[0], buf, 16, 0 };
	struct task k;

	catch_signal(SIGUSR1, SA_RESTART);
	tp_pair(t, e);
	NOTE(set_timeout(e[0].fd, SO_RCVTIMEO, 60000), "SO_RCVTIMEO");
	task_start(&k, call_recv, &c);
	trace_num(task_sleeps(&k), "recv waits");
	interrupt(&k);
	NOTE(task_join(&k), "recv");
	pair_close(e);
}

static void send_interrupted(const struct transport *t)
{
	struct end e[2];
	char buf[4096] = { 0 };
	struct call c = { &e[0], buf, sizeof(buf), 0 };
	struct task k;

	catch_signal(SIGUSR1, 0);
	tp_pair(t, e);
	end_fill(&e[0], sizeof(buf));
	while (end_send(&e[0], buf, 1, MSG_DONTWAIT) == 1)
		;
	task_start(&k, call_send, &c);
	trace_num(task_sleeps(&k), "send waits");
	interrupt(&k);
	NOTE(task_join(&k), "send");
	catch_signal(SIGUSR1, SA_RESTART);
	task_start(&k, call_send, &c);
	trace_num(task_sleeps(&k), "send waits");
	interrupt(&k);
	trace_num(task_sleeps(&k), "send waits on");
	trace_num(end_discard(&e[1]) > 0, "drain");
	NOTE(task_join(&k), "send");
	pair_close(e);
}

static long call_accept(void *fd)
{
	return accept(*(int *)fd, NULL, NULL);
}

static void accept_interrupted(const struct transport *t)
{
	struct address a;
	int listener = tp_listen(t, 1, &a), client;
	struct task k;

	catch_signal(SIGUSR1, 0);
	task_start(&k, call_accept, &listener);
	trace_num(task_sleeps(&k), "accept waits");
	interrupt(&k);
	NOTE(task_join(&k), "accept");
	catch_signal(SIGUSR1, SA_RESTART);
	task_start(&k, call_accept, &listener);
	trace_num(task_sleeps(&k), "accept waits");
	interrupt(&k);
	trace_num(task_sleeps(&k), "accept waits on");
	client = tp_connect(t, &a);
	trace_num(task_join(&k) >= 0, "accept");
	close(client);
	close(listener);
}

static long call_connect(void *arg)
{
	struct { int fd; struct address a; } *c = arg;

	return connect_to(c->fd, &c->a);
}

static void connect_interrupted(const struct transport *t)
{
	struct { int fd; struct address a; } c;
	int listener = tp_listen(t, 0, &c.a), first = tp_connect(t, &c.a);
	struct task k;

	catch_signal(SIGUSR1, 0);
	c.fd = tp_socket(t, 0);
	task_start(&k, call_connect, &c);
	trace_num(task_sleeps(&k), "connect waits");
	interrupt(&k);
	NOTE(task_join(&k), "connect");
	close(accept(listener, NULL, NULL));
	NOTE(connect_to(c.fd, &c.a), "connect, undisturbed");
	close(c.fd);
	close(first);
	close(listener);
}

/* A storm of signals over a stream: no byte is lost or comes twice. */
static void storm(const struct transport *t)
{
	size_t total = 2 << 20, got = 0;
	static char buf[100000];
	struct end e[2];
	struct call c;
	struct task k;
	int wrong = 0, i;

	catch_signal(SIGUSR1, SA_RESTART);
	stream_fill(buf, sizeof(buf), 0);
	tp_pair(t, e);
	for (i = 0; got < total && !wrong; i++) {
		size_t part = 0;

		c = (struct call){ &e[0], buf, sizeof(buf), 0 };
		task_start(&k, call_send_all, &c);
		while (part < sizeof(buf) && !wrong) {
			char in[3000];
			ssize_t n;

			if (!__atomic_load_n(&k.done, __ATOMIC_ACQUIRE))
				pthread_kill(k.thread, SIGUSR1);
			n = end_recv(&e[1], in, sizeof(in), 0);
			wrong += n <= 0 || memcmp(in, buf + part, n);
			part += n > 0 ? n : 0;
		}
		wrong += task_join(&k) != sizeof(buf);
		got += part;
	}
	trace_num(wrong, "wrong");
	NOTE(end_recv(&e[1], buf, 1, MSG_DONTWAIT), "nothing more");
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "recv_interrupted", recv_interrupted, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "recv_restarted", recv_restarted, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "recv_part_restarted", recv_part_restarted, CASE_STREAM | CASE_TCP | CASE_PATHS },
	{ "send_part_restarted", send_part_restarted, CASE_STREAM | CASE_TCP | CASE_PATHS },
	{ "send_often_restarted", send_often_restarted, CASE_STREAM | CASE_TCP | CASE_PATHS },
	{ "recv_with_limit", recv_with_limit, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "send_interrupted", send_interrupted, CASE_BOTH | CASE_PATHS },
	{ "accept_interrupted", accept_interrupted, CASE_BOTH | CASE_TCP },
	{ "connect_interrupted", connect_interrupted, CASE_BOTH },
	{ "storm", storm, CASE_ALL },
};

RUN_CASES(cases)
