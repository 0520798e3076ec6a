// SPDX-License-Identifier: GPL-2.0
/*
 * epoll under the library, which looks at mapped rings before it asks the kernel: a
 * program is told what it would be told without, and what it did to the set since.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/under.h"
#include "tcp_pair.h"

#define ROUNDS	200
#define SOON_MS	20000

static int set_of(int fd, uint32_t events, uint64_t data)
{
	struct epoll_event e = { .events = events, .data.u64 = data };
	int ep = epoll_create1(0);

	MUST(ep >= 0 && epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e) == 0);
	return ep;
}

static int change(int ep, int op, int fd, uint32_t events, uint64_t data)
{
	struct epoll_event e = { .events = events, .data.u64 = data };

	return epoll_ctl(ep, op, fd, &e);
}

/* How many events, and the first one's name: -1 if there is none. */
static long next(int ep, int ms)
{
	struct epoll_event e[4];
	int n = epoll_wait(ep, e, 4, ms);

	MUST(n >= 0);
	return n ? (long)e[0].data.u64 : -1;
}

static void say(int fd, char c)
{
	MUST(send(fd, &c, 1, MSG_NOSIGNAL) == 1);
}

static int hear(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT) == 1 ? c : -1;
}

/* Both have proved busy, and the set has, too. */
static int busy_set(const struct transport *t, int fd[2], uint64_t data)
{
	int ep, i;

	under_mapped_pair(t, fd);
	ep = set_of(fd[0], EPOLLIN, data);
	for (i = 0; i < 50; i++) {
		say(fd[1], 'a');
		WANT(next(ep, SOON_MS), (long)data, 0, "busy %d: its name", i);
		WANT(hear(fd[0]), 'a', 0, "busy %d: its byte", i);
	}
	return ep;
}

static void told(const struct transport *t, const struct under_case *c)
{
	int fd[2], ep = busy_set(t, fd, 77), i;

	for (i = 0; i < ROUNDS; i++) {
		WANT(next(ep, 0), -1, 0, "%d: nothing", i);
		say(fd[1], 'b');
		WANT(next(ep, i & 1 ? SOON_MS : 0), 77, 0, "%d: there", i);
		WANT(next(ep, 0), 77, 0, "%d: there yet", i);
		WANT(hear(fd[0]), 'b', 0, "%d: the byte", i);
	}
	MUST(shutdown(fd[1], SHUT_WR) == 0);
	WANT(next(ep, SOON_MS), 77, 0, "the end");
	close(ep);
	tcp_close(fd);
}

/* What else is in the set is told in spite of a connection that is always readable. */
static void others(const struct transport *t, const struct under_case *c)
{
	int fd[2], ep = busy_set(t, fd, 1), pipe_fd[2], i, waited = 0, n;
	struct epoll_event e[4];

	MUST(pipe(pipe_fd) == 0 && change(ep, EPOLL_CTL_ADD, pipe_fd[0], EPOLLIN, 2) == 0);
	say(fd[1], 'x');
	MUST(write(pipe_fd[1], "y", 1) == 1);
	for (i = 0; i < 2; i++)
		for (waited = 0, n = 0; waited < 200 && n < 2; waited++) {
			n = epoll_wait(ep, e, 4, -1);
			MUST(n > 0);
		}
	WANT_TRUE(waited < 200, "the pipe is told");
	WANT(hear(fd[0]), 'x', 0, "the byte");
	WANT(next(ep, SOON_MS), 2, 0, "the pipe alone");
	close(ep);
	tcp_close(fd);
}

