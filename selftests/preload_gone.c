// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers that go, or do not, in the middle of a call under the library, and numbers
 * that go where it does not see it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/speed.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "preload/under.h"
#include "tcp_pair.h"

#define WANTED		200

static long recv_some(void *fd)
{
	char buf[WANTED];

	return recv(*(int *)fd, buf, WANTED, 0);
}

/* A child by vfork() is the first that closes something: the parent maps as before. */
static void vfork_first(const struct transport *t, const struct under_case *c)
{
	struct epoll_event e = { .events = EPOLLIN };
	int fd[2], ep = epoll_create1(0), pipe_fd[2], i;
	char buf[4];
	pid_t pid;

	MUST(ep >= 0 && pipe(pipe_fd) == 0);
	MUST(epoll_ctl(ep, EPOLL_CTL_ADD, pipe_fd[0], &e) == 0);
	pid = vfork();
	if (!pid) {
		close(pipe_fd[0]);
		close(ep);
		_exit(0);
	}
	MUST(pid > 0 && process_join(pid) == 0);
	under_pair(t, fd);
	for (i = 0; i < 50; i++)
		MUST(send(fd[0], "way", 3, 0) == 3 && recv(fd[1], buf, 4, 0) == 3);
	tcp_close(fd);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
	close(ep);
}

/* Calls that close nothing, under a thread that sleeps by the number. */
static void closes_nothing(const struct transport *t, const struct under_case *c)
{
	struct task k;
	int fd[2];

	under_mapped_pair(t, fd);
	task_start(&k, recv_some, &fd[0]);
	MUST(task_sleeps(&k));
	NOTE(dup2(-1, fd[0]), "dup2(-1)");
	NOTE(dup2(1000, fd[0]), "dup2() of a number that is not open");
	NOTE(dup3(fd[1], fd[0], 1 << 30), "dup3() with a flag that there is not");
	NOTE(dup3(-1, fd[0], O_CLOEXEC), "dup3(-1)");
	NOTE(dup3(fd[0], fd[0], 0), "dup3() to itself");
	NOTE(syscall(SYS_dup3, fd[0], fd[0], 0), "by syscall()");
	NOTE(close_range(fd[0], fd[0], 1 << 30), "close_range() with a flag that there is not");
	NOTE(syscall(SYS_close_range, fd[0], fd[0], 1 << 30), "by syscall()");
	plain_close(fd[1]);
	NOTE(task_join(&k), "at the end");
	close(fd[0]);
}

/*
 * The library maps a lease's regions one after the other, by the number. In between the
 * number becomes another connection: as a signal handler could have it.
 */
static int moving = -1, moved_to;

void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	if (fd >= 0 && fd == moving && len > 2 * 4096) {
		moving = -1;
		MUST(dup2(moved_to, fd) == fd);
	}
	return (void *)syscall(SYS_mmap, at, len, prot, flags, fd, off);
}

static void lease_moves(const struct transport *t, const struct under_case *c)
{
	int a[2], b[2], number;
	char buf[2][16] = { 0 };
	ssize_t n[2];

	under_pair(t, a);
	under_mapped_pair(t, b);
	number = dup(a[0]);
	MUST(number >= 0);
	moving = number;
	moved_to = b[0];
	/* It was open all the time: this is a call before it moved, or one after. */
	NOTE(send(number, "first", 5, MSG_NOSIGNAL), "sent by the number");
	WANT_TRUE(!under_library() || moving < 0, "the number moved");
	moving = -1;
	n[0] = plain_recv(a[1], buf[0], sizeof(buf[0]), MSG_DONTWAIT);
	n[1] = plain_recv(b[1], buf[1], sizeof(buf[1]), MSG_DONTWAIT);
	WANT_TRUE((n[0] == 5 && n[1] < 0) || (n[0] < 0 && n[1] == 5), "to one of the two");
	WANT_TRUE(!memcmp(buf[n[1] == 5], "first", 5), "what came is what was sent");
	close(number);
	NOTE(send(a[0], "second", 6, 0), "sent by the other number");
	memset(buf, 0, sizeof(buf));
	NOTE(plain_recv(a[1], buf[0], sizeof(buf[0]), 0), "came");
	trace_str(buf[0], "what");
	NOTE(send(b[0], "third", 5, 0), "sent by the other connection");
	memset(buf, 0, sizeof(buf));
	NOTE(plain_recv(b[1], buf[0], sizeof(buf[0]), 0), "came");
	trace_str(buf[0], "what");
	tcp_close(a);
	tcp_close(b);
}

