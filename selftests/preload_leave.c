// SPDX-License-Identifier: GPL-2.0
/*
 * Handlers that leave a transfer by siglongjmp, under the library: the connection goes on.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <ucontext.h>
#include <unistd.h>

#include "preload/ticks.h"
#include "preload/under.h"
#include "tcp_pair.h"

#define LEAVES		30

struct record {
	int32_t who;
	int32_t number;
};

static volatile int handled;

static sigjmp_buf back;

static void handler_leaves(int sig)
{
	handled++;
	siglongjmp(back, 1);
}

/* Out of a receive that sleeps, again and again; the connection goes on. */
static void leaving(const struct transport *t, const struct under_case *c)
{
	volatile int i, n = soak_times(8, 20);
	int fd[2];
	char buf[8];

	signal(SIGALRM, handler_leaves);
	for (i = 0; i < n; i++) {
		under_mapped_pair(t, fd);
		MUST(send(fd[1], "one", 3, 0) == 3 && recv(fd[0], buf, 8, 0) == 3);
		if (!sigsetjmp(back, 1)) {
			ualarm(30000, 0);
			NOTE(recv(fd[0], buf, 8, 0), "not to be");
		}
		WANT(handled, i + 1, 0, "left");
		NOTE(send(fd[1], "two", 3, 0), "after it");
		NOTE(recv(fd[0], buf, 8, 0), "and received");
		trace_bytes(buf, 3, "bytes");
		NOTE(send(fd[0], "back", 4, 0), "the other way");
		NOTE(recv(fd[1], buf, 8, 0), "and received");
		NOTE(recv(fd[0], buf, 8, MSG_DONTWAIT), "nothing more");
		tcp_close(fd);
	}
}

/* Until the other thread was interrupted often enough, or for very long. */
static void *far_sends_on(void *arg)
{
	long until = now_ms() + 20000;
	int *fd = arg;
	struct record r = { 0, 0 };

	for (; handled < LEAVES && now_ms() < until; r.number++)
		if (send(*fd, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
			break;
	shutdown(*fd, SHUT_WR);
	return NULL;
}

/*
 * Out of transfers anywhere. What recv() would have returned is lost then, as it is
 * without the library; nothing comes twice or out of order, and there is an end.
 */
static void leaving_anywhere(const struct transport *t, const struct under_case *c)
{
	volatile int last = -1, bad = 0;
	struct sigaction sa = { .sa_handler = handler_leaves };
	struct record r;
	pthread_t far;
	int fd[2];

	under_mapped_pair(t, fd);
	start_apart(&far, far_sends_on, &fd[1]);
	sigsetjmp(back, 1);
	if (handled < LEAVES) {
		tick(true, handler_leaves);
		sigaction(SIGALRM, &sa, NULL);
	} else {
		tick(false, SIG_IGN);
	}
	while (recv(fd[0], &r, sizeof(r), 0) == sizeof(r)) {
		bad += r.number <= last;
		last = r.number;
	}
	tick(false, SIG_IGN);
	pthread_join(far, NULL);
	WANT(bad, 0, 0, "twice or out of order");
	WANT_TRUE(handled >= LEAVES, "it was left");
	WANT(recv(fd[0], &r, sizeof(r), 0), 0, 0, "the end");
	tcp_close(fd);
}

#define TRAP_FLAG	(1l << 8)	/* of x86's flags: a SIGTRAP after each instruction */

static volatile long traps, leave_at;

static void handler_steps(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	if (++traps != leave_at)
		return;
	u->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	siglongjmp(back, 1);
}

static inline void step(bool on)
{
	unsigned long flags = __builtin_ia32_readeflags_u64() & ~TRAP_FLAG;

	__builtin_ia32_writeeflags_u64(on ? flags | TRAP_FLAG : flags);
}

static long answer(void *arg)
{
	const int *fd = arg;
	char buf[8];

	return recv(*fd, buf, 8, 0) == 3 && send(*fd, "back", 4, MSG_NOSIGNAL) == 4 ? 0 : -1;
}

/* It is left after @at instructions, 0: never. Return: whether it was answered. */
static bool leave_send(const struct transport *t, long at)
{
	volatile bool left = true;
	int fd[2], unread = 0;
	char buf[8];
	struct task k;
	bool good;

	under_mapped_pair(t, fd);
	task_start(&k, answer, &fd[1]);
	MUST(task_sleeps(&k));
	traps = 0;
	leave_at = at;
	if (!sigsetjmp(back, 1)) {
		step(true);
		send(fd[0], "one", 3, 0);
		step(false);
		left = false;
	}
	/* Left before anything was sent: it is sent now. */
	MUST(ioctl(fd[1], FIONREAD, &unread) == 0);
	if (left && !unread && !poll_wait(fd[0], POLLIN, 20))
		MUST(send(fd[0], "one", 3, 0) == 3);
	alarm(20);
	good = recv(fd[0], buf, 8, 0) == 4;
	alarm(0);
	good &= !task_join(&k);
	tcp_close(fd);
	return good;
}

/* Out of a send, after each of its instructions: who sleeps for what was sent hears of it. */
static void leaving_send(const struct transport *t, const struct under_case *c)
{
	struct sigaction sa = { .sa_sigaction = handler_steps, .sa_flags = SA_SIGINFO };
	long all, at, stride, bad;

	MUST(sigaction(SIGTRAP, &sa, NULL) == 0);
	bad = !leave_send(t, 0);
	all = traps;
	stride = all / soak_times(40, 50) ?: 1;
	for (at = 1; at <= all; at += stride)
		bad += !leave_send(t, at);
	WANT(bad, 0, 0, "not answered");
	WANT_TRUE(all > 2, "it was stepped");
}

static const struct under_case cases[] = {
	{ "leave", leaving, UNDER_BOTH, 8, 8 },
	{ "leave_anywhere", leaving_anywhere, UNDER_BOTH, 6, 6 },
	{ "leave_send", leaving_send, UNDER_BOTH, 8, 8 },
};

UNDER_CASES(cases)
