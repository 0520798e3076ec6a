// SPDX-License-Identifier: GPL-2.0
/*
 * The control group that pays for rings: its limit holds, and it gets back all
 * of the charge, so that it can go.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

#include "group.h"
#include "stress.h"

#define PAIRS		64
#define RING		65536
#define GONE		12	/* groups */

/* As end_fill(), where there may be no memory for it. */
static bool fill(struct end *e)
{
	static const char buf[4096];
	long bytes = 0, n;

	while ((n = end_send(e, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		bytes += n;
	return bytes >= RING / 2;
}

/* Until one gets no memory: how many were full in both directions. */
static int open_full(const struct transport *t, struct end e[][2])
{
	int i;

	for (i = 0; i < PAIRS; i++) {
		tp_pair_sized(t, e[i], RING / 2);
		if (!fill(&e[i][0]) || !fill(&e[i][1]))
			break;
	}
	return i;
}


static long number_in(const char *file, const char *name)
{
	char text[8192], *at = text;

	if (file_read(file, text, sizeof(text)))
		return -1;
	if (!name)
		return strtol(text, NULL, 10);
	for (; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, name, strlen(name)) && at[strlen(name)] == ' ')
			return strtol(at + strlen(name), NULL, 10);
	}
	return -1;
}

#define CURRENT()	number_in(GROUP "/memory.current", NULL)
#define SOCK()		number_in(GROUP "/memory.stat", "sock")
#define DYING()		number_in(GROUPS "/cgroup.stat", "nr_dying_descendants")

/* Statistics are put together every two seconds, groups go by a work queue. */
#define SOON(cond)							\
	({								\
		long until_ = now_ms() + 60000;				\
									\
		while (!(cond) && now_ms() < until_)			\
			sleep_ms(200);					\
		!!(cond);						\
	})

static int pays(void *arg)
{
	static struct end e[PAIRS][2];
	int i;

	if (group_enter(GROUP))
		return 1;
	if (open_full(arg, e) != PAIRS)
		return 5;
	if (CURRENT() < 2l * PAIRS * RING)
		return 2;
	if (!SOON(SOCK() >= 2l * PAIRS * RING))
		return 3;
	for (i = 0; i < PAIRS; i++)
		pair_close(e[i]);
	return SOON(SOCK() == 0) ? 0 : 4;
}

/* The group outlives its only process; the sockets go with it. */
static int pays_and_dies(void *arg)
{
	static struct end e[PAIRS][2];

	if (group_enter(GROUP))
		return 1;
	if (open_full(arg, e) != PAIRS)
		return 5;
	raise(SIGKILL);
	return 2;
}

static void need_group(void)
{
	group_need();
	if (CURRENT() < 0) {
		rmdir(GROUP);
		trace_skip("needs CONFIG_MEMCG and the memory controller");
	}
}

/* Whatever is a cache goes, what the processors keep at hand of the charge with it. */
static long current_drained(void)
{
	MUST(file_write("/proc/sys/vm/drop_caches", "2") == 0);
	MUST(file_write(GROUP "/memory.max", "0") == 0);
	return CURRENT();
}

/*
 * What a process that has gone leaves behind for a while: of 8 MiB, two rings'
 * worth. The socket's share of it is none.
 */
#define SCRAPS		(2l * RING)

static void want_all_back(void)
{
	long left = 0;

	WANT_TRUE(SOON(SOCK() == 0), "sock in memory.stat: %ld", SOCK());
	WANT_TRUE(SOON((left = current_drained()) <= SCRAPS), "memory.current: %ld", left);
	WANT_OK(rmdir(GROUP), "rmdir");
}

static void paid_back(const struct transport *t)
{
	need_group();
	WANT(process_join(process_start(pays, (void *)t)), 0, 0, "it pays, and gets it back");
	want_all_back();
}

static void killed(const struct transport *t)
{
	need_group();
	WANT(process_join(process_start(pays_and_dies, (void *)t)), -SIGKILL, 0, "it is killed");
	want_all_back();
}

/*
 * A charge that stays keeps the group when its folder has gone. Processors keep
 * a few of those they charged last, too.
 */
static void groups_go(const struct transport *t)
{
	long dying = DYING(), now = 0;
	int i;

	for (i = 0; i < GONE; i++) {
		need_group();
		WANT(process_join(process_start(pays_and_dies, (void *)t)), -SIGKILL, 0, "killed");
		current_drained();
		WANT_OK(rmdir(GROUP), "rmdir");
	}
	WANT_TRUE(SOON((now = DYING()) - dying <= GONE / 2), "of %d groups stay: %ld", GONE,
		  now - dying);
}

static int in_tight_group(void *arg)
{
	static struct end e[PAIRS][2];

	if (group_enter(GROUP))
		return 101;
	return open_full(arg, e);
}

/* The group's limit stops it, by ENOBUFS or as the out-of-memory killer does. */
static void limit(const struct transport *t)
{
	int n;

	need_group();
	MUST(file_write(GROUP "/memory.max", "3M") == 0);
	n = process_join(process_start(in_tight_group, (void *)t));
	trace_num(n, "connections in a tight group");
	WANT_TRUE(n == -SIGKILL || (n >= 0 && n < PAIRS), "it is bounded: %d", n);
	WANT_TRUE(number_in(GROUP "/memory.peak", NULL) <= 4 << 20, "by its limit");
	want_all_back();
}

static const struct test_case cases[] = {
	{ "paid_back", paid_back, CASE_BOTH | CASE_SPEED | CASE_PATHS | CASE_UNMAPPED },
	{ "killed", killed, CASE_STREAM | CASE_SPEED | CASE_PATHS | CASE_UNMAPPED },
	{ "groups_go", groups_go, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "limit", limit, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
