// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that are cancelled in a transfer, under the library: the connection goes on.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/under.h"
#include "tcp_pair.h"

enum { BY_RECV, BY_READ, BY_READV, BY_RECVFROM, BY_RECVMSG, BY_RECVMMSG, BY_WRITE, WAYS };

static void blocked(const int *fd)
{
	static char much[32 << 20];	/* more than any buffer takes */
	char buf[8];
	struct iovec iov = { buf, sizeof(buf) };
	struct mmsghdr msg = { .msg_hdr = { .msg_iov = &iov, .msg_iovlen = 1 } };
	int type;

	pthread_setcanceltype(fd[1] ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED,
			      &type);
	switch (fd[2]) {
	case BY_RECV:		recv(fd[0], buf, 8, 0); break;
	case BY_READ:		read(fd[0], buf, 8); break;
	case BY_READV:		readv(fd[0], &iov, 1); break;
	case BY_RECVFROM:	recvfrom(fd[0], buf, 8, 0, NULL, NULL); break;
	case BY_RECVMSG:	recvmsg(fd[0], &msg.msg_hdr, 0); break;
	case BY_RECVMMSG:	recvmmsg(fd[0], &msg, 1, 0, NULL); break;
	case BY_WRITE:		write(fd[0], much, sizeof(much)); break;
	}
}

/* A task is what can be seen asleep. */
static long be_cancelled(void *arg)
{
	blocked(arg);
	return 0;
}

/* Takes all that was sent. Return: its last bytes are what was sent last. */
static bool drained(int fd[2])
{
	static char buf[1 << 20];
	char last[3] = "";
	ssize_t n;

	while ((n = recv(fd[1], buf, sizeof(buf), 0)) > 0) {
		if (n >= 3) {
			memcpy(last, buf + n - 3, 3);
		} else {
			memmove(last, last + n, 3 - n);
			memcpy(last + 3 - n, buf, n);
		}
	}
	return !n && !memcmp(last, "two", 3);
}

static long send_two(void *arg)
{
	int fd = *(int *)arg;
	long n = send(fd, "two", 3, 0);

	return shutdown(fd, SHUT_WR) ? -1 : n;
}

static void cancel_one(const struct transport *t, bool async, int way)
{
	int arg[3] = { 0, async, way };
	char buf[8];
	struct task k, after;
	void *ret;
	int fd[2];

	under_mapped_pair(t, fd);
	arg[0] = fd[0];
	MUST(send(fd[1], "one", 3, 0) == 3 && recv(fd[0], buf, 8, 0) == 3);
	task_start(&k, be_cancelled, arg);
	MUST(task_sleeps(&k));
	NOTE(pthread_cancel(k.thread), "%d: cancelled", way);
	MUST(pthread_join(k.thread, &ret) == 0);
	/* Of one that has moved bytes some C libraries say how many. */
	WANT_TRUE(way == BY_WRITE || ret == PTHREAD_CANCELED, "%d: it was", way);
	if (way == BY_WRITE) {
		task_start(&after, send_two, &fd[0]);
		WANT_TRUE(drained(fd), "%d: and received", way);
		NOTE(task_join(&after), "%d: after it", way);
	} else {
		NOTE(send(fd[1], "two", 3, 0), "%d: after it", way);
		NOTE(recv(fd[0], buf, 8, 0), "%d: and received", way);
		trace_bytes(buf, 3, "bytes");
		NOTE(recv(fd[0], buf, 8, MSG_DONTWAIT), "%d: nothing more", way);
	}
	NOTE(send(way == BY_WRITE ? fd[1] : fd[0], "back", 4, 0), "%d: the other way", way);
	NOTE(recv(way == BY_WRITE ? fd[0] : fd[1], buf, 8, 0), "%d: and received", way);
	tcp_close(fd);
}

static void cancelling(const struct transport *t, const struct under_case *c)
{
	bool async = !strcmp(c->name, "async");
	int i, often = soak_times(8, 20), n = soak_times(1, 20);

	for (i = 0; i < often; i++)
		cancel_one(t, async, BY_RECV);
	for (i = 0; i < n * WAYS; i++)
		cancel_one(t, async, i % WAYS);
}

static const struct under_case cases[] = {
	{ "deferred", cancelling, UNDER_BOTH, 20, 20 },
	{ "async", cancelling, UNDER_BOTH, 20, 20 },
};

UNDER_CASES(cases)
