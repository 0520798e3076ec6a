// SPDX-License-Identifier: GPL-2.0
/*
 * Signals under the library: handlers that use the connection which they interrupted.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/ticks.h"
#include "preload/under.h"
#include "tcp_pair.h"

#define RECORDS		4000
#define HANDLERS_MIN	10	/* times that a handler must have run in a transfer loop */

struct record {
	int32_t who;	/* 0: the program, 1: its handler */
	int32_t number;
};

static int used_fd;
static volatile int handled;	/* times, and records that the handler moved */
static int wrong;
static int got[2][2];	/* what each of both received last of each sender, and 1 */

static void handler_sends(int sig)
{
	struct record r = { 1, handled };
	int saved = errno;

	if (send(used_fd, &r, sizeof(r), MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(r))
		handled++;
	errno = saved;
}

struct far {
	int fd;
	int next[2];
	int wrong;
};

static void *far_receives(void *arg)
{
	struct far *f = arg;
	struct record r;

	while (recv(f->fd, &r, sizeof(r), MSG_WAITALL) == sizeof(r))
		if ((r.who != 0 && r.who != 1) || f->next[r.who]++ != r.number)
			f->wrong++;
	return NULL;
}

static void sending(const struct transport *t, const struct under_case *c)
{
	int n = soak_times(RECORDS, 20), failed = 0, fd[2];
	struct record r = { 0, 0 };
	struct far f = { 0 };
	pthread_t far;

	under_mapped_pair(t, fd);
	used_fd = fd[0];
	f.fd = fd[1];
	start_apart(&far, far_receives, &f);
	tick(true, handler_sends);
	for (; r.number < n || handled < HANDLERS_MIN; r.number++)
		failed += send(fd[0], &r, sizeof(r), 0) != sizeof(r);
	tick(false, SIG_IGN);
	shutdown(fd[0], SHUT_WR);
	pthread_join(far, NULL);
	WANT(failed, 0, 0, "sends that failed");
	WANT(f.wrong, 0, 0, "lost, doubled or out of order");
	WANT(f.next[0] - r.number, 0, 0, "missing");
	WANT(f.next[1] - handled, 0, 0, "of the handler's missing");
	tcp_close(fd);
}

/* Whoever receives: its own come in order. */
static void take(int by, const struct record *r)
{
	if (r->number < got[by][0])
		wrong++;
	got[by][0] = r->number + 1;
	got[by][1]++;
}

static void handler_receives(int sig)
{
	int saved = errno;
	struct record r;

	if (recv(used_fd, &r, sizeof(r), MSG_DONTWAIT) == sizeof(r))
		take(1, &r);
	errno = saved;
}

static void *far_sends(void *arg)
{
	int *fd = arg;
	struct record r = { 0, 0 };

	for (; r.number < soak_times(RECORDS, 20); r.number++)
		if (send(*fd, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
			break;
	shutdown(*fd, SHUT_WR);
	return NULL;
}

static void receiving(const struct transport *t, const struct under_case *c)
{
	struct record r;
	pthread_t far;
	int fd[2];
	ssize_t n;

	under_mapped_pair(t, fd);
	used_fd = fd[0];
	tick(true, handler_receives);
	start_apart(&far, far_sends, &fd[1]);
	while ((n = recv(fd[0], &r, sizeof(r), 0)) == sizeof(r))
		take(0, &r);
	tick(false, SIG_IGN);
	WANT(n, 0, 0, "the end");
	pthread_join(far, NULL);
	WANT(wrong, 0, 0, "out of order");
	WANT(got[0][1] + got[1][1] - soak_times(RECORDS, 20), 0, 0, "missing or twice");
	tcp_close(fd);
}

static const struct under_case cases[] = {
	{ "send", sending, UNDER_BOTH, 6, 6 },
	{ "receive", receiving, UNDER_BOTH, 6, 6 },
};

UNDER_CASES(cases)
