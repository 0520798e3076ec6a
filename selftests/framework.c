// SPDX-License-Identifier: GPL-2.0
/* The framework itself: that a difference is seen, and is not excused by accident. */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

static bool agree(const char *reference, const char *got)
{
	char why[256] = "";

	return transcripts_agree("framework.none", "speed", reference, got, why, sizeof(why));
}

static void comparing(const struct transport *t)
{
	(void)t;
	WANT_TRUE(agree("", ""), "nothing and nothing");
	WANT_TRUE(agree("a\t1\nb\t2\n", "a\t1\nb\t2\n"), "the same");
	WANT_TRUE(!agree("a\t1\nb\t2\n", "a\t1\nb\t3\n"), "another value");
	WANT_TRUE(!agree("a\t1\nb\t2\n", "a\t1\nc\t2\n"), "another label");
	WANT_TRUE(!agree("a\t1\nb\t2\n", "a\t1\n"), "a line less");
	WANT_TRUE(!agree("a\t1\n", "a\t1\nb\t2\n"), "a line more");
	WANT_TRUE(!agree("a\t-1 EPIPE\n", "a\t-1 EPIPE +SIGPIPE\n"), "a signal more");
}

/* An exception holds for its test, its transport, its label and its value alone. */
static void excusing(const struct transport *t)
{
	static const char reference[] = "SIOCATMARK\t0\n", excused[] = "SIOCATMARK\t-1 ENOTTY\n";
	char why[256];

	(void)t;
#define AGREE(test, transport, got)	\
	transcripts_agree(test, transport, reference, got, why, sizeof(why))
	WANT_TRUE(AGREE("ioctls.at_mark", "speed", excused), "the exception");
	WANT_TRUE(!AGREE("ioctls.other", "speed", excused), "another test");
	WANT_TRUE(!AGREE("ioctls.at_mark", "tcp", excused), "another transport");
	WANT_TRUE(!AGREE("ioctls.at_mark", "speed", "SIOCATMARK\t-1 EINVAL\n"), "another value");
	WANT_TRUE(!transcripts_agree("ioctls.at_mark", "speed", "a\t0\n", "a\t0\n", why,
				     sizeof(why)), "an exception that is not needed");
#undef AGREE
}

static void writing(const struct transport *t)
{
	(void)t;
	NOTE(-1, "a call");
	WANT_TRUE(strstr(trace->text, "a call\t-1"), "a failure is written");
	trace_sigpipe(2);
	NOTE(5, "another");
	WANT_TRUE(strstr(trace->text, "another\t5 +SIGPIPE +SIGPIPE\n"), "signals are written");
	WANT_TRUE(!strstr(trace->text, "signals are written\t1 +"), "once");
	trace_bytes("ab", 2, "ab");
	trace_bytes("ba", 2, "ba");
	WANT_TRUE(strcmp(strstr(trace->text, "ab\t") + 3, strstr(trace->text, "ba\t") + 3),
		  "bytes differ by their order");
}

static long sleep_long(void *arg)
{
	(void)arg;
	pause();
	return 0;
}

static long run_long(void *flag)
{
	while (!__atomic_load_n((int *)flag, __ATOMIC_RELAXED))
		;
	return 7;
}

/* What sleeps is told from what runs, and from what has ended. */
static void sleeping(const struct transport *t)
{
	struct task k, l;
	int flag = 0;

	(void)t;
	task_start(&k, sleep_long, NULL);
	WANT_TRUE(task_sleeps(&k), "a sleeper");
	task_start(&l, run_long, &flag);
	sleep_ms(50);
	__atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
	WANT_TRUE(!task_sleeps(&l), "a runner");
	WANT(task_join(&l), 7, 0, "its result");
}

static const struct test_case cases[] = {
	{ "comparing", comparing, CASE_STREAM },
	{ "excusing", excusing, CASE_STREAM },
	{ "writing", writing, CASE_STREAM },
	{ "sleeping", sleeping, CASE_STREAM },
};

RUN_CASES(cases)
