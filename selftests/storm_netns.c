// SPDX-License-Identifier: GPL-2.0
/*
 * Network namespaces that go while connections are open in them, one after the
 * other: the connections work on, and nothing stays behind.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "held.h"
#include "stress.h"

static void left(const struct transport *t)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), i, n = soak_times(10, 10);
	struct end e[4][2];
	struct held held;
	char c;

	if (geteuid())
		trace_skip("needs root, to make a network namespace");
	MUST(home >= 0);
	held_begin(&held);
	for (i = 0; i < n; i++) {
		int at = i % 4;

		/* The sockets alone hold the namespace; they outlive the visit. */
		MUST(unshare(CLONE_NEWNET) == 0);
		if (i >= 4)
			pair_close(e[at]);
		tp_pair_sized(t, e[at], 8192);
		WANT(end_send(&e[at][0], "a", 1, 0), 1, 0, "send");
		MUST(setns(home, CLONE_NEWNET) == 0);
		WANT(end_recv(&e[at][1], &c, 1, 0), 1, 0, "recv, the namespace left");
		WANT(end_send(&e[at][1], "bc", 2, 0), 2, 0, "send back");
	}
	for (i = 0; i < 4; i++)
		pair_close(e[i]);
	held_end(&held);
	close(home);
}

static int dies_abroad(void *arg)
{
	struct end e[2];

	if (unshare(CLONE_NEWNET))
		return 1;
	tp_pair_sized(arg, e, 8192);
	end_send(&e[0], "unread", 6, 0);
	raise(SIGKILL);
	return 0;
}

static void killed(const struct transport *t)
{
	struct held held;
	int i;

	if (geteuid())
		trace_skip("needs root, to make a network namespace");
	held_begin(&held);
	for (i = 0; i < soak_times(10, 10); i++)
		WANT(process_join(process_start(dies_abroad, (void *)t)), -SIGKILL, 0,
		     "with its only process");
	held_end(&held);
}

static const struct test_case cases[] = {
	{ "left", left, CASE_BOTH | CASE_SPEED | CASE_PATHS | CASE_UNMAPPED },
	{ "killed", killed, CASE_STREAM | CASE_SPEED | CASE_PATHS | CASE_UNMAPPED },
};

RUN_CASES(cases)
