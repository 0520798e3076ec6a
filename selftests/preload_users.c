// SPDX-License-Identifier: GPL-2.0
/*
 * The ends of a connection in two processes under the library, of two users without
 * privileges, with a spin limit each: one sleeps at once, the other looks for as long as
 * it does by default. Both are to be mapped.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mapped.h"
#include "preload/under.h"
#include "tcp_pair.h"

#define USER		65533
#define OTHER_USER	65534
#define OTHER_FD	50
#define MOST		2000	/* bytes of a message */
#define ROUNDS		300
#define LATE_MS		60000
#define OTHER		"--other"

static size_t length(int round)
{
	return 1 + round * 37 % MOST;
}

static bool become(int user)
{
	return !setresgid(user, user, user) && !setresuid(user, user, user);
}

static bool leased(int fd)
{
	return mapped_leased(fd, SPEED_ROLE_TX) && mapped_leased(fd, SPEED_ROLE_RX);
}

static bool send_whole(int fd, const void *buf, size_t len)
{
	return send(fd, buf, len, MSG_NOSIGNAL) == (ssize_t)len;
}

/*
 * The other end, in a program of its own. Each message is answered by one that is as
 * long, from another place of the known stream; first comes whether it is leased here.
 * Return: the exit status, 0 where all was right until the end.
 */
static int other(void)
{
	unsigned char buf[MOST], is;
	size_t at = 0, len;
	ssize_t n = 0;
	int i;

	if (!become(OTHER_USER))
		return 2;
	for (i = 0;; i++, at += len) {
		len = length(i);
		n = recv(OTHER_FD, buf, len, MSG_WAITALL);
		if (n != (ssize_t)len)
			break;
		if (!stream_check(buf, len, at))
			return 3;
		is = leased(OTHER_FD);
		stream_fill(buf, len, at + MOST);
		if (!send_whole(OTHER_FD, &is, 1) || !send_whole(OTHER_FD, buf, len))
			return 4;
	}
	return n ? 5 : 0;
}

/* @spin: SPEED_SPIN there, or NULL. */
static pid_t start_other(const char *name, int fd, const char *spin)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (spin)
		setenv("SPEED_SPIN", spin, 1);
	else
		unsetenv("SPEED_SPIN");
	if (dup2(fd, OTHER_FD) == OTHER_FD)
		execl("/proc/self/exe", name, OTHER, NULL);
	_exit(127);
}

/* Return: whether the other end is leased, or -1 where the bytes are wrong. */
static int ask(int fd, int round, size_t at)
{
	unsigned char buf[MOST], is;
	size_t len = length(round);

	stream_fill(buf, len, at);
	if (!send_whole(fd, buf, len) || recv(fd, &is, 1, 0) != 1 ||
	    recv(fd, buf, len, MSG_WAITALL) != (ssize_t)len || !stream_check(buf, len, at + MOST))
		return -1;
	return is;
}

/* A lease may be taken back on a machine that is slow: it comes again. */
static void talk(int fd)
{
	long until = now_ms() + LATE_MS;
	bool here = false, there = false, both = false;
	size_t at = 0;
	int i, is;

	for (i = 0; i < ROUNDS || (under_library() && !both && now_ms() < until); i++) {
		is = ask(fd, i, at);
		MUST(is >= 0);
		at += length(i);
		here |= leased(fd);
		there |= is;
		both = is && leased(fd);
	}
	WANT_TRUE(here == under_library(), "this end is leased");
	WANT_TRUE(there == under_library(), "the other one is");
	WANT_TRUE(both == under_library(), "both are at a time");
}

/* Nobody has used it yet: an end that two users have used is not mapped (lease_user.c). */
static void unused_pair(const struct transport *t, int fd[2])
{
	if (t->fused)
		tcp_pair(fd);
	else
		under_pair(t, fd);
}

static void users(const struct transport *t, const struct under_case *c)
{
	int fd[2];
	pid_t pid;

	unused_pair(t, fd);
	pid = start_other(program_invocation_name, fd[1], getenv("SPEED_SPIN") ? NULL : "0");
	close(fd[1]);
	MUST(become(USER));
	talk(fd[0]);
	close(fd[0]);
	WANT(process_join(pid), 0, 0, "the other process");
}

static const struct under_case cases[] = {
	{ "sleeps_at_once", users, UNDER_BOTH, 200, 200, "SPEED_SPIN=0" },
	{ "looks_first", users, UNDER_BOTH, 200, 200 },
};

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], OTHER))
		return other();
	return under_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
