// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that share a connection under the library: by fork, vfork, posix_spawn, exec
 * and SCM_RIGHTS, with numbers that are doubled and closed at the same time. Whoever
 * sends numbers its records: none is lost, doubled or out of order. Whoever receives
 * writes down what it got: each record came once.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/under.h"
#include "tcp_pair.h"

#define RECORDS		300	/* of each process */
#define PROCESSES	4	/* one after the other, beside the first */
#define RECEIVED_MAX	(RECORDS * PROCESSES * 64)
#define SEEN_FD		200	/* where every process finds what was received */

struct record {
	int32_t who;
	int32_t number;
};

/* How often each record came, in memory that all share. */
static unsigned char *seen;

static void open_seen(bool make)
{
	if (make) {
		int fd = memfd_create("seen", 0);

		MUST(fd >= 0 && dup2(fd, SEEN_FD) == SEEN_FD && close(fd) == 0);
		MUST(ftruncate(SEEN_FD, RECEIVED_MAX) == 0);
	}
	seen = mmap(NULL, RECEIVED_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, SEEN_FD, 0);
	if (seen == MAP_FAILED)
		_exit(3);
}

/* Exit statuses of those who do it: 0 is good. */
static int send_records(int fd, int who, int n)
{
	struct record r = { who, 0 };

	for (; r.number < n; r.number++)
		if (send(fd, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
			return 1;
	return 0;
}

static int receive_records(int fd)
{
	int last = -1;
	struct record r;
	ssize_t n;

	while ((n = recv(fd, &r, sizeof(r), 0)) == sizeof(r)) {
		if (r.number <= last || r.number >= RECEIVED_MAX)
			return 2;
		last = r.number;
		__atomic_add_fetch(&seen[r.number], 1, __ATOMIC_RELAXED);
	}
	return n ? 1 : 0;
}

/* What another process does with the connection: sends as @who, or receives if -1. */
static int take_part(int fd, int who, int n)
{
	return who < 0 ? receive_records(fd) : send_records(fd, who, n);
}

static pid_t by_fork(int fd, int who, int n)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(take_part(fd, who, n));
	return pid;
}

/* Its parent's thread stands still and its memory is the parent's. */
static pid_t by_vfork(int fd, int who, int n)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(take_part(fd, who, n));
	return pid;
}

static void words_of(char *argv[], char text[3][16], int fd, int who, int n)
{
	snprintf(text[0], 16, "%d", fd);
	snprintf(text[1], 16, "%d", who);
	snprintf(text[2], 16, "%d", n);
	argv[0] = "preload_fork";
	argv[1] = "--part";
	argv[2] = text[0];
	argv[3] = text[1];
	argv[4] = text[2];
	argv[5] = NULL;
}

static pid_t by_spawn(int fd, int who, int n)
{
	posix_spawn_file_actions_t actions;
	char text[3][16], *argv[6];
	pid_t pid;

	words_of(argv, text, 50, who, n);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd, 50);
	MUST(posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv, environ) == 0);
	posix_spawn_file_actions_destroy(&actions);
	return pid;
}

/* As careful programs do: every number is closed, but for those that go on. */
static pid_t by_exec(int fd, int who, int n)
{
	char text[3][16], *argv[6];
	pid_t pid = fork();
	int i;

	if (pid)
		return pid;
	dup2(fd, 50);
	for (i = 3; i < 1024; i++)
		if (i != 50 && i != SEEN_FD)
			close(i);
	words_of(argv, text, 50, who, n);
	execv("/proc/self/exe", argv);
	_exit(4);
}

static void pass(int by, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = "", byte = 'p';
	struct iovec iov = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	MUST(sendmsg(by, &m, 0) == 1);
}

static int passed(int by)
{
	char control[CMSG_SPACE(sizeof(int))] = "", byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(by, &m, 0) != 1 || !CMSG_FIRSTHDR(&m))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* The child has used the number, and given it up, when the connection comes to it. */
