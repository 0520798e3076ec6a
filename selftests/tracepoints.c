// SPDX-License-Identifier: GPL-2.0
/* The tracepoints speed:*: each is there, and fires for what it is named after. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "procfile.h"

#define TRACING		"/sys/kernel/tracing"
#define LOG_MAX		(1 << 20)

static void need_tracing(void)
{
	if (access(TRACING "/events", F_OK) && mount("tracefs", TRACING, "tracefs", 0, NULL))
		trace_skip("needs tracefs: %s", strerror(errno));
	if (access(TRACING "/trace", W_OK))
		trace_skip("needs root, to trace");
}

/*
 * An instance of its own keeps it apart from what others trace. Events are of
 * the whole machine; the pair's number tells ours.
 */
static void begin(char *dir, size_t size)
{
	char path[256];

	snprintf(dir, size, TRACING "/instances/speed-%d", getpid());
	MUST(mkdir(dir, 0700) == 0);
	snprintf(path, sizeof(path), "%s/events/speed/enable", dir);
	MUST(file_write(path, "1") == 0);
}

static void finish(const char *dir, char *log)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/events/speed/enable", dir);
	MUST(file_write(path, "0") == 0);
	snprintf(path, sizeof(path), "%s/trace", dir);
	MUST(file_read(path, log, LOG_MAX) == 0);
	rmdir(dir);
}

/* How often an event of that pair is in the log. */
static int fired(const char *log, const char *event, uint64_t pair)
{
	char name[64], number[64];
	const char *at = log;
	int n = 0;

	snprintf(name, sizeof(name), " %s: ", event);
	snprintf(number, sizeof(number), "pair=%llu ", (unsigned long long)pair);
	while ((at = strstr(at, name))) {
		at += strlen(name);
		n += !strncmp(at, number, strlen(number));
	}
	return n;
}

static uint64_t pair_of(int fd)
{
	struct speed_info i = { 0 };
	socklen_t len = sizeof(i);

	MUST(getsockopt(fd, SOL_SPEED, SPEED_INFO, &i, &len) == 0);
	return i.pair;
}

static void exist(const struct transport *t)
{
	static const char *const names[] = {
		"speed_connect", "speed_accept", "speed_close", "speed_publish", "speed_sleep",
		"speed_wake", "speed_map", "speed_reset",
	};
	char path[256];
	size_t i;

	(void)t;
	need_tracing();
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), TRACING "/events/speed/%s/format", names[i]);
		WANT_OK(access(path, R_OK), "%s", names[i]);
	}
}

static void life(const struct transport *t)
{
	char dir[256], *log = malloc(LOG_MAX), buf[8];
	struct end e[2];
	struct call c;
	struct task k;
	uint64_t pair;

	MUST(log);
	need_tracing();
	begin(dir, sizeof(dir));
	tp_pair(t, e);
	pair = pair_of(e[0].fd);
	c = (struct call){ &e[1], buf, 8, 0 };
	task_start(&k, call_recv, &c);
	WANT_TRUE(task_sleeps(&k), "recv waits");
	WANT(end_send(&e[0], "x", 1, 0), 1, 0, "send");
	WANT(task_join(&k), 1, 0, "recv");
	pair_close(e);
	finish(dir, log);
	WANT(fired(log, "speed_connect", pair), 1, 0, "speed_connect");
	WANT(fired(log, "speed_accept", pair), 1, 0, "speed_accept");
	WANT_TRUE(fired(log, "speed_sleep", pair) >= 1, "speed_sleep");
	WANT_TRUE(fired(log, "speed_publish", pair) >= 1, "speed_publish");
	WANT_TRUE(fired(log, "speed_wake", pair) >= 1, "speed_wake");
	WANT(fired(log, "speed_close", pair), 2, 0, "speed_close");
	WANT(fired(log, "speed_reset", pair), 0, 0, "speed_reset");
	WANT(fired(log, "speed_map", pair), 0, 0, "speed_map");
	free(log);
}

static void mapping(const struct transport *t)
{
	char dir[256], *log = malloc(LOG_MAX);
	struct end e[2];
	struct speed *m;
	uint64_t pair;

	MUST(log);
	need_tracing();
	begin(dir, sizeof(dir));
	tp_pair(t, e);
	pair = pair_of(e[0].fd);
	m = speed_attach(e[0].fd, 0);
	MUST(m && speed_map(m, SPEED_MAP_BOTH) == 0);
	speed_detach(m);
	pair_close(e);
	finish(dir, log);
	WANT_TRUE(fired(log, "speed_map", pair) >= 2, "speed_map");
	free(log);
}

/* A peer that lies is reset, and that is told, once. */
static void reset(const struct transport *t)
{
	struct speed_lease l = { .role = SPEED_ROLE_TX };
	socklen_t len = sizeof(l);
	char dir[256], *log = malloc(LOG_MAX), buf[8];
	struct speed_index *own;
	struct end e[2];
	uint64_t pair;

	MUST(log);
	need_tracing();
	begin(dir, sizeof(dir));
	tp_pair(t, e);
	pair = pair_of(e[0].fd);
	WANT_OK(getsockopt(e[0].fd, SOL_SPEED, SPEED_LEASE, &l, &len), "lease");
	own = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, e[0].fd,
		   l.off_own);
	MUST(own != MAP_FAILED);
	own->index = l.size + 8;
	WANT_ERR(recv(e[1].fd, buf, 8, 0), ECONNRESET, "recv from a liar");
	pair_close(e);
	finish(dir, log);
	WANT(fired(log, "speed_reset", pair), 1, 0, "speed_reset");
	free(log);
}

static const struct test_case cases[] = {
	{ "exist", exist, CASE_STREAM | CASE_SPEED },
	{ "life", life, CASE_BOTH | CASE_SPEED },
	{ "mapping", mapping, CASE_BOTH | CASE_SPEED },
	{ "reset", reset, CASE_BOTH | CASE_SPEED },
};

RUN_CASES(cases)
