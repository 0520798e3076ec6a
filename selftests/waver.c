// SPDX-License-Identifier: GPL-2.0
/*
 * The runner itself, where the kernel's own sockets do not do the same twice: a stock one is
 * asked again, a socket under test may do what its reference did in any run, and nothing else
 * is forgiven.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"

#define WRONG	"SPEED_WAVER_WRONG"

#define RUNS	4

/* Counted by all bodies, each of which runs in a process of its own. */
static int *runs;

static bool stock_tcp(const struct transport *t)
{
	return tp_is_tcp(t) && !t->fused;
}

/* TCP's third answer is right at last. */
static void stock(const struct transport *t)
{
	trace_num(stock_tcp(t) && ++*runs < 3, "answer");
}

/* Plain TCP says 0 and 1 in turn, fused TCP 1. */
static void fused(const struct transport *t)
{
	trace_num(t->fused || (stock_tcp(t) && ++*runs % 2 == 0), "answer");
}

/* AF_UNIX's first answer is one that it gives no more, and nobody else gives. */
static void reference(const struct transport *t)
{
	trace_num(t->family == AF_UNIX && !runs[2]++, "answer");
}

/* The same where nobody but AF_SPEED is compared with it. */
static void reference_alone(const struct transport *t)
{
	trace_num(t->family == AF_UNIX && !runs[3]++, "answer");
}

static void stock_never(const struct transport *t)
{
	trace_num(stock_tcp(t), "answer");
}

static void fused_never(const struct transport *t)
{
	trace_num(t->fused, "answer");
}

static void speed_at_first(const struct transport *t)
{
	trace_num(t->speed && ++*runs < 2, "answer");
}

/* AF_UNIX says 1, then 0, and AF_SPEED neither. */
static void speed_never(const struct transport *t)
{
	trace_num(t->speed ? 2 : !runs[2]++, "answer");
}

static void fused_at_first(const struct transport *t)
{
	WANT_TRUE(!t->fused || ++runs[1] > 1, "right");
}

static const struct test_case wrong[] = {
	{ "stock_never", stock_never, CASE_STREAM | CASE_TCP },
	{ "fused_never", fused_never, CASE_STREAM | CASE_TCP | CASE_FUSED },
	{ "speed_at_first", speed_at_first, CASE_STREAM },
	{ "speed_never", speed_never, CASE_STREAM },
	{ "fused_at_first", fused_at_first, CASE_STREAM | CASE_FUSED_ONLY },
};

#define WRONGS	(sizeof(wrong) / sizeof(wrong[0]))

/* Each of those fails, in one of its transports; fused TCP has no reference in the first. */
static void is_seen(const struct transport *t)
{
	char line[256], self[128];
	unsigned int failed = 0;
	FILE *out;

	(void)t;
	MUST(snprintf(self, sizeof(self), "/proc/%d/exe", getpid()) > 0);
	MUST(setenv(WRONG, "1", 1) == 0 && unsetenv("SPEED_TRANSPORT") == 0);
	out = popen(self, "r");
	MUST(out);
	while (fgets(line, sizeof(line), out))
		failed += !strncmp(line, "not ok ", 7);
	WANT(pclose(out), 1 << 8, 0, "status");
	WANT(failed, WRONGS + 1, 0, "failed");
}

static const struct test_case cases[] = {
	{ "stock", stock, CASE_STREAM | CASE_TCP },
	{ "fused", fused, CASE_STREAM | CASE_TCP | CASE_FUSED },
	{ "reference", reference, CASE_STREAM | CASE_TCP | CASE_FUSED },
	{ "reference_alone", reference_alone, CASE_STREAM },
	{ "is_seen", is_seen, CASE_STREAM | CASE_SPEED },
};

int main(int argc, char **argv)
{
	runs = mmap(NULL, RUNS * sizeof(*runs), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (runs == MAP_FAILED)
		return 1;
	if (getenv(WRONG))
		return run_cases(argc, argv, wrong, WRONGS);
	return run_cases(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
