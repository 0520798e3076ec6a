// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Counting. What a handle counts is added up when it is taken apart, and at the end of
 * the process for those that still stand; transfers pay nothing for it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "options.h"
#include "pool.h"
#include "stats.h"

static __u64 stats[STATS_COUNT];
static struct speed_stats stats_taken;
static struct stat stats_file;
static int stats_fds[2] = { 2, 2 };

#define STATS_NUMBER	900	/* higher than what a program counts on */

void stats_add(int what, __u64 n)
{
	__atomic_fetch_add(&stats[what], n, __ATOMIC_RELAXED);
}

static void stats_sum(struct speed_stats *sum, const struct speed_stats *one)
{
	__u64 *to = (__u64 *)sum;
	const __u64 *from = (const __u64 *)one;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		__atomic_fetch_add(&to[i], from[i], __ATOMIC_RELAXED);
}

/* A handle is taken apart; both roles are entered. */
void stats_take(struct speed *s)
{
	struct speed_stats one;

	speed_get_stats(s, &one);
	stats_sum(&stats_taken, &one);
}

/* Parent and child count for themselves. */
static void stats_child(void)
{
	memset(stats, 0, sizeof(stats));
	memset(&stats_taken, 0, sizeof(stats_taken));
	for (unsigned int i = 0; i < pool.used; i++)
		spd_handle_uncount(&pool.at[i].s);
}

/*
 * Standard error of the start: some programs close theirs before our destructor runs.
 * By then either number may be another file, which must not get a word.
 */
static void stats_keep(void)
{
	int fd = (int)raw_syscall(SYS_fcntl, 2, F_DUPFD_CLOEXEC, STATS_NUMBER);

	stats_fds[1] = fd < 0 ? 2 : fd;
	if (fstat(2, &stats_file))
		stats_file.st_ino = 0;
}

void stats_start(void)
{
	if (!options.stats)
		return;
	stats_keep();
	pthread_atfork(NULL, NULL, stats_child);
}

static void stats_write(const char *text, size_t len)
{
	struct stat now;

	for (int i = 0; i < 2; i++) {
		if (fstat(stats_fds[i], &now) || !now.st_ino ||
		    now.st_ino != stats_file.st_ino || now.st_dev != stats_file.st_dev)
			continue;
		raw_syscall(SYS_write, stats_fds[i], text, len);
		return;
	}
}

static void stats_print(const struct speed_stats *sum)
{
	char text[512];
	int n;

	n = snprintf(text, sizeof(text),
		     "speedrun: %s[%ld]: sent %llu, received %llu mapped; %llu by system call; "
		     "connections %llu, evicted %llu, denied %llu; epoll events %llu; "
		     "leases %llu, revocations %llu; wakes %llu, waits %llu, spins %llu\n",
		     program_invocation_short_name, raw_syscall(SYS_getpid),
		     (unsigned long long)sum->mapped_sends,
		     (unsigned long long)sum->mapped_recvs, (unsigned long long)sum->calls,
		     (unsigned long long)stats[STATS_HANDLES],
		     (unsigned long long)stats[STATS_EVICTED],
		     (unsigned long long)stats[STATS_DENIED],
		     (unsigned long long)stats[STATS_TOLD],
		     (unsigned long long)sum->leases, (unsigned long long)sum->revocations,
		     (unsigned long long)sum->wakes, (unsigned long long)sum->waits,
		     (unsigned long long)sum->spins);
	if (n > 0)
		stats_write(text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

__attribute__((destructor)) static void stats_end(void)
{
	struct speed_stats sum, one;

	/* A process without connections says so only if it is the one that was asked. */
	if (!options.stats || (!stats[STATS_HANDLES] && !stats[STATS_DENIED] &&
			       options.stats != (unsigned int)raw_syscall(SYS_getpid)))
		return;
	sum = stats_taken;
	for (unsigned int i = 0; i < pool.used; i++) {
		struct slot *h = &pool.at[i];

		if (!__atomic_load_n(&h->busy, __ATOMIC_ACQUIRE))
			continue;
		speed_get_stats(&h->s, &one);
		stats_sum(&sum, &one);
	}
	stats_print(&sum);
}
