/* SPDX-License-Identifier: GPL-2.0 */
/* Running programs twice, shrinking those that differ, and telling of it. */
#ifndef SPEED_SELFTESTS_DIFF_TEST_H
#define SPEED_SELFTESTS_DIFF_TEST_H

#include "diff_run.h"

/**
 * struct diff_mode - what the second run of each program is
 * @plain: plain TCP, too: this tests the tester
 * @wrong: deliberately wrong
 */
struct diff_mode {
	bool plain;
	enum diff_break wrong;
};

/* Runs it on plain TCP, and as the mode says; the line that differs, or -1. */
int diff_twice(const struct diff_program *p, const struct diff_mode *mode,
	       struct diff_log *first, struct diff_log *second);
/* The second run alone. */
void diff_second(const struct diff_program *p, const struct diff_mode *mode, struct diff_log *log);
/* Leaves out and simplifies what is not needed for the difference. */
void diff_shrink(struct diff_program *p, const struct diff_mode *mode);
/* Prints both logs, down to the difference or whole, and the program to be pasted. */
void diff_print_logs(const struct diff_log *first, const struct diff_log *second, int at);
void diff_print_program(const struct diff_program *p);

/* Programs that differed once, or that must not be left to chance. */
struct diff_named {
	const char *name;
	const char *text;
};

extern const struct diff_named diff_named[];
extern const int diff_named_n;

#endif
