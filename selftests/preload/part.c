// SPDX-License-Identifier: GPL-2.0
/* Another process that takes part in a connection: see part.h. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "part.h"
#include "passing.h"

#define SEEN_FD		200	/* where every process finds what was received */

struct part_seen *seen;

void part_open_seen(bool make)
{
	if (make) {
		int fd = memfd_create("seen", 0);

		MUST(fd >= 0 && dup2(fd, SEEN_FD) == SEEN_FD && close(fd) == 0);
		MUST(ftruncate(SEEN_FD, sizeof(*seen)) == 0);
	}
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED, SEEN_FD, 0);
	if (seen == MAP_FAILED)
		_exit(3);
}

/* Exit statuses of those who do it: 0 is good. */
int part_send(int fd, int who, int n)
{
	struct record r = { who, 0 };

	for (; r.number < n; r.number++)
		if (send(fd, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
			return 1;
	return 0;
}

int part_receive(int fd, bool other)
{
	int last = -1;
	struct record r;
	ssize_t n;

	while ((n = recv(fd, &r, sizeof(r), 0)) == sizeof(r)) {
		if (r.number <= last || r.number >= RECEIVED_MAX)
			return 2;
		last = r.number;
		__atomic_add_fetch(&seen->times[r.number], 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&seen->others, other, __ATOMIC_RELAXED);
	}
	return n ? 1 : 0;
}

/* What another process does with the connection: sends as @who, or receives if -1. */
int part_take(int fd, int who, int n)
{
	return who < 0 ? part_receive(fd, true) : part_send(fd, who, n);
}

static pid_t by_fork(int fd, int who, int n)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(part_take(fd, who, n));
	return pid;
}

/* Its parent's thread stands still and its memory is the parent's. */
static pid_t by_vfork(int fd, int who, int n)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(part_take(fd, who, n));
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

/* The child has used the number, and given it up, when the connection comes to it. */
static pid_t by_message(int fd, int who, int n)
{
	int by[2];
	pid_t pid;

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, by) == 0);
	pid = fork();
	if (pid == 0) {
		close(fd);
		_exit(part_take(fd_passed(by[1]), who, n));
	}
	fd_pass(by[0], fd);
	close(by[0]);
	close(by[1]);
	return pid;
}

static const struct part_way ways[] = {
	{ "fork", by_fork }, { "vfork", by_vfork }, { "spawn", by_spawn }, { "exec", by_exec },
	{ "message", by_message },
};

const struct part_way *part_way(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(ways[i].name, strrchr(name, '_') + 1))
			return &ways[i];
	MUST(!"a way");
	return NULL;
}
