// SPDX-License-Identifier: GPL-2.0
/*
 * epoll_ctl() under the library: a change that is none is not the kernel's to make, and
 * no other change is kept from it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "passing.h"
#include "preload/under.h"
#include "tcp_pair.h"

#define ROUNDS	200
#define SOON_MS	20000

static int change(int ep, int op, int fd, uint32_t events, uint64_t data)
{
	struct epoll_event e = { .events = events, .data.u64 = data };

	return epoll_ctl(ep, op, fd, &e);
}

/* The events of the only one that is told; 0: none is. */
static long next(int ep, uint64_t data, int ms)
{
	struct epoll_event e[4];
	int n = epoll_wait(ep, e, 4, ms);

	MUST(n == 0 || n == 1);
	if (n)
		WANT((long)e[0].data.u64, (long)data, 0, "its name");
	return n ? (long)e[0].events : 0;
}

static void say(int fd)
{
	MUST(send(fd, "x", 1, MSG_NOSIGNAL) == 1);
}

static int hear(int fd)
{
	char c;

	return (int)recv(fd, &c, 1, MSG_DONTWAIT);
}

/* Has proved busy. */
static int busy_set(const struct transport *t, int fd[2], uint64_t data)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), i;

	under_mapped_pair(t, fd);
	MUST(ep >= 0 && change(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN, data) == 0);
	for (i = 0; i < 50; i++) {
		say(fd[1]);
		WANT(next(ep, data, SOON_MS), EPOLLIN, 0, "busy %d", i);
		WANT(hear(fd[0]), 1, 0, "busy %d: its byte", i);
	}
	return ep;
}

