// SPDX-License-Identifier: GPL-2.0
/*
 * What one call under the library leaves to the next: errors that come after bytes,
 * messages that were sent in part, bytes that it should have taken, and errno.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/under.h"
#include "slow_page.h"
#include "tcp_pair.h"

#define LONG_SEND	(16 << 20)	/* more than a connection takes unread */
#define WANTED		200
#define PART		100
#define PIECE		32768		/* what the library copies at a time */
#define SOON_MS		20000

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

/* Until so many bytes are there to be read: whether they came. */
static bool has_bytes(int fd, int bytes)
{
	long until = now_ms() + SOON_MS;
	int have = 0;

	do
		MUST(ioctl(fd, FIONREAD, &have) == 0);
	while (have < bytes && now_ms() < until);
	return have == bytes;
}

static ssize_t read_two(int fd, char *buf)
{
	struct iovec iov[2] = { { buf, PIECE }, { buf + PIECE, PIECE } };

	return readv(fd, iov, 2);
}

/* Two buffers take what there is, whatever the first call has seen of it. */
static void two_buffers(const struct transport *t, const struct under_case *c)
{
	static char buf[3 * PIECE];
	int fd[2], i;

	for (i = 1; i < 4; i++) {
		under_mapped_pair(t, fd);
		MUST(plain_send(fd[1], buf, 3 * PIECE, 0) == 3 * PIECE);
		MUST(has_bytes(fd[0], 3 * PIECE));
		NOTE(read_two(fd[0], buf), "%d: two of three", i);
		MUST(plain_send(fd[1], buf, i * PIECE / 2, 0) == i * PIECE / 2);
		MUST(has_bytes(fd[0], PIECE + i * PIECE / 2));
		NOTE(read_two(fd[0], buf), "%d: and what came after", i);
		tcp_close(fd);
	}
}

/* A call that moves bytes leaves errno as it was, though it ended early. */
static void errno_kept(const struct transport *t, const struct under_case *c)
{
	static char much[LONG_SEND];
	struct iovec iov[20];
	char buf[WANTED];
	int fd[2], i, err;
	ssize_t ret;

	under_mapped_pair(t, fd);
	for (i = 0; i < 2; i++) {
		MUST(plain_send(fd[1], much, PART, 0) == PART);
		MUST(has_bytes(fd[0], PART));
		errno = 0;
		ret = recv(fd[0], buf, WANTED, MSG_WAITALL | (i ? 0 : MSG_DONTWAIT));
		err = errno;
		NOTE(ret, "a part");
		WANT(err, 0, 0, "errno after a part");
		MUST(set_timeout(fd[0], SO_RCVTIMEO, 100) == 0);
	}
	for (i = 0; i < 20; i++)
		iov[i] = (struct iovec){ much, LONG_SEND / 20 };
	errno = 0;
	ret = sendmsg(fd[0], &(struct msghdr){ .msg_iov = iov, .msg_iovlen = 20 }, MSG_DONTWAIT);
	err = errno;
	WANT_TRUE(ret > 0, "as much as is taken");
	WANT(err, 0, 0, "errno after as much as is taken");
	tcp_close(fd);
}

static long recv_all(void *fd)
{
	static char buf[4 * PIECE];

	return recv(*(int *)fd, buf, sizeof(buf), MSG_WAITALL);
}

static void on_nothing(int sig)
{
	(void)sig;
}

/* Who waits for many has some, another looks at them, and then a signal comes. */
static void signal_after_look(const struct transport *t, const struct under_case *c)
{
	const struct sigaction sa = { .sa_handler = on_nothing };
	static char buf[PART];
	struct task k;
	int fd[2];

	under_mapped_pair(t, fd);
	MUST(sigaction(SIGUSR1, &sa, NULL) == 0);
	MUST(send(fd[0], "x", 1, 0) == 1);
	MUST(plain_send(fd[1], buf, PART, 0) == PART);
	task_start(&k, recv_all, &fd[0]);
	MUST(task_sleeps(&k));
	MUST(plain_send(fd[1], buf, PART / 2, 0) == PART / 2);
	MUST(task_sleeps(&k));
	plain_recv(fd[0], buf, PART, MSG_PEEK | MSG_DONTWAIT);
	MUST(task_sleeps(&k));
	MUST(pthread_kill(k.thread, SIGUSR1) == 0);
	WANT_TRUE(task_ends(&k, SOON_MS), "the signal ends it");
	if (!task_ends(&k, 0))
		plain_close(fd[1]);
	NOTE(task_join(&k), "what had come");
	tcp_close(fd);
}

#define MUCH	(4 * PIECE)
#define PAGE	4096

/* A receive that is held up behind its first piece. */
struct long_recv {
	struct slow_page page;
	int fd;
};

static long recv_long(void *arg)
{
	static char buf[MUCH];
	struct long_recv *r = arg;
	struct iovec iov[3] = {
		{ buf, PIECE }, { r->page.at, PAGE }, { buf, MUCH - PIECE - PAGE },
	};

	return readv(r->fd, iov, 3);
}

static long look(void *fd)
{
	char byte;

	return plain_recv(*(int *)fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
}

/*
 * Who waits for edges takes a receive that falls short for the last: what is left by one
 * that lost its mapping in the middle is told once more.
 */
static void edge_after_short(const struct transport *t, const struct under_case *c)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };
	int fd[2], ep = epoll_create1(0), missed = 0;
	struct task reader, looks;
	static char buf[MUCH];
	struct long_recv r;
	long have;

	under_mapped_pair(t, fd);
	MUST(ep >= 0 && epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &e) == 0);
	MUST(plain_send(fd[1], buf, MUCH, 0) == MUCH);
	MUST(has_bytes(fd[0], MUCH));
	NOTE(epoll_wait(ep, &e, 1, SOON_MS), "the edge");
	r.fd = fd[0];
	slow_page_open(&r.page);
	task_start(&reader, recv_long, &r);
	MUST(task_sleeps(&reader));
	task_start(&looks, look, &fd[0]);
	MUST(under_library() ? task_ends(&looks, SOON_MS) : task_queues(&looks));
	slow_page_give(&r.page, "");
	have = task_join(&reader);
	task_join(&looks);
	WANT_TRUE(have == (under_library() ? PIECE : MUCH), "under the library it fell short");
	if (have < MUCH)
		missed = epoll_wait(ep, &e, 1, SOON_MS) != 1;
	NOTE(missed, "edges missed");
	if (have < MUCH)
		have += recv(fd[0], buf, MUCH, 0);
	NOTE(have, "all of it");
	slow_page_close(&r.page);
	close(ep);
	tcp_close(fd);
}

static const struct under_case cases[] = {
	{ "edge_after_short", edge_after_short, UNDER_BOTH, 4, 4 },
	{ "two_buffers", two_buffers, UNDER_BOTH, 4, 4 },
	{ "errno_kept", errno_kept, UNDER_BOTH, 4, 4 },
	{ "signal_after_look", signal_after_look, UNDER_BOTH, 4, 4 },
	{ "reset_after_bytes", reset_after_bytes, UNDER_BOTH, 4, 4 },
	{ "reset_after_message", reset_after_message, UNDER_BOTH, 4, 4 },
	{ "reset_after_part", reset_after_part, UNDER_BOTH, 4, 4 },
	{ "message_in_part", message_in_part, UNDER_BOTH, 4, 4 },
};

UNDER_CASES(cases)
