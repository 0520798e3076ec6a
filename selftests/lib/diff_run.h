/* SPDX-License-Identifier: GPL-2.0 */
/* Running a program once, and what comes of it: a log to be compared. */
#ifndef SPEED_SELFTESTS_DIFF_RUN_H
#define SPEED_SELFTESTS_DIFF_RUN_H

#include "diff_model.h"

#define DIFF_LINES_MAX	(2 * DIFF_STEPS_MAX + 16)
#define DIFF_LINE_MAX	160

/**
 * struct diff_line - a result
 * @seen: as it was
 * @compared: as the rules have it
 */
struct diff_line {
	char seen[DIFF_LINE_MAX];
	char compared[DIFF_LINE_MAX];
};

/**
 * struct diff_log - the results of a run
 * @late: how often something was waited for in vain
 */
struct diff_log {
	int n;
	int late;
	struct diff_line line[DIFF_LINES_MAX];
};

/**
 * struct diff_run - a program being run
 * @fused: steps of the machine are done
 * @src: where the next send's bytes are
 */
struct diff_run {
	const struct diff_program *p;
	struct diff_model m;
	struct diff_log *log;
	bool fused;
	enum diff_break wrong;
	uint32_t src;
};

void diff_run(const struct diff_program *p, bool fused, enum diff_break wrong,
	      struct diff_log *log);
/* The first line that differs, or -1. */
int diff_compare(const struct diff_log *a, const struct diff_log *b);

/* Parts of a run. */
bool diff_start(struct diff_run *r, const struct diff_step *s);
void diff_collect(struct diff_run *r);
void diff_finish_step(struct diff_run *r, int actor, const char *prefix);
void diff_end_program(struct diff_run *r);
void diff_settle(struct diff_run *r, const struct diff_step *s);
void diff_settle_dir(struct diff_run *r, int dir);
void diff_say(struct diff_run *r, const char *prefix, const struct diff_step *s,
	      const char *seen, const char *compared);

/**
 * struct diff_rule - a difference that TCP itself allows
 * @applies: to this result, with the model as it was before it
 * @apply: takes out of the result what is not compared
 */
struct diff_rule {
	const char *name;
	const char *reason;
	bool (*applies)(struct diff_model *m, const struct diff_step *s,
			const struct diff_result *r);
	void (*apply)(struct diff_model *m, const struct diff_step *s, struct diff_result *r);
};

extern const struct diff_rule diff_rules[];
extern const int diff_rules_n;

/* What is not compared is printed as one of these. */
#define DIFF_SOME	(-1000000001L)	/* a number, or EAGAIN */
#define DIFF_ANY	(-1000000002L)	/* any result and errno */

void diff_apply_rules(struct diff_model *m, const struct diff_step *s, struct diff_result *r);
int diff_print_result(const struct diff_result *r, char *out, size_t size);

/* The machine: the sysctl, and a packet socket for all protocols. */
bool diff_fuse_there(void);
void diff_fuse_set(bool on);
void diff_fuse_tap(bool on);
long diff_fuse_count(const char *name);

#endif