/* From now on EPOLL_CTL_MOD is EPERM, where the kernel hears of it. */
static void bar_changes(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_ctl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, EPOLL_CTL_MOD, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void to_kernel(int ep, int fd, uint32_t events, uint64_t data, const char *what)
{
	WANT(change(ep, EPOLL_CTL_MOD, fd, events, data), -1, EPERM, "%s", what);
}

static void none(const struct transport *t, const struct under_case *c)
{
	int fd[2], ep = busy_set(t, fd, 1), pipe_fd[2], copy = dup(ep), other;

	MUST(pipe(pipe_fd) == 0 && change(ep, EPOLL_CTL_ADD, pipe_fd[0], EPOLLIN, 2) == 0);
	bar_changes();
	WANT_TRUE(change(ep, EPOLL_CTL_MOD, fd[0], EPOLLIN, 1) == (under_library() ? 0 : -1),
		  "what it is already");
	to_kernel(ep, fd[0], EPOLLIN, 3, "another name");
	to_kernel(ep, fd[0], EPOLLIN | EPOLLOUT, 1, "more");
	to_kernel(ep, fd[0], EPOLLIN | EPOLLET, 1, "edges");
	to_kernel(ep, pipe_fd[0], EPOLLIN, 2, "a pipe");
	to_kernel(copy, fd[0], EPOLLIN, 1, "another number of the set");
	other = epoll_create1(EPOLL_CLOEXEC);
	to_kernel(other, fd[0], EPOLLIN, 1, "another set");
	say(fd[1]);
	WANT(next(ep, 1, SOON_MS), EPOLLIN, 0, "it is told");
	MUST(change(ep, EPOLL_CTL_DEL, fd[0], 0, 0) == 0);
	to_kernel(ep, fd[0], EPOLLIN, 1, "it is not there");
	MUST(change(ep, EPOLL_CTL_ADD, fd[0], EPOLLIN | EPOLLET, 1) == 0);
	to_kernel(ep, fd[0], EPOLLIN | EPOLLET, 1, "edges again");
	close(other);
	close(copy);
	close(ep);
	tcp_close(fd);
}

/* What a child did to the set that both have is undone. */
static void by_child(const struct transport *t, const struct under_case *c)
{
	int fd[2], ep = busy_set(t, fd, 1), status;
	struct epoll_event e = { 0 };
	pid_t pid = fork();

	MUST(pid >= 0);
	if (pid == 0)
		_exit(change(ep, EPOLL_CTL_MOD, fd[0], EPOLLIN, 2) != 0);
	MUST(waitpid(pid, &status, 0) == pid);
	WANT(status, 0, 0, "the child's change");
	MUST(change(ep, EPOLL_CTL_MOD, fd[0], EPOLLIN, 1) == 0);
	/* Asked by the system call alone: what does the kernel hold? */
	say(fd[1]);
	MUST(syscall(SYS_epoll_wait, ep, &e, 1, SOON_MS) == 1);
	WANT((long)e.data.u64, 1, 0, "its name");
	bar_changes();
	to_kernel(ep, fd[0], EPOLLIN, 1, "a set that is not ours alone");
	close(ep);
	tcp_close(fd);
}

/* A set that others have, too: by a system call of the program's own, and by a message. */
static void shared(const struct transport *t, bool passed)
{
	int fd[2], ep = busy_set(t, fd, 1), pair[2], copy, status;
	pid_t pid;

	if (passed) {
		MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
		fd_pass(pair[0], ep);
		copy = fd_passed(pair[1]);
		MUST(copy >= 0);
		close(copy);
		close(pair[0]);
		close(pair[1]);
	} else {
		pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		MUST(pid >= 0);
		if (pid == 0)
			_exit(0);
		MUST(waitpid(pid, &status, 0) == pid);
	}
	bar_changes();
	to_kernel(ep, fd[0], EPOLLIN, 1, "a set that is not ours alone");
	close(ep);
	tcp_close(fd);
}

static void by_clone(const struct transport *t, const struct under_case *c)
{
	shared(t, false);
}

static void passed_on(const struct transport *t, const struct under_case *c)
{
	shared(t, true);
}

/* As event loops do that take turns with reading and writing: out of the set and in. */
static void toggled(const struct transport *t, const struct under_case *c)
{
	int fd[2], ep = busy_set(t, fd, 5), i;

	for (i = 0; i < ROUNDS; i++) {
		MUST(change(ep, EPOLL_CTL_DEL, fd[0], 0, 0) == 0);
		WANT(next(ep, 5, 0), 0, 0, "%d: nobody", i);
		MUST(change(ep, EPOLL_CTL_ADD, fd[0], EPOLLOUT, i) == 0);
		WANT(next(ep, i, SOON_MS), EPOLLOUT, 0, "%d: room", i);
		say(fd[0]);
		WANT(hear(fd[1]), 1, 0, "%d: there", i);
		MUST(change(ep, EPOLL_CTL_MOD, fd[0], EPOLLIN | EPOLLOUT, i + 1) == 0);
		WANT(next(ep, i + 1, SOON_MS), EPOLLOUT, 0, "%d: room yet", i);
		MUST(change(ep, EPOLL_CTL_MOD, fd[0], EPOLLIN, i + 2) == 0);
		WANT(next(ep, i + 2, 0), 0, 0, "%d: nothing yet", i);
		say(fd[1]);
		MUST(change(ep, EPOLL_CTL_MOD, fd[0], EPOLLIN, i + 2) == 0);
		WANT(next(ep, i + 2, SOON_MS), EPOLLIN, 0, "%d: back", i);
		MUST(change(ep, EPOLL_CTL_MOD, fd[0], EPOLLIN, i + 2) == 0);
		WANT(next(ep, i + 2, 0), EPOLLIN, 0, "%d: there yet", i);
		WANT(hear(fd[0]), 1, 0, "%d: its byte", i);
	}
	close(ep);
	tcp_close(fd);
}

/* A set in a set that hears of it by edge, once: then the inner one tells all there is. */
static void nested(const struct transport *t, const struct under_case *c)
{
	int in = epoll_create1(EPOLL_CLOEXEC), out = epoll_create1(EPOLL_CLOEXEC);
	int fd[2], other[2], i;
	struct epoll_event e[4];
	char byte;

	under_mapped_pair(t, fd);
	MUST(in >= 0 && out >= 0 && pipe(other) == 0);
	MUST(change(in, EPOLL_CTL_ADD, fd[0], EPOLLIN, 1) == 0);
	MUST(change(in, EPOLL_CTL_ADD, other[0], EPOLLIN, 2) == 0);
	MUST(change(out, EPOLL_CTL_ADD, in, EPOLLIN | EPOLLET, 3) == 0);
	for (i = 0; i < 50; i++) {
		say(fd[1]);
		MUST(write(other[1], "y", 1) == 1);
		WANT(next(out, 3, SOON_MS), EPOLLIN, 0, "%d: the outer", i);
		WANT(epoll_wait(in, e, 4, SOON_MS), 2, 0, "%d: the inner", i);
		WANT(hear(fd[0]), 1, 0, "%d: its byte", i);
		MUST(read(other[0], &byte, 1) == 1);
	}
	for (i = 0; i < 3; i++) {
		say(fd[1]);
		WANT(next(out, 3, SOON_MS), EPOLLIN, 0, "unread, %d: the outer", i);
	}
	WANT(next(out, 3, 0), 0, 0, "no edge");
	tcp_close(fd);
	close(other[0]);
	close(other[1]);
	close(out);
	close(in);
}

/* What a child does with a set in a set that its parent made. */
static int nests(const struct transport *t, int in, int out)
{
	struct epoll_event e[4];
	int fd[2][2], i, k, n;

	for (k = 0; k < 2; k++) {
		under_mapped_pair(t, fd[k]);
		if (change(in, EPOLL_CTL_ADD, fd[k][0], EPOLLIN, k))
			return 10;
	}
	for (i = 0; i < 60; i++) {
		/* Both at once at first, then the one that the outer set does not reach. */
		for (k = i < 40 ? 0 : 1; k < 2; k++)
			say(fd[k][1]);
		if (epoll_wait(out, e, 4, SOON_MS) != 1)
			return 20 + i;
		n = epoll_wait(in, e, 4, 0);
		for (k = 0; k < n; k++)
			hear(fd[e[k].data.u64 & 1][0]);
		if (n == 1 && i < 40)	/* who was not told of is next */
			hear(fd[!(e[0].data.u64 & 1)][0]);
	}
	tcp_close(fd[0]);
	tcp_close(fd[1]);
	return 0;
}

/* The library's pages are wiped in a child, and with them that one set watches another. */
static void nested_before(const struct transport *t, const struct under_case *c)
{
	int in = epoll_create1(EPOLL_CLOEXEC), out = epoll_create1(EPOLL_CLOEXEC);
	int fd[2];
	pid_t pid;

	under_mapped_pair(t, fd);
	MUST(in >= 0 && out >= 0);
	MUST(change(out, EPOLL_CTL_ADD, in, EPOLLIN | EPOLLET, 3) == 0);
	pid = fork();
	MUST(pid >= 0);
	if (!pid)
		_exit(nests(t, in, out));
	WANT(process_join(pid), 0, 0, "the child");
	tcp_close(fd);
	close(out);
	close(in);
}

static const struct under_case cases[] = {
	{ "nested", nested, UNDER_BOTH, 50, 50 },
	{ "nested_before", nested_before, UNDER_BOTH, UNDER_IDLE, UNDER_IDLE },
	{ "none", none, UNDER_BOTH, 20, 20 },
	{ "by_child", by_child, UNDER_BOTH, 20, 20 },
	{ "by_clone", by_clone, UNDER_BOTH, 20, 20 },
	{ "passed_on", passed_on, UNDER_BOTH, 20, 20 },
	{ "toggled", toggled, UNDER_BOTH, 200, 200 },
};

UNDER_CASES(cases)
