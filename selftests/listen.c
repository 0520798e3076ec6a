// SPDX-License-Identifier: GPL-2.0
/* listen() and accept(): states, flags, waiting, the backlog, and closing it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

static void states(const struct transport *t)
{
	struct address a;
	struct end e[2];
	int fd;

	fd = tp_socket(t, 0);
	NOTE(accept(fd, NULL, NULL), "accept on a fresh socket");
	tp_address(t, &a);
	MUST(bind_to(fd, &a) == 0);
	NOTE(accept(fd, NULL, NULL), "accept on a bound socket");
	NOTE(listen(fd, 1), "listen");
	NOTE(listen(fd, 5), "listen again");
	close(fd);
	tp_pair(t, e);
	NOTE(accept(e[0].fd, NULL, NULL), "accept on a connected socket");
	NOTE(listen(e[0].fd, 1), "listen on a connected socket");
	NOTE(listen(e[1].fd, 1), "listen on an accepted socket");
	pair_close(e);
}

static void data_calls(const struct transport *t)
{
	struct address a, b;
	int fd = tp_listen(t, 1, &a), other;
	char c;

	other = tp_listen(t, 1, &b);
	NOTE(send(fd, "x", 1, 0), "send on a listener");
	NOTE(recv(fd, &c, 1, MSG_DONTWAIT), "recv on a listener");
	NOTE(connect_to(fd, &b), "connect a listener");
	NOTE(connect_to(fd, &a), "connect a listener to itself");
	trace_mask(poll_now(fd, POLL_ALL), "poll a listener");
	close(fd);
	close(other);
}

static void nonblocking(const struct transport *t)
{
	struct address a, got;
	int listener = tp_listen(t, 8, &a);
	int fd, client[6], i;

	MUST(set_nonblock(listener, true) == 0);
	NOTE(accept(listener, NULL, NULL), "accept with nobody there");
	for (i = 0; i < 6; i++)
		client[i] = tp_connect(t, &a);
	tp_settle(t);
	trace_mask(poll_now(listener, POLL_ALL), "poll with somebody there");
	fd = accept(listener, NULL, NULL);
	trace_num(fcntl(fd, F_GETFL) & O_NONBLOCK, "accept does not pass O_NONBLOCK on");
	close(fd);
	fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	trace_num(!!(fcntl(fd, F_GETFL) & O_NONBLOCK), "accept4 SOCK_NONBLOCK");
	trace_num(!!(fcntl(fd, F_GETFD) & FD_CLOEXEC), "accept4 SOCK_CLOEXEC");
	close(fd);
	NOTE(accept4(listener, NULL, NULL, 1), "accept4, unknown flag");
	got.len = -1;
	NOTE(accept(listener, (struct sockaddr *)&got.sa, &got.len), "accept, length -1");
	got.len = sizeof(got.sa);
	NOTE(accept(listener, bad_pointer(), &got.len), "accept, bad pointer");
	got.len = 0;
	fd = accept(listener, (struct sockaddr *)&got.sa, &got.len);
	trace_num(fd >= 0, "accept, no room for the address");
	trace_num(got.len > 0, "its length is told");
	close(fd);
	for (i = 0; i < 6; i++)
		close(client[i]);
	close(listener);
}

static long call_accept(void *fd)
{
	return accept(*(int *)fd, NULL, NULL);
}

static void blocking(const struct transport *t)
{
	struct address a;
	int listener = tp_listen(t, 1, &a), client;
	struct task k;
	long fd;

	task_start(&k, call_accept, &listener);
	trace_num(task_sleeps(&k), "accept waits");
	client = tp_connect(t, &a);
	fd = task_join(&k);
	trace_num(fd >= 0, "and returns");
	NOTE(send(client, "x", 1, 0), "send");
	NOTE(recv(fd, &(char){ 0 }, 1, 0), "recv");
	close(fd);
	close(client);
	close(listener);
}

static void times_out(const struct transport *t)
{
	struct address a;
	int listener = tp_listen(t, 1, &a);
	long begin;

	MUST(set_timeout(listener, SO_RCVTIMEO, 120) == 0);
	begin = ticked_ms();
	NOTE(accept(listener, NULL, NULL), "accept with a time limit");
	trace_num(ticked_ms() - begin >= 60, "not before its time");
	close(listener);
}

static void nobody_listens(const struct transport *t)
{
	int fd = tp_socket(t, 0), bound = tp_socket(t, 0), listener;
	struct address a;

	tp_address(t, &a);
	NOTE(connect_to(fd, &a), "connect where nobody is");
	NOTE(connect_to(fd, &a), "and once more");
	MUST(bind_to(bound, &a) == 0);
	NOTE(connect_to(fd, &a), "connect to a bound socket");
	close(bound);
	listener = tp_listen(t, 1, &a);
	close(listener);
	NOTE(connect_to(fd, &a), "connect to a closed listener");
	listener = tp_listen(t, 1, &a);
	NOTE(connect_to(fd, &a), "connect after it was refused");
	close(listener);
	close(fd);
}

static void shut_listener(const struct transport *t)
{
	struct address a;
	int listener = tp_listen(t, 4, &a), fd = tp_socket(t, 0);
	struct task k;

	task_start(&k, call_accept, &listener);
	trace_num(task_sleeps(&k), "accept waits");
	NOTE(shutdown(listener, SHUT_RDWR), "shutdown");
	NOTE(task_join(&k), "accept after shutdown");
	NOTE(connect_to(fd, &a), "connect after shutdown");
	trace_mask(poll_now(listener, POLL_ALL), "poll after shutdown");
	close(fd);
	close(listener);
}

#define TAKERS		4
#define VISITORS	40

static long take_many(void *listener)
{
	long n = 0;
	int fd;

	while ((fd = accept(*(int *)listener, NULL, NULL)) >= 0) {
		char c = 0;

		recv(fd, &c, 1, 0);
		close(fd);
		if (c == 'q')
			break;
		n++;
	}
	return n;
}

static void many_acceptors(const struct transport *t)
{
	struct address a;
	int listener = tp_listen(t, 8, &a), i;
	struct task k[TAKERS];
	long sum = 0;

	for (i = 0; i < TAKERS; i++)
		task_start(&k[i], take_many, &listener);
	for (i = 0; i < VISITORS + TAKERS; i++) {
		int fd = tp_connect(t, &a);

		send(fd, i < VISITORS ? "v" : "q", 1, 0);
		close(fd);
	}
	for (i = 0; i < TAKERS; i++)
		sum += task_join(&k[i]);
	trace_num(sum, "each was accepted once");
	close(listener);
}

static const struct test_case cases[] = {
	{ "states", states, CASE_BOTH },
	{ "data_calls", data_calls, CASE_BOTH },
	{ "nonblocking", nonblocking, CASE_BOTH | CASE_TCP },
	{ "blocking", blocking, CASE_BOTH | CASE_TCP },
	{ "times_out", times_out, CASE_BOTH | CASE_TCP },
	{ "nobody_listens", nobody_listens, CASE_BOTH | CASE_TCP },
	{ "shut_listener", shut_listener, CASE_BOTH },
	{ "many_acceptors", many_acceptors, CASE_BOTH | CASE_TCP },
};

RUN_CASES(cases)