static void changed(const struct transport *t, const struct under_case *c)
{
	int fd[2], ep = busy_set(t, fd, 1), i, other, copy;

	say(fd[1], 'x');
	for (i = 2; i < ROUNDS; i++) {
		MUST(change(ep, EPOLL_CTL_MOD, fd[0], EPOLLIN, i) == 0);
		WANT(next(ep, 0), i, 0, "%d: its new name", i);
	}
	NOTE(change(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN, 5), "it is there");
	WANT(next(ep, 0), ROUNDS - 1, 0, "its name is kept");
	MUST(change(ep, EPOLL_CTL_MOD, fd[0], 0, 1) == 0);
	WANT(next(ep, 0), -1, 0, "for nothing");
	MUST(change(ep, EPOLL_CTL_MOD, fd[0], EPOLLIN | EPOLLET, 6) == 0);
	WANT(next(ep, 0), 6, 0, "an edge");
	WANT(next(ep, 0), -1, 0, "told once");
	MUST(change(ep, EPOLL_CTL_MOD, fd[0], EPOLLIN | EPOLLONESHOT, 7) == 0);
	WANT(next(ep, 0), 7, 0, "a shot");
	WANT(next(ep, 0), -1, 0, "told once");
	MUST(change(ep, EPOLL_CTL_DEL, fd[0], 0, 0) == 0);
	WANT(next(ep, 0), -1, 0, "deleted");
	NOTE(change(ep, EPOLL_CTL_DEL, fd[0], 0, 0), "deleted again");
	NOTE(change(ep, EPOLL_CTL_MOD, fd[0], EPOLLIN, 8), "it is not there");
	WANT(next(ep, 0), -1, 0, "not there");
	for (i = 0; i < 50; i++) {
		MUST(change(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN, i) == 0);
		WANT(next(ep, 0), i, 0, "%d: added again", i);
		MUST(change(ep, EPOLL_CTL_DEL, fd[0], 0, 0) == 0);
	}
	MUST(change(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN, 9) == 0);
	/* The set is changed by another number of it. */
	copy = dup(ep);
	MUST(change(copy, EPOLL_CTL_MOD, fd[0], EPOLLIN, 12) == 0);
	WANT(next(ep, 0), 12, 0, "changed by a copy");
	MUST(change(ep, EPOLL_CTL_MOD, fd[0], EPOLLIN, 13) == 0);
	WANT(next(ep, 0), 13, 0, "and back");
	MUST(change(copy, EPOLL_CTL_DEL, fd[0], 0, 0) == 0);
	WANT(next(ep, 0), -1, 0, "deleted by a copy");
	MUST(change(copy, EPOLL_CTL_ADD, fd[0], EPOLLIN, 14) == 0);
	WANT(next(ep, 0), 14, 0, "added by a copy");
	close(copy);
	/* Another set under the same number knows nothing of it. */
	close(ep);
	other = epoll_create1(0);
	WANT(other, ep, 0, "the same number");
	WANT(next(other, 0), -1, 0, "another set");
	copy = dup(other);
	MUST(change(copy, EPOLL_CTL_ADD, fd[0], EPOLLIN, 10) == 0);
	WANT(next(other, 0), 10, 0, "by another number of the set");
	WANT(next(copy, 0), 10, 0, "by that one");
	MUST(change(other, EPOLL_CTL_MOD, fd[0], EPOLLIN, 11) == 0);
	WANT(next(copy, 0), 11, 0, "changed by the other number");
	MUST(change(other, EPOLL_CTL_DEL, fd[0], 0, 0) == 0);
	WANT(next(copy, 0), -1, 0, "deleted by the other number");
	close(copy);
	close(other);
	tcp_close(fd);
}

/* By syscall(), and by numbers that are closed and used again. */
static void numbers(const struct transport *t, const struct under_case *c)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = 3 };
	int fd[2], other[2], ep = busy_set(t, fd, 1), pipe_fd[2], number;

	say(fd[1], 'x');
	MUST(syscall(SYS_epoll_ctl, ep, EPOLL_CTL_MOD, fd[0], &e) == 0);
	WANT(next(ep, 0), 3, 0, "changed by syscall");
	WANT(syscall(SYS_epoll_wait, ep, &e, 1, 0), 1, 0, "asked by syscall");
	MUST(syscall(SYS_epoll_ctl, ep, EPOLL_CTL_DEL, fd[0], &e) == 0);
	WANT(next(ep, 0), -1, 0, "deleted by syscall");
	MUST(change(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN, 4) == 0);
	WANT(next(ep, 0), 4, 0, "there");
	number = fd[0];
	close(fd[0]);
	WANT(next(ep, 0), -1, 0, "closed");
	MUST(pipe(pipe_fd) == 0);
	WANT_TRUE(pipe_fd[0] == number, "the number is another's");
	WANT(next(ep, 0), -1, 0, "of which the set knows nothing");
	under_mapped_pair(t, other);
	MUST(dup2(other[0], number) == number);
	say(other[1], 'x');
	MUST(poll_wait(number, POLLIN, SOON_MS));
	WANT(next(ep, 0), -1, 0, "of which it knows nothing, either");
	WANT(hear(number), 'x', 0, "it is there");
	WANT(next(ep, 0), -1, 0, "it was");
	close(number);
	tcp_close(other);
	close(pipe_fd[1]);
	close(fd[1]);
	close(ep);
}

static void room(const struct transport *t, const struct under_case *c)
{
	int fd[2], ep, i;

	under_mapped_pair(t, fd);
	ep = set_of(fd[0], EPOLLOUT, 5);
	for (i = 0; i < 50; i++) {
		WANT(next(ep, SOON_MS), 5, 0, "%d: room", i);
		say(fd[0], 'x');
		WANT(hear(fd[1]), 'x', 0, "%d: heard", i);
	}
	MUST(set_nonblock(fd[0], true) == 0);
	under_fill(fd[0]);
	WANT(next(ep, 0), -1, 0, "no room");
	MUST(change(ep, EPOLL_CTL_MOD, fd[0], EPOLLIN | EPOLLOUT, 6) == 0);
	WANT(next(ep, 0), -1, 0, "neither");
	say(fd[1], 'y');
	WANT(next(ep, SOON_MS), 6, 0, "a byte");
	close(ep);
	tcp_close(fd);
}

