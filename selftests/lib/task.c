// SPDX-License-Identifier: GPL-2.0
/* Tasks: see task.h. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "task.h"
#include "trace.h"
#include "transport.h"

#define TICKS_MS	20	/* a few of the slowest */

void sleep_ms(int ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static long clock_ms(clockid_t which)
{
	struct timespec t;

	clock_gettime(which, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

long now_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

long cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/*
 * A tick moves the time that limits are counted in first, and this clock after it: they
 * are apart while an emulated processor stands still in between.
 */
long ticked_ms(void)
{
	long coarse = clock_ms(CLOCK_MONOTONIC_COARSE);
	int tries;

	for (tries = 0; tries < 500 && now_ms() - coarse > TICKS_MS; tries++) {
		sleep_ms(1);
		coarse = clock_ms(CLOCK_MONOTONIC_COARSE);
	}
	return coarse;
}

static void only_on(int processor)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(processor, &one);
	MUST(sched_setaffinity(0, sizeof(one), &one) == 0);
}

void on_one_processor(void)
{
	only_on(sched_getcpu());
}

void on_processor(int n)
{
	static cpu_set_t all;
	int i = 0;

	if (!CPU_COUNT(&all))
		MUST(sched_getaffinity(0, sizeof(all), &all) == 0);
	n %= CPU_COUNT(&all);
	while (!CPU_ISSET(i, &all) || n--)
		i++;
	only_on(i);
}

static void *run(void *arg)
{
	struct task *k = arg;

	__atomic_store_n(&k->tid, gettid(), __ATOMIC_RELEASE);
	errno = 0;
	k->ret = k->fn(k->arg);
	k->err = errno;
	k->sigpipes = trace_take_sigpipes();
	__atomic_store_n(&k->done, true, __ATOMIC_RELEASE);
	return NULL;
}

void task_start(struct task *k, long (*fn)(void *arg), void *arg)
{
	memset(k, 0, sizeof(*k));
	k->fn = fn;
	k->arg = arg;
	MUST(pthread_create(&k->thread, NULL, run, k) == 0);
	while (!__atomic_load_n(&k->tid, __ATOMIC_ACQUIRE))
		sleep_ms(1);
}

#define ASLEEP		'S'
#define QUEUED		'D'	/* for a lock, or for the kernel's own */

/*
 * The voluntary switches of a thread in that state, or -1 where it is in another. Of two
 * looks that find it asleep with the same count, the second is proof that it slept in
 * between, unless it was woken and slept again for nothing.
 */
static long switches_in(pid_t tid, char wanted)
{
	char path[64], line[128], state = '?';
	long switches = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "State: %c", &state);
		sscanf(line, "voluntary_ctxt_switches: %ld", &switches);
	}
	fclose(f);
	return state == wanted ? switches : -1;
}

#define LOOKS		4
#define LOOK_MS		10

static bool stays(pid_t tid, char state, bool (*ended)(void *arg), void *arg)
{
	long last = -1, now;
	int same = 0;

	while (same < LOOKS) {
		if (ended(arg))
			return false;
		now = switches_in(tid, state);
		same = now >= 0 && now == last ? same + 1 : 0;
		last = now;
		sleep_ms(LOOK_MS);
	}
	return !ended(arg);
}

static bool task_ended(void *arg)
{
	return __atomic_load_n(&((struct task *)arg)->done, __ATOMIC_ACQUIRE);
}

bool task_sleeps(struct task *k)
{
	return stays(k->tid, ASLEEP, task_ended, k);
}

bool task_queues(struct task *k)
{
	return stays(k->tid, QUEUED, task_ended, k);
}

bool task_asleep(const struct task *k)
{
	return switches_in(k->tid, ASLEEP) >= 0;
}

bool task_ends(const struct task *k, int ms)
{
	long until = now_ms() + ms;

	while (!__atomic_load_n(&k->done, __ATOMIC_ACQUIRE)) {
		if (now_ms() >= until)
			return false;
		sleep_ms(10);
	}
	return true;
}

long task_join(struct task *k)
{
	MUST(pthread_join(k->thread, NULL) == 0);
	trace_sigpipe(k->sigpipes);
	errno = k->err;
	return k->ret;
}

pid_t process_start(int (*fn)(void *arg), void *arg)
{
	pid_t pid = fork();

	MUST(pid >= 0);
	if (pid == 0)
		_exit(fn(arg));
	return pid;
}

int process_join(pid_t pid)
{
	int status;

	MUST(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static bool process_ended(void *arg)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, *(pid_t *)arg, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid;
}

bool process_sleeps(pid_t pid)
{
	return stays(pid, ASLEEP, process_ended, &pid);
}

long call_send(void *call)
{
	struct call *c = call;

	return end_send(c->e, c->buf, c->len, c->flags);
}

long call_recv(void *call)
{
	struct call *c = call;

	return end_recv(c->e, c->buf, c->len, c->flags);
}

long call_send_all(void *call)
{
	struct call *c = call;

	return end_send_all(c->e, c->buf, c->len);
}

long call_recv_all(void *call)
{
	struct call *c = call;

	return end_recv_all(c->e, c->buf, c->len);
}

int shell(const char *fmt, ...)
{
	char what[256], line[288];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	snprintf(line, sizeof(line), "{ %s; } >/dev/null 2>&1", what);
	return system(line);
}
