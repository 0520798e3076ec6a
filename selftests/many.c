// SPDX-License-Identifier: GPL-2.0
/*
 * Thousands of connections open at once: each carries its own bytes, both ways
 * and by both paths, is listed, and leaves nothing behind.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "epolling.h"
#include "stress.h"

#define CONNECTIONS	1000	/* ten times more in the long form */
#define MAPPED_EVERY	20	/* by both paths: every 20th is mapped */

struct crowd {
	int n;
	struct end (*e)[2];
};

static void need_descriptors(int n)
{
	struct rlimit r = { n, n };
	char text[32];

	if (setrlimit(RLIMIT_NOFILE, &r) && file_read("/proc/sys/fs/nr_open", text, sizeof(text)))
		trace_skip("needs %d descriptors", n);
	MUST(getrlimit(RLIMIT_NOFILE, &r) == 0);
	if ((int)r.rlim_cur < n)
		trace_skip("needs %d descriptors, has %lu", n, (unsigned long)r.rlim_cur);
}

/* So that all have memory at once. */
static void small(int fd)
{
	MUST(set_int(fd, SOL_SOCKET, SO_SNDBUF, 2048) == 0);
	MUST(set_int(fd, SOL_SOCKET, SO_RCVBUF, 2048) == 0);
}

static void crowd_open(const struct transport *t, struct crowd *c)
{
	struct transport plain = *t;
	int listener, i, side;
	struct address a;

	plain.path[0] = plain.path[1] = PATH_KERNEL;
	c->n = soak_times(CONNECTIONS, 10);
	need_descriptors(2 * c->n + 100);
	c->e = calloc(c->n, sizeof(*c->e));
	MUST(c->e);
	tp_address(t, &a);
	listener = tp_socket(t, SOCK_CLOEXEC);
	small(listener);
	MUST(bind_to(listener, &a) == 0 && listen(listener, 16) == 0);
	for (i = 0; i < c->n; i++) {
		const struct transport *u = i % MAPPED_EVERY ? &plain : t;
		int fd[2];

		fd[0] = tp_socket(t, 0);
		small(fd[0]);
		MUST(connect_to(fd[0], &a) == 0);
		fd[1] = accept(listener, NULL, NULL);
		MUST(fd[1] >= 0);
		for (side = 0; side < 2; side++)
			end_init(u, &c->e[i][side], fd[side], side);
	}
	close(listener);
}

/* The number of the connection, from side to side, all sent before one is read. */
static long all_carry(struct crowd *c, int from)
{
	uint64_t number;
	long wrong = 0;
	int i;

	for (i = 0; i < c->n; i++) {
		number = i * 2 + from;
		wrong += end_send(&c->e[i][from], &number, sizeof(number), 0) != sizeof(number);
	}
	for (i = c->n; i-- > 0;) {
		wrong += end_recv(&c->e[i][!from], &number, sizeof(number), MSG_DONTWAIT) !=
			 sizeof(number);
		wrong += number != (uint64_t)i * 2 + from;
	}
	return wrong;
}

static long found_by_epoll(struct crowd *c)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), i, n = c->n > 64 ? 64 : c->n;
	struct epoll_event ev;
	long wrong = 0;
	char byte;

	MUST(ep >= 0);
	for (i = 0; i < c->n; i++) {
		ev = (struct epoll_event){ .events = EPOLLIN, .data.u32 = i };
		MUST(epoll_ctl(ep, EPOLL_CTL_ADD, c->e[i][1].fd, &ev) == 0);
	}
	wrong += epoll_wait(ep, &ev, 1, 0) != 0;
	for (i = 0; i < n; i++) {
		int which = (i * 7919) % c->n;

		wrong += end_send(&c->e[which][0], "!", 1, 0) != 1;
		wrong += epoll_wait(ep, &ev, 1, 20000) != 1 || (int)ev.data.u32 != which;
		wrong += end_recv(&c->e[which][1], &byte, 1, 0) != 1;
	}
	close(ep);
	return wrong;
}

static void open_at_once(const struct transport *t)
{
	int before = sockets_listed(), i;
	struct crowd c;

	crowd_open(t, &c);
	WANT(sockets_settle(before + 2 * c.n), before + 2 * c.n, 0, "sockets listed");
	WANT(all_carry(&c, 0), 0, 0, "wrong, one way");
	WANT(all_carry(&c, 1), 0, 0, "wrong, the other way");
	WANT(found_by_epoll(&c), 0, 0, "wrong, by epoll");
	WANT(all_carry(&c, 0), 0, 0, "wrong, again");
	for (i = 0; i < c.n; i++)
		end_close(&c.e[i][i & 1]);
	for (i = 0; i < c.n; i++) {
		char byte;

		if (end_recv(&c.e[i][!(i & 1)], &byte, 1, 0) != 0)
			break;
		end_close(&c.e[i][!(i & 1)]);
	}
	WANT(i, c.n, 0, "ends seen");
	WANT(sockets_settle(before), before, 0, "sockets left");
	free(c.e);
}

/* All of them when their process is killed: the kernel closes them. */
static int holds(void *arg)
{
	struct crowd c;

	crowd_open(arg, &c);
	all_carry(&c, 0);
	raise(SIGKILL);
	return 0;
}

static void killed_at_once(const struct transport *t)
{
	int before = sockets_listed();

	WANT(process_join(process_start(holds, (void *)t)), -SIGKILL, 0, "a process with many");
	WANT(sockets_settle(before), before, 0, "sockets left");
}

static const struct test_case cases[] = {
	{ "open_at_once", open_at_once,
	  CASE_BOTH | CASE_SPEED | CASE_PATHS | CASE_LONG | CASE_UNMAPPED },
	{ "killed_at_once", killed_at_once, CASE_BOTH | CASE_SPEED | CASE_LONG },
};

RUN_CASES(cases)