static void timed(const struct transport *t, const struct under_case *c)
{
	int fd[2], ep = busy_set(t, fd, 1), i;
	struct timespec none = { 0 }, wrong = { 0, -1 };
	volatile int least = -1;
	struct epoll_event e;
	long begin = now_ms();

	WANT(next(ep, 100), -1, 0, "in a while");
	WANT_TRUE(now_ms() - begin >= 95, "it waited");
	say(fd[1], 'x');
	for (i = 0; i < 50; i++) {
		WANT(epoll_pwait(ep, &e, 1, -1, NULL), 1, 0, "%d: pwait", i);
		WANT(epoll_pwait2(ep, &e, 1, &none, NULL), 1, 0, "%d: pwait2", i);
		WANT(epoll_pwait2(ep, &e, 1, NULL, NULL), 1, 0, "%d: pwait2 without limit", i);
		NOTE(epoll_pwait2(ep, &e, 1, &wrong, NULL), "%d: a wrong limit", i);
		NOTE(epoll_wait(ep, &e, 0, 0), "%d: no room", i);
		NOTE(epoll_wait(ep, &e, least, 0), "%d: less", i);
		NOTE(epoll_wait(fd[0], &e, 1, 0), "%d: no set", i);
		NOTE(epoll_wait(-1, &e, 1, 0), "%d: no number", i);
	}
	close(ep);
	tcp_close(fd);
}

/* One thread works, the other sleeps in the same set: what comes wakes it. */
struct sleeper {
	int ep;
	long got;
};

static void *sleeps(void *arg)
{
	struct sleeper *s = arg;

	s->got = next(s->ep, SOON_MS);
	return NULL;
}

static void shared(const struct transport *t, const struct under_case *c)
{
	int fd[2], ep = busy_set(t, fd, 1), i;
	struct sleeper s = { .ep = ep };
	pthread_t thread;

	for (i = 0; i < 50; i++) {
		MUST(pthread_create(&thread, NULL, sleeps, &s) == 0);
		sleep_ms(i & 3 ? 1 : 20);
		say(fd[1], 'x');
		if (i & 1)
			WANT(next(ep, SOON_MS), 1, 0, "%d: told here", i);
		pthread_join(thread, NULL);
		WANT(s.got, 1, 0, "%d: told there", i);
		WANT(hear(fd[0]), 'x', 0, "%d: the byte", i);
	}
	close(ep);
	tcp_close(fd);
}

/* A child of fork() has the same set; what is done there is not known here, and back. */
static void forked(const struct transport *t, const struct under_case *c)
{
	int fd[2], ep = busy_set(t, fd, 1), status, i;
	pid_t pid;

	say(fd[1], 'x');
	for (i = 0; i < 5; i++) {
		pid = fork();
		MUST(pid >= 0);
		if (pid == 0)
			_exit(next(ep, SOON_MS) != 1 || next(ep, 0) != 1);
		MUST(waitpid(pid, &status, 0) == pid);
		WANT(status, 0, 0, "%d: the child is told", i);
		WANT(next(ep, 0), 1, 0, "%d: and its parent", i);
	}
	close(ep);
	tcp_close(fd);
}

/* Two programs that take turns, each with a set. */
static void *echoes(void *arg)
{
	int fd = *(int *)arg, ep = set_of(fd, EPOLLIN, 1), got;

	while (next(ep, SOON_MS) == 1 && (got = hear(fd)) > 0)
		say(fd, (char)got);
	close(ep);
	return NULL;
}

static void turns(const struct transport *t, const struct under_case *c)
{
	int fd[2], ep, i, n = soak_times(2000, 20);
	pthread_t thread;

	under_mapped_pair(t, fd);
	ep = set_of(fd[0], EPOLLIN, 1);
	MUST(pthread_create(&thread, NULL, echoes, &fd[1]) == 0);
	for (i = 0; i < n; i++) {
		say(fd[0], (char)(1 + i % 100));
		MUST(next(ep, SOON_MS) == 1);
		MUST(hear(fd[0]) == 1 + i % 100);
	}
	MUST(shutdown(fd[0], SHUT_WR) == 0);
	pthread_join(thread, NULL);
	close(ep);
	tcp_close(fd);
}

static const struct under_case cases[] = {
	{ "told", told, UNDER_BOTH, 20, 20, .counter = "epoll events", .least = 20 },
	{ "others", others, UNDER_BOTH, 20, 20, .counter = "epoll events", .least = 20 },
	{ "changed", changed, UNDER_BOTH, 20, 20, .counter = "epoll events", .least = 20 },
	{ "numbers", numbers, UNDER_BOTH, 20, 20, .counter = "epoll events", .least = 20 },
	{ "room", room, UNDER_BOTH, 20, 20, .counter = "epoll events", .least = 20 },
	{ "timed", timed, UNDER_BOTH, 20, 20, .counter = "epoll events", .least = 20 },
	{ "shared", shared, UNDER_BOTH, 20, 20, .counter = "epoll events", .least = 20 },
	{ "forked", forked, UNDER_BOTH, 20, 20, .counter = "epoll events", .least = 20 },
	{ "turns", turns, UNDER_BOTH, 100, 100 },
};

UNDER_CASES(cases)
