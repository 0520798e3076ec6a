/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The runner: runs each case of a file once for each transport, compares the
 * transcripts with the reference's and prints TAP.
 */
#ifndef SPEED_SELFTESTS_HARNESS_H
#define SPEED_SELFTESTS_HARNESS_H

#include "task.h"
#include "trace.h"
#include "transport.h"

/* Which socket types a case runs with; both: twice. */
#define CASE_STREAM	(1u << 0)
#define CASE_SEQPACKET	(1u << 1)
/* TCP must agree with AF_UNIX too. */
#define CASE_TCP	(1u << 2)
/* AF_SPEED runs it by every path, and not by system calls alone. */
#define CASE_PATHS	(1u << 3)
/* There is no AF_UNIX for it: TCP is the reference. */
#define CASE_LIKE_TCP	(1u << 4)
/* There is no reference at all: each result has its WANT in the body. */
#define CASE_SPEED	(1u << 5)
/* Through a mapping it may still move all its bytes by system call. */
#define CASE_UNMAPPED	(1u << 6)
/* It takes long: it has ten times the time. */
#define CASE_LONG	(1u << 7)
/* Fused TCP runs it, as it does all that TCP does. */
#define CASE_FUSED	(1u << 8)
/* Fused TCP alone runs it: each result has its WANT in the body. */
#define CASE_FUSED_ONLY	(1u << 9 | CASE_FUSED | CASE_SPEED)

#define CASE_BOTH	(CASE_STREAM | CASE_SEQPACKET)
#define CASE_ALL	(CASE_STREAM | CASE_TCP | CASE_PATHS)

struct test_case {
	const char *name;
	void (*body)(const struct transport *t);
	unsigned int flags;
};

int run_cases(int argc, char **argv, const struct test_case *cases, size_t n);

#define RUN_CASES(cases)							\
	int main(int argc, char **argv)						\
	{									\
		return run_cases(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));	\
	}

/* True for the long form of a test, which make soak runs. */
bool soak(void);
/* True for the short one, which check runs on kernels beside the first. */
bool brief(void);
/* n, or so many times more in the long form, or in the short one a fourth of many. */
int soak_times(int n, int more);

/**
 * struct exception - a result that may differ from the reference's
 * @test: "file.case", as fnmatch() has it, like the next three
 * @transport: name of the transport
 * @label: of the line
 * @value: what the line must say instead
 * @reason: why this is right
 */
struct exception {
	const char *test;
	const char *transport;
	const char *label;
	const char *value;
	const char *reason;
};

/* Compares, line by line. Returns false and why not. */
bool transcripts_agree(const char *test, const char *transport, const char *reference,
		       const char *got, char *why, size_t size);

#endif