static pid_t by_message(int fd, int who, int n)
{
	int by[2];
	pid_t pid;

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, by) == 0);
	pid = fork();
	if (pid == 0) {
		close(fd);
		_exit(take_part(passed(by[1]), who, n));
	}
	pass(by[0], fd);
	close(by[0]);
	close(by[1]);
	return pid;
}

static const struct way {
	const char *name;
	pid_t (*start)(int fd, int who, int n);
} ways[] = {
	{ "fork", by_fork }, { "vfork", by_vfork }, { "spawn", by_spawn }, { "exec", by_exec },
	{ "message", by_message },
};

static const struct way *way_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(ways[i].name, strrchr(name, '_') + 1))
			return &ways[i];
	MUST(!"a way");
	return NULL;
}

/* What the far end received: the next number of each sender. */
struct far {
	int fd;
	int next[PROCESSES + 1];
	int wrong;
};

static void *far_receives(void *arg)
{
	struct far *f = arg;
	struct record r;

	while (recv(f->fd, &r, sizeof(r), MSG_WAITALL) == sizeof(r))
		if (r.who < 0 || r.who > PROCESSES || f->next[r.who]++ != r.number)
			f->wrong++;
	return NULL;
}

static void *first_sends(void *arg)
{
	int fd = *(int *)arg;

	return (void *)(intptr_t)send_records(fd, 0, PROCESSES * RECORDS);
}

static int count_of(const struct under_case *c)
{
	return soak_times(RECORDS, 10);
}

/* A thread of the first process sends while others come, send and go. */
static void sending(const struct transport *t, const struct under_case *c)
{
	const struct way *w = way_of(c->name);
	int n = count_of(c), fd[2], i;
	struct far f = { 0 };
	pthread_t far, first;
	void *ret;

	under_pair(t, fd);
	f.fd = fd[1];
	MUST(send_records(fd[0], PROCESSES, 3) == 0);
	f.next[PROCESSES] = 0;
	MUST(pthread_create(&far, NULL, far_receives, &f) == 0);
	MUST(pthread_create(&first, NULL, first_sends, &fd[0]) == 0);
	for (i = 1; i < PROCESSES; i++)
		WANT(process_join(w->start(fd[0], i, n)), 0, 0, "process %d", i);
	pthread_join(first, &ret);
	WANT((intptr_t)ret, 0, 0, "the first");
	MUST(shutdown(fd[0], SHUT_WR) == 0);
	pthread_join(far, NULL);
	WANT(f.wrong, 0, 0, "lost, doubled or out of order");
	WANT(f.next[0], PROCESSES * RECORDS, 0, "of the first");
	for (i = 1; i < PROCESSES; i++)
		WANT(f.next[i], n, 0, "of process %d", i);
	tcp_close(fd);
}

static void *far_sends(void *arg)
{
	int fd = *(int *)arg;
	intptr_t ret = send_records(fd, 0, RECORDS * PROCESSES);

	shutdown(fd, SHUT_WR);
	return (void *)ret;
}

static void *first_receives(void *arg)
{
	return (void *)(intptr_t)receive_records(*(int *)arg);
}

/* A thread of the first process receives beside another process. */
static void receiving(const struct transport *t, const struct under_case *c)
{
	const struct way *w = way_of(c->name);
	int fd[2], i, wrong = 0;
	pthread_t far, first;
	void *ret;

	open_seen(true);
	under_pair(t, fd);
	MUST(pthread_create(&first, NULL, first_receives, &fd[0]) == 0);
	MUST(pthread_create(&far, NULL, far_sends, &fd[1]) == 0);
	WANT(process_join(w->start(fd[0], -1, 0)), 0, 0, "the other process");
	pthread_join(first, &ret);
	WANT((intptr_t)ret, 0, 0, "the first");
	pthread_join(far, &ret);
	WANT((intptr_t)ret, 0, 0, "the sender");
	for (i = 0; i < RECORDS * PROCESSES; i++)
		wrong += seen[i] != 1;
	WANT(wrong, 0, 0, "records that did not come once");
	tcp_close(fd);
}

