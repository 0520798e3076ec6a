// SPDX-License-Identifier: GPL-2.0
/*
 * What one call under the library leaves to the next: errors that come after bytes, and
 * messages that were sent in part.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "preload/under.h"
#include "tcp_pair.h"

#define LONG_SEND	(16 << 20)	/* more than a connection takes unread */
#define WANTED		200
#define PART		100

static long recv_wanted(void *fd)
{
	char buf[WANTED];

	return recv(*(int *)fd, buf, WANTED, MSG_WAITALL);
}

/* Some bytes of those that a receive waits for, then a reset: told by the next one. */
static void reset_after_bytes(const struct transport *t, const struct under_case *c)
{
	char buf[WANTED] = { 0 };
	struct task k;
	int fd[2];

	under_mapped_pair(t, fd);
	MUST(send(fd[0], "x", 1, 0) == 1);
	MUST(plain_send(fd[1], buf, PART, 0) == PART);
	task_start(&k, recv_wanted, &fd[0]);
	MUST(task_sleeps(&k));
	plain_close(fd[1]);
	NOTE(task_join(&k), "recv(MSG_WAITALL)");
	NOTE(recv(fd[0], buf, 1, 0), "the next");
	NOTE(recv(fd[0], buf, 1, 0), "the one after");
	close(fd[0]);
}

static long recv_messages(void *fd)
{
	char buf[2][PART];
	struct iovec iov[2] = { { buf[0], PART }, { buf[1], PART } };
	struct mmsghdr v[2] = {
		{ .msg_hdr = { .msg_iov = &iov[0], .msg_iovlen = 1 } },
		{ .msg_hdr = { .msg_iov = &iov[1], .msg_iovlen = 1 } },
	};

	return recvmmsg(*(int *)fd, v, 2, 0, NULL);
}

/* The same of two messages. */
static void reset_after_message(const struct transport *t, const struct under_case *c)
{
	char buf[PART] = { 0 };
	struct task k;
	int fd[2];

	under_mapped_pair(t, fd);
	MUST(send(fd[0], "x", 1, 0) == 1);
	task_start(&k, recv_messages, &fd[0]);
	MUST(task_sleeps(&k));
	MUST(plain_send(fd[1], buf, PART, 0) == PART);
	MUST(task_sleeps(&k));
	plain_close(fd[1]);
	NOTE(task_join(&k), "recvmmsg()");
	NOTE(recv(fd[0], buf, 1, 0), "the next");
	close(fd[0]);
}

static long send_much(void *fd)
{
	static char much[LONG_SEND];
	long n = send(*(int *)fd, much, sizeof(much), 0);

	return n > 0 && n < LONG_SEND ? 1 : n;
}

/* A send that waits in the middle ends with what was taken; the next one says why. */
static void reset_after_part(const struct transport *t, const struct under_case *c)
{
	struct task k;
	int fd[2], i;

	for (i = 0; i < 4; i++) {
		under_mapped_pair(t, fd);
		task_start(&k, send_much, &fd[0]);
		MUST(task_sleeps(&k));
		if (i & 1)
			sleep_ms(200);		/* until it waits where TCP does */
		MUST(task_sleeps(&k));
		plain_close(fd[1]);
		NOTE(task_join(&k), "%d: send: a part", i);
		poll_wait(fd[0], POLLHUP, 20000);
		NOTE(send(fd[0], "x", 1, 0), "%d: the next", i);
		NOTE(send(fd[0], "x", 1, 0), "%d: the one after", i);
		close(fd[0]);
	}
}

static int drained_fd;
static volatile long drained;

static void on_alarm(int sig)
{
	static char buf[65536];
	int saved = errno;
	long n;

	(void)sig;
	while ((n = plain_recv(drained_fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		drained += n;
	errno = saved;
}

/* sendmmsg() is interrupted in its first message, and then there is room for the second. */
static void message_in_part(const struct transport *t, const struct under_case *c)
{
	static char much[LONG_SEND];
	struct iovec iov[2] = { { much, LONG_SEND }, { "END", 3 } };
	struct mmsghdr v[2] = {
		{ .msg_hdr = { .msg_iov = &iov[0], .msg_iovlen = 1 } },
		{ .msg_hdr = { .msg_iov = &iov[1], .msg_iovlen = 1 } },
	};
	struct sigaction sa = { .sa_handler = on_alarm };
	struct itimerval soon = {
		.it_value.tv_usec = 300000,
		.it_interval.tv_usec = 300000,	/* it may not wait yet */
	};
	int fd[2];

	under_mapped_pair(t, fd);
	drained_fd = fd[1];
	on_alarm(0);		/* what it calls is looked up here, and not in a handler */
	MUST(sigaction(SIGALRM, &sa, NULL) == 0);
	MUST(setitimer(ITIMER_REAL, &soon, NULL) == 0);
	NOTE(sendmmsg(fd[0], v, 2, 0), "messages, the last in part");
	MUST(setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL) == 0);
	WANT_TRUE(v[0].msg_len > 0 && v[0].msg_len < LONG_SEND, "a part");
	shutdown(fd[0], SHUT_WR);
	while (drained < v[0].msg_len && poll_wait(fd[1], POLLIN, 5000) & POLLIN)
		on_alarm(0);
	on_alarm(0);
	WANT_TRUE(drained == v[0].msg_len, "as many bytes came");
	tcp_close(fd);
}

static const struct under_case cases[] = {
	{ "reset_after_bytes", reset_after_bytes, UNDER_BOTH, 4, 4 },
	{ "reset_after_message", reset_after_message, UNDER_BOTH, 4, 4 },
	{ "reset_after_part", reset_after_part, UNDER_BOTH, 4, 4 },
	{ "message_in_part", message_in_part, UNDER_BOTH, 4, 4 },
};

UNDER_CASES(cases)
