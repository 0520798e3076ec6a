// SPDX-License-Identifier: GPL-2.0
/* The actors' processes: see diff_pool.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "diff_pool.h"

#define START_US	20000000

/**
 * struct seat - what the coordinator knows of a process
 * @pid: or 0
 * @pidfd: of it
 * @stat: of each of its two threads, in /proc
 */
struct seat {
	pid_t pid;
	int pidfd;
	int stat[2];
};

static struct seat seats[DIFF_PROCS];

long diff_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

void diff_nap(long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

/* The actors of a process: the first, and how many. */
static int first_of(int proc, int *n)
{
	static const int of[] = { 0, 2, 3 };

	*n = proc % 3 ? 1 : 2;
	return proc / 3 * 4 + of[proc % 3];
}

static void clear_slots(int proc)
{
	int n, actor = first_of(proc, &n), i;

	for (i = actor; i < actor + n; i++)
		memset(&diff_shared->slot[i], 0, sizeof(diff_shared->slot[i]));
	for (i = 0; i < DIFF_FDS; i++)
		diff_shared->proc[proc].fd[i] = -1;
	diff_shared->proc[proc].listener = -1;
}

static void open_stat(struct seat *seat, int thread, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", seat->pid, tid);
	seat->stat[thread] = open(path, O_RDONLY | O_CLOEXEC);
	DIFF_MUST(seat->stat[thread] >= 0);
}

/* Each actor tells its thread id when it is ready. */
static void meet(int proc, pid_t pid)
{
	int n, actor = first_of(proc, &n), i;
	struct seat *seat = &seats[proc];
	long until = diff_now_us() + START_US;
	pid_t tid;

	for (i = 0; i < n; i++) {
		while (!(tid = __atomic_load_n(&diff_shared->slot[actor + i].tid,
					       __ATOMIC_ACQUIRE))) {
			DIFF_MUST(diff_now_us() < until);
			diff_nap(50);
		}
		seat->pid = pid ?: diff_shared->proc[proc].pid;
		open_stat(seat, i, tid);
	}
	seat->pidfd = syscall(SYS_pidfd_open, seat->pid, 0);
	DIFF_MUST(seat->pidfd >= 0);
}

static void start(int proc)
{
	pid_t pid;

	clear_slots(proc);
	fflush(stdout);
	pid = fork();
	DIFF_MUST(pid >= 0);
	if (!pid)
		diff_work(proc);
	meet(proc, pid);
}

/* The actors get it from here. */
static void choose_processor(bool one)
{
	static cpu_set_t all;
	cpu_set_t set;
	int i;

	if (!CPU_COUNT(&all))
		sched_getaffinity(0, sizeof(all), &all);
	set = all;
	for (i = 0; one && i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &set)) {
			CPU_ZERO(&set);
			CPU_SET(i, &set);
			break;
		}
	}
	sched_setaffinity(0, sizeof(set), &set);
}

void diff_pool_start(bool one)
{
	int i;

	choose_processor(one);
	for (i = 0; i < DIFF_PROCS; i++) {
		if (i % 3 == 2)
			clear_slots(i);
		else
			start(i);
	}
}

void diff_pool_adopt(int proc)
{
	meet(proc, 0);
}

void diff_pool_kill(int proc)
{
	struct seat *seat = &seats[proc];

	if (!seat->pid)
		return;
	kill(seat->pid, SIGKILL);
	while (waitpid(seat->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(seat->pidfd);
	close(seat->stat[0]);
	if (proc % 3 == 0)
		close(seat->stat[1]);
	seat->pid = 0;
	clear_slots(proc);
}

void diff_pool_stop(void)
{
	int i;

	for (i = 0; i < DIFF_PROCS; i++)
		diff_pool_kill(i);
}

void diff_pool_revive(void)
{
	int i;

	for (i = 0; i < DIFF_PROCS; i++) {
		if (i % 3 == 2)
			diff_pool_kill(i);
		else if (!seats[i].pid)
			start(i);
	}
}

bool diff_alive(int actor)
{
	return seats[diff_proc(actor)].pid;
}

void diff_interrupt(int actor, int sig)
{
	syscall(SYS_tgkill, seats[diff_proc(actor)].pid, diff_shared->slot[actor].tid, sig);
}

/* Of the thread: R, S, D and so on. */
static char state_of(int actor)
{
	char text[256], *at;
	ssize_t n;

	n = pread(seats[diff_proc(actor)].stat[actor % 4 == 1], text, sizeof(text) - 1, 0);
	if (n <= 0)
		return '?';
	text[n] = '\0';
	at = strrchr(text, ')');
	return at && at[1] ? at[2] : '?';
}

bool diff_asleep(int actor)
{
	return state_of(actor) == 'S' && !diff_done(actor);
}

bool diff_died(int actor)
{
	char state = state_of(actor);

	return state == 'Z' || state == 'X' || state == '?';
}

int diff_borrow(int end)
{
	int proc, i, fd;

	for (proc = end * 3; proc < end * 3 + 3; proc++) {
		for (i = 0; i < DIFF_FDS && seats[proc].pid; i++) {
			fd = diff_shared->proc[proc].fd[i];
			if (fd < 0)
				continue;
			fd = syscall(SYS_pidfd_getfd, seats[proc].pidfd, fd, 0);
			DIFF_MUST(fd >= 0);
			return fd;
		}
	}
	return -1;
}

int diff_held(int end)
{
	int proc, i, n = 0;

	for (proc = end * 3; proc < end * 3 + 3; proc++) {
		for (i = 0; i < DIFF_FDS; i++)
			n += diff_shared->proc[proc].fd[i] >= 0;
	}
	return n;
}
