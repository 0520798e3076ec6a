// SPDX-License-Identifier: GPL-2.0
/*
 * Running one body. Each run has a process group of its own and a time limit; what is
 * left of the group at the end is killed, so nothing hangs and nothing stays.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"
#include "stacks.h"
#include "tcp_pair.h"

#define SLOW_MS		5000	/* worth a remark */

static void count_sigpipe(int sig)
{
	(void)sig;
	trace_sigpipe(1);
}

static void run_body(const struct test_case *c, const struct transport *t)
{
	struct sigaction pipes = { .sa_handler = count_sigpipe };

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGPIPE, &pipes, NULL);
	if (t->fused)
		tcp_shim_net();
	c->body(t);
	trace->done = true;
	fflush(stdout);
	_exit(trace->failed);
}

/* Waits for the body, at most its time; the status of waitpid(). */
static int wait_body(pid_t pid, int seconds, bool *late)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	int status = 0;

	*late = poll(&p, 1, seconds * 1000) == 0;
	close(pidfd);
	if (*late) {
		stacks_print(pid);
		kill(pid, SIGKILL);
	}
	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

enum outcome run_one(struct runner *r, const struct test_case *c, const struct transport *t,
		     struct trace *into, char *why)
{
	/* Some are long, and those that are long in the long form are more than that. */
	int seconds = r->seconds * (soak() ? 10 : 1) * (c->flags & CASE_LONG ? 10 : 1);
	long begin = now_ms();
	int status;
	bool late;
	pid_t pid;

	trace = into;
	trace_clear(into);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		run_body(c, t);
	setpgid(pid, pid);
	status = wait_body(pid, seconds, &late);
	if (now_ms() - begin >= SLOW_MS)
		printf("# the next one took %ld s\n", (now_ms() - begin) / 1000);
	*why = '\0';
	if (into->skipped && !into->failed) {
		snprintf(why, REASON_MAX, "%s", into->why);
		return SKIP;
	}
	if (into->failed)
		snprintf(why, REASON_MAX, "%s", into->why);
	else if (late)
		snprintf(why, REASON_MAX, "not done after %d s", seconds);
	else if (WIFSIGNALED(status))
		snprintf(why, REASON_MAX, "ended by signal %d", WTERMSIG(status));
	else if (!into->done)
		snprintf(why, REASON_MAX, "ended early with status %d", WEXITSTATUS(status));
	return *why ? FAIL : PASS;
}