/* Children that close everything and end, while the parent uses what they closed. */
static void close_all(int how)
{
	int i;

	if (how == 0)
		for (i = 3; i < 1024; i++)
			close(i);
	else if (how == 1)
		close_range(3, ~0u, 0);
	else
		closefrom(3);
	_exit(0);
}

static void closing(const struct transport *t, const struct under_case *c)
{
	int fd[2], i, n = soak_times(12, 20);
	struct far f = { 0 };
	pthread_t far, first;

	under_pair(t, fd);
	f.fd = fd[1];
	MUST(pthread_create(&far, NULL, far_receives, &f) == 0);
	MUST(pthread_create(&first, NULL, first_sends, &fd[0]) == 0);
	for (i = 0; i < n; i++) {
		pid_t pid = i & 1 ? vfork() : fork();

		if (pid == 0)
			close_all(i / 2 % 3);
		WANT(process_join(pid), 0, 0, "child %d", i);
		MUST(send_records(fd[0], 1 + i % 3, 0) == 0);
	}
	pthread_join(first, NULL);
	MUST(shutdown(fd[0], SHUT_WR) == 0);
	pthread_join(far, NULL);
	WANT(f.wrong, 0, 0, "lost, doubled or out of order");
	WANT(f.next[0], PROCESSES * RECORDS, 0, "came");
	tcp_close(fd);
}

/* The connection gets numbers and loses them, with a sender that always uses the newest. */
static void doubling(const struct transport *t, const struct under_case *c)
{
	int n = count_of(c) * 2, fd[2], now, i;
	struct far f = { 0 };
	pthread_t far;

	under_pair(t, fd);
	f.fd = fd[1];
	MUST(pthread_create(&far, NULL, far_receives, &f) == 0);
	for (now = fd[0], i = 0; i < n; i++) {
		struct record r = { 0, i };
		int next = i % 3 == 0 ? dup(now) : i % 3 == 1 ? dup2(now, 400 + i % 7) :
			   fcntl(now, F_DUPFD_CLOEXEC, 100);

		MUST(next >= 0);
		if (next != now)
			close(now);
		now = next;
		WANT_TRUE(send(now, &r, sizeof(r), 0) == sizeof(r), "sent");
	}
	MUST(shutdown(now, SHUT_WR) == 0);
	pthread_join(far, NULL);
	WANT(f.wrong, 0, 0, "lost, doubled or out of order");
	WANT(f.next[0], n, 0, "came");
	close(now);
	close(fd[1]);
}

static const struct under_case cases[] = {
	{ "send_fork", sending, UNDER_BOTH, 1, 1 },
	{ "send_vfork", sending, UNDER_BOTH, 1, 1 },
	{ "send_spawn", sending, UNDER_BOTH, 1, 1 },
	{ "send_exec", sending, UNDER_BOTH, 1, 1 },
	{ "send_message", sending, UNDER_BOTH, 1, 1 },
	{ "receive_fork", receiving, UNDER_BOTH, 1, 0 },
	{ "receive_vfork", receiving, UNDER_BOTH, 1, 0 },
	{ "receive_spawn", receiving, UNDER_BOTH, 1, 0 },
	{ "receive_exec", receiving, UNDER_BOTH, 1, 0 },
	{ "receive_message", receiving, UNDER_BOTH, 1, 0 },
	{ "closing", closing, UNDER_BOTH, 1, 1 },
	{ "doubling", doubling, UNDER_BOTH, 1, 1 },
};

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--part")) {
		if (atoi(argv[3]) < 0)
			open_seen(false);
		return take_part(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
	}
	return under_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
