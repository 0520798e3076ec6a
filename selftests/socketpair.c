// SPDX-License-Identifier: GPL-2.0
/* socketpair(): two ends without an address. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

static void make(const struct transport *t, struct end e[2])
{
	int fd[2];

	MUST(socketpair(t->family, t->type, 0, fd) == 0);
	end_init(t, &e[0], fd[0], 0);
	end_init(t, &e[1], fd[1], 1);
}

static void exchange(const struct transport *t)
{
	struct end e[2];
	char buf[64];
	int i;

	make(t, e);
	for (i = 0; i < 2; i++) {
		trace_mask(poll_now(e[i].fd, POLL_ALL), "poll end %d", i);
		NOTE(end_send(&e[i], "hello", 5, 0), "send from %d", i);
		trace_mask(poll_now(e[!i].fd, POLL_ALL), "poll the other end");
		NOTE(end_recv(&e[!i], buf, sizeof(buf), 0), "recv");
		trace_bytes(buf, 5, "the bytes");
	}
	end_close(&e[0]);
	NOTE(end_recv(&e[1], buf, sizeof(buf), 0), "recv at the end");
	NOTE(end_send(&e[1], "x", 1, 0), "send at the end");
	end_close(&e[1]);
}

static void names(const struct transport *t)
{
	struct address a, named;
	struct end e[2];
	int i;

	make(t, e);
	for (i = 0; i < 2; i++) {
		NOTE(get_sockname(e[i].fd, &a), "getsockname of %d", i);
		trace_num(address_unnamed(&a), "it is unnamed");
		NOTE(get_peername(e[i].fd, &a), "getpeername of %d", i);
		trace_num(address_unnamed(&a), "it is unnamed, too");
	}
	tp_address(t, &named);
	NOTE(connect_to(e[0].fd, &named), "connect an end");
	NOTE(bind_to(e[0].fd, &named), "bind an end");
	NOTE(get_peername(e[1].fd, &a), "getpeername after that");
	trace_num(address_equal(&a, &named), "it is the name");
	NOTE(listen(e[0].fd, 1), "listen on an end");
	NOTE(accept(e[0].fd, NULL, NULL), "accept on an end");
	pair_close(e);
}

static void arguments(const struct transport *t)
{
	int fd[2];

	NOTE(socketpair(t->family, t->type, 99, fd), "protocol 99");
	NOTE(socketpair(t->family, SOCK_RDM, 0, fd), "SOCK_RDM");
	NOTE(socketpair(t->family, t->type | 0x10000, 0, fd), "unknown flag");
	NOTE(socketpair(t->family, t->type, 0, bad_pointer()), "bad pointer");
	MUST(socketpair(t->family, t->type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd) == 0);
	trace_num(!!(fcntl(fd[0], F_GETFL) & O_NONBLOCK), "SOCK_NONBLOCK");
	trace_num(!!(fcntl(fd[1], F_GETFL) & O_NONBLOCK), "SOCK_NONBLOCK of the other");
	trace_num(!!(fcntl(fd[0], F_GETFD) & FD_CLOEXEC), "SOCK_CLOEXEC");
	trace_num(!!(fcntl(fd[1], F_GETFD) & FD_CLOEXEC), "SOCK_CLOEXEC of the other");
	NOTE(recv(fd[0], &(char){ 0 }, 1, 0), "recv, non-blocking");
	close(fd[0]);
	close(fd[1]);
}

static void credentials(const struct transport *t)
{
	struct ucred c;
	struct end e[2];
	int i;

	make(t, e);
	for (i = 0; i < 2; i++) {
		socklen_t len = sizeof(c);

		memset(&c, 0xff, sizeof(c));
		NOTE(getsockopt(e[i].fd, SOL_SOCKET, SO_PEERCRED, &c, &len), "SO_PEERCRED %d", i);
		trace_num(c.pid == getpid(), "pid");
		trace_num(c.uid == geteuid() && c.gid == getegid(), "uid and gid");
	}
	pair_close(e);
}

static int child_echo(void *arg)
{
	struct end *e = arg;
	char buf[64];
	ssize_t n;

	close(e[0].fd);
	while ((n = end_recv(&e[1], buf, sizeof(buf), 0)) > 0) {
		if (end_send(&e[1], buf, n, 0) != n)
			return 1;
	}
	return n == 0 ? 0 : 2;
}

/* What a socketpair is mostly for. */
static void parent_and_child(const struct transport *t)
{
	struct end e[2];
	char buf[64];
	pid_t child;
	int i;

	make(t, e);
	child = process_start(child_echo, e);
	end_close(&e[1]);
	for (i = 1; i <= 20; i++) {
		stream_fill(buf, i, i);
		if (end_send(&e[0], buf, i, 0) != i || end_recv_all(&e[0], buf, i) != i ||
		    !stream_check(buf, i, i))
			trace_num(i, "wrong echo");
	}
	end_close(&e[0]);
	trace_num(process_join(child), "the child");
}

static const struct test_case cases[] = {
	{ "exchange", exchange, CASE_BOTH | CASE_PATHS },
	{ "names", names, CASE_BOTH },
	{ "arguments", arguments, CASE_BOTH },
	{ "credentials", credentials, CASE_BOTH },
	{ "parent_and_child", parent_and_child, CASE_BOTH | CASE_PATHS },
};

RUN_CASES(cases)
