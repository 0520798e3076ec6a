// SPDX-License-Identifier: GPL-2.0
/* A call of another process, instruction by instruction: see stepper.h. */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "stepper.h"
#include "trace.h"

bool stepper_stopped(pid_t pid, int *status)
{
	MUST(waitpid(pid, status, 0) == pid);
	return WIFSTOPPED(*status);
}

static unsigned long where(pid_t pid)
{
	struct user_regs_struct r;

	MUST(ptrace(PTRACE_GETREGS, pid, NULL, &r) == 0);
	return r.rip;
}

/* A breakpoint: much faster than so many steps. */
static void run_to(pid_t pid, unsigned long at)
{
	struct user_regs_struct r;
	int status;
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, pid, (void *)at, NULL);
	MUST(!errno);
	MUST(ptrace(PTRACE_POKETEXT, pid, (void *)at, (void *)((word & ~0xffl) | 0xcc)) == 0);
	MUST(ptrace(PTRACE_CONT, pid, NULL, NULL) == 0);
	MUST(stepper_stopped(pid, &status) && WSTOPSIG(status) == SIGTRAP);
	MUST(ptrace(PTRACE_POKETEXT, pid, (void *)at, (void *)word) == 0);
	MUST(ptrace(PTRACE_GETREGS, pid, NULL, &r) == 0);
	r.rip = at;
	MUST(ptrace(PTRACE_SETREGS, pid, NULL, &r) == 0);
}

/*
 * Where each instruction of the call is, stepped through once. One that repeats
 * itself (a copy) is one entry. Who dies in between leaves no part of a path.
 */
void stepper_learn(struct stepper *s, pid_t pid)
{
	int status, n = 0;

	memset(s->repeats, 0, sizeof(s->repeats));
	while (!*s->done && n < STEPS_MAX) {
		unsigned long at = where(pid);

		if (n && s->path[n - 1] == at)
			s->repeats[n - 1] = true;
		else
			s->path[n++] = at;
		MUST(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0);
		MUST(stepper_stopped(pid, &status));
	}
	s->count = n;
}

static void single(struct stepper *s, pid_t pid, int n)
{
	int status;

	while (n-- && !*s->done) {
		MUST(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0);
		MUST(stepper_stopped(pid, &status));
	}
}

/*
 * To the k-th instruction: at once to where it is first met, by steps from
 * there; of one that repeats itself, into the middle.
 */
void stepper_to(struct stepper *s, pid_t pid, int k)
{
	int at = 0;

	while (s->path[at] != s->path[k])
		at++;
	if (at)
		run_to(pid, s->path[at]);
	for (; at < k; at++) {
		if (s->repeats[at])
			run_to(pid, s->path[at + 1]);
		else
			single(s, pid, 1);
	}
	if (s->repeats[k])
		single(s, pid, 5);
}

void stepper_kill(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	MUST(!stepper_stopped(pid, &status));
}

int stepper_let_go(pid_t pid, int sig)
{
	int status;

	MUST(ptrace(PTRACE_CONT, pid, NULL, sig) == 0);
	while (stepper_stopped(pid, &status))
		ptrace(PTRACE_CONT, pid, NULL, WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