/* Where the wake-up is a call of its own: the number goes just before it. */
static int going;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)sig;
	(void)info;
	close(going);
	u->uc_mcontext.gregs[REG_RAX] = -EBADF;
}

static void trap_wake(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, fd, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)SPEED_IOC_WAKE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	struct sigaction sa = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	MUST(sigaction(SIGSYS, &sa, NULL) == 0);
	MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void wake_by_nobody(const struct transport *t, const struct under_case *c)
{
	struct task k;
	char buf[4];
	int fd[2], i;

	under_mapped_pair(t, fd);
	going = dup(fd[0]);
	MUST(going >= 0);
	for (i = 0; i < 4; i++)
		MUST(send(going, "way", 3, 0) == 3 && recv(fd[1], buf, 4, 0) == 3);
	trap_wake(going);
	task_start(&k, recv_some, &fd[1]);
	MUST(task_sleeps(&k));
	NOTE(send(going, "wake", 4, 0), "sent");
	WANT_TRUE(task_ends(&k, 10000), "who waits is woken");
	if (!task_ends(&k, 0))
		send(fd[0], "more", 4, 0);
	NOTE(task_join(&k), "and has it");
	WANT_TRUE(!under_library() || fcntl(going, F_GETFD) < 0, "the number went");
	close(going);
	NOTE(send(fd[0], "again", 5, 0), "by the other number");
	NOTE(recv(fd[1], buf, 4, 0), "came");
	tcp_close(fd);
}

/* daemon() has /dev/null take the place of a connection, inside the C library. */
static int daemon_writes(void *arg)
{
	int s, i;

	MUST(dup2(*(int *)arg, 1) == 1);
	close(*(int *)arg);
	for (i = 0; i < 4; i++)
		MUST(write(1, "a", 1) == 1);
	s = dup(1);
	MUST(s > 2 && daemon(0, 0) == 0);
	for (i = 0; i < 4; i++)
		MUST(write(s, "b", 1) == 1);
	MUST(write(1, "log", 3) == 3);
	return 0;
}

static void daemon_logs(const struct transport *t, const struct under_case *c)
{
	char buf[64] = { 0 };
	int fd[2], n = 0;
	ssize_t got;
	pid_t pid;

	under_mapped_pair(t, fd);
	pid = process_start(daemon_writes, &fd[0]);
	close(fd[0]);
	NOTE(process_join(pid), "what became a daemon");
	while ((got = plain_recv(fd[1], buf + n, sizeof(buf) - 1 - n, 0)) > 0)
		n += got;
	trace_str(buf, "what came");
	plain_close(fd[1]);
}

#define REPLACED	30000

static long send_bytes(void *fd)
{
	long i, failed = 0;

	for (i = 0; i < REPLACED; i++)
		failed += send(*(int *)fd, "x", 1, MSG_NOSIGNAL) != 1;
	return failed;
}

/*
 * A number that another thread makes another connection's, again and again: it is always one.
 * In between it is left alone for long enough to be mapped, which takes a slow machine longer.
 */
static void replaced(const struct transport *t, const struct under_case *c)
{
	int one[2], two[2], fd, alone_us = 2000;
	struct task k;

	under_pair(t, one);
	under_pair(t, two);
	MUST((fd = dup(one[0])) >= 0);
	task_start(&k, send_bytes, &fd);
	while (!task_ends(&k, 0)) {
		MUST(dup2(two[0], fd) == fd);
		sched_yield();
		MUST(dup2(one[0], fd) == fd);
		usleep(alone_us);
		if (under_library() && alone_us < 1000000 && !under_regions())
			alone_us *= 2;
	}
	NOTE(task_join(&k), "sends that failed");
	close(fd);
	tcp_close(one);
	tcp_close(two);
}

static const struct under_case cases[] = {
	{ "replaced", replaced, UNDER_BOTH, 1, UNDER_IDLE, "SPEED_AFTER=1" },
	{ "vfork_first", vfork_first, UNDER_BOTH, 20, 20 },
	{ "closes_nothing", closes_nothing, UNDER_BOTH, 4, 4 },
	{ "lease_moves", lease_moves, UNDER_BOTH, 4, 4 },
	{ "wake_by_nobody", wake_by_nobody, UNDER_BOTH, 4, 4 },
	{ "daemon_logs", daemon_logs, UNDER_BOTH, UNDER_IDLE, UNDER_IDLE },
};

UNDER_CASES(cases)
