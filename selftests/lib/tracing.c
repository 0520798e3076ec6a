// SPDX-License-Identifier: GPL-2.0
/* The tracepoints speed:*: see tracing.h. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "procfile.h"
#include "regions.h"
#include "trace.h"
#include "tracing.h"

#define LOG_MAX		(1 << 20)

void tracing_need(void)
{
	if (access(TRACING "/events", F_OK) && mount("tracefs", TRACING, "tracefs", 0, NULL))
		trace_skip("needs tracefs: %s", strerror(errno));
	if (access(TRACING "/trace", W_OK))
		trace_skip("needs root, to trace");
}

static void enable(const struct tracing *g, const char *on)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/events/speed/enable", g->dir);
	MUST(file_write(path, on) == 0);
}

/*
 * An instance takes its options from the first one. Without the names of tasks,
 * sched_switch is left alone: emulated processors have been seen to trip over
 * the breakpoint that turns it on under them.
 */
static void make_instance(const struct tracing *g)
{
	static const char names[] = TRACING "/options/record-cmd";
	char before[8];

	MUST(file_read(names, before, sizeof(before)) == 0);
	MUST(file_write(names, "0") == 0);
	MUST(mkdir(g->dir, 0700) == 0);
	MUST(file_write(names, before) == 0);
}

/*
 * An instance of its own keeps it apart from what others trace. Events are of
 * the whole machine; the pair's number tells ours.
 */
void tracing_begin(struct tracing *g)
{
	snprintf(g->dir, sizeof(g->dir), TRACING "/instances/speed-%d", getpid());
	make_instance(g);
	enable(g, "1");
}

void tracing_end(struct tracing *g)
{
	char path[256];

	enable(g, "0");
	g->log = malloc(LOG_MAX);
	MUST(g->log);
	snprintf(path, sizeof(path), "%s/trace", g->dir);
	MUST(file_read(path, g->log, LOG_MAX) == 0);
	rmdir(g->dir);
}

int tracing_fired(const struct tracing *g, const char *event, uint64_t pair, int end)
{
	char name[64], number[64];
	const char *at = g->log;
	int n = 0;

	snprintf(name, sizeof(name), " %s: ", event);
	snprintf(number, sizeof(number), "pair=%llu ", (unsigned long long)pair);
	if (end >= 0)
		snprintf(number + strlen(number), 16, "end=%d", end);
	while ((at = strstr(at, name))) {
		at += strlen(name);
		n += !strncmp(at, number, strlen(number));
	}
	return n;
}

uint64_t pair_of(int fd)
{
	struct speed_info i = { 0 };

	MUST(get_exact(fd, SPEED_INFO, &i, sizeof(i)) == 0);
	return i.pair;
}
