// SPDX-License-Identifier: GPL-2.0
/* Network namespaces: an address belongs to one, a connection to none. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

static int open_ns(void)
{
	int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	MUST(fd >= 0);
	return fd;
}

static int enter_new(void)
{
	if (geteuid())
		trace_skip("needs root, to make a network namespace");
	MUST(unshare(CLONE_NEWNET) == 0);
	return open_ns();
}

static void enter(int ns)
{
	MUST(setns(ns, CLONE_NEWNET) == 0);
}

static void names(const struct transport *t)
{
	int home = open_ns(), here, there, client, server;
	struct address a;

	here = tp_listen(t, 4, &a);
	enter_new();
	client = tp_socket(t, 0);
	NOTE(connect_to(client, &a), "connect to a name of another namespace");
	there = tp_socket(t, 0);
	NOTE(bind_to(there, &a), "bind the same name here");
	NOTE(listen(there, 4), "listen");
	NOTE(connect_to(client, &a), "connect to the name of this one");
	server = accept(there, NULL, NULL);
	trace_num(server >= 0, "accept of this one");
	MUST(set_nonblock(here, true) == 0);
	NOTE(accept(here, NULL, NULL), "accept of the other one");
	enter(home);
	close(client);
	client = tp_socket(t, 0);
	NOTE(connect_to(client, &a), "connect at home");
	MUST(set_nonblock(there, true) == 0);
	NOTE(accept(there, NULL, NULL), "accept abroad, where nobody came");
	server = accept(here, NULL, NULL);
	trace_num(server >= 0, "accept at home");
}

/* A socket stays in the namespace that it was made in. */
static void socket_stays(const struct transport *t)
{
	int home = open_ns(), listener, client, fresh;
	struct address a;

	listener = tp_listen(t, 4, &a);
	client = tp_socket(t, 0);
	enter_new();
	NOTE(connect_to(client, &a), "connect a socket made at home, from abroad");
	fresh = tp_socket(t, 0);
	enter(home);
	NOTE(connect_to(fresh, &a), "connect a socket made abroad, from home");
	close(listener);
	close(client);
	close(fresh);
}

/* The namespace goes away while sockets of it are open. */
static void teardown(const struct transport *t)
{
	int home = open_ns(), ns = enter_new();
	struct address a;
	struct end e[2];
	char buf[64];
	int listener;

	tp_pair(t, e);
	listener = tp_listen(t, 4, &a);
	enter(home);
	close(ns);
	sleep_ms(50);
	NOTE(end_send(&e[0], "there", 5, 0), "send");
	NOTE(end_recv(&e[1], buf, sizeof(buf), 0), "recv");
	NOTE(end_send(&e[1], "and back", 8, 0), "send back");
	NOTE(end_recv(&e[0], buf, sizeof(buf), 0), "recv back");
	trace_bytes(buf, 8, "the bytes");
	pair_close(e);
	close(listener);
}

/* The pair is there for two processes in two namespaces. */
static int echo_abroad(void *arg)
{
	struct end *e = arg;
	char buf[64];
	ssize_t n;

	if (unshare(CLONE_NEWNET))
		return 1;
	n = end_recv(e, buf, sizeof(buf), 0);
	return n > 0 && end_send(e, buf, n, 0) == n ? 0 : 2;
}

static void across(const struct transport *t)
{
	struct end e[2];
	char buf[64];
	pid_t child;

	if (geteuid())
		trace_skip("needs root, to make a network namespace");
	tp_pair(t, e);
	child = process_start(echo_abroad, &e[1]);
	NOTE(end_send(&e[0], "across", 6, 0), "send");
	NOTE(end_recv(&e[0], buf, sizeof(buf), 0), "recv");
	trace_bytes(buf, 6, "the bytes");
	trace_num(process_join(child), "the process abroad");
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "names", names, CASE_BOTH },
	{ "socket_stays", socket_stays, CASE_BOTH },
	{ "teardown", teardown, CASE_STREAM | CASE_SEQPACKET | CASE_PATHS },
	{ "across", across, CASE_STREAM | CASE_SEQPACKET | CASE_PATHS },
};

RUN_CASES(cases)
