/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the runner share. */
#ifndef SPEED_SELFTESTS_RUNNER_H
#define SPEED_SELFTESTS_RUNNER_H

#include "harness.h"

#define SECONDS_DEFAULT	120
#define REASON_MAX	1024
#define STOCK_TRIES	3

/**
 * struct runner - a run of a file's cases
 * @file: the file's name
 * @speed: the family's number, or -1
 * @first: whose words are @reference
 * @tcp: what plain TCP said, the reference of fused TCP
 * @again: what a reference said when it was asked again
 */
struct runner {
	const char *file;
	const char *only_case;
	const char *only_transport;
	bool reference_only;
	bool verbose;
	int speed;
	int seconds;
	int number;
	int passed;
	int failed;
	int skipped;
	struct transport first;
	struct trace *reference;
	struct trace *got;
	struct trace *tcp;
	struct trace *again;
};

enum outcome { PASS, FAIL, SKIP };

/* Runs a body for a transport; @why has room for REASON_MAX. */
enum outcome run_one(struct runner *r, const struct test_case *c, const struct transport *t,
		     struct trace *into, char *why);
/* The command line and the environment; false, with a word on usage, where they are wrong. */
bool runner_parse(struct runner *r, int argc, char **argv);

#endif
