// SPDX-License-Identifier: GPL-2.0
/* Runs a program twice, and prints what came of it: see diff_test.h. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "diff_test.h"

#define PASTE_COLUMNS	84

void diff_second(const struct diff_program *p, const struct diff_mode *mode, struct diff_log *log)
{
	if (!mode->plain)
		diff_fuse_set(true);
	diff_run(p, !mode->plain, mode->wrong, log);
	if (!mode->plain)
		diff_fuse_set(false);
}

int diff_twice(const struct diff_program *p, const struct diff_mode *mode,
	       struct diff_log *first, struct diff_log *second)
{
	diff_run(p, false, DB_NOTHING, first);
	diff_second(p, mode, second);
	return diff_compare(first, second);
}

static void print_line(const char *mark, const struct diff_log *log, int i)
{
	if (i < log->n)
		printf("# %s %s\n", mark, log->line[i].seen);
}

void diff_print_logs(const struct diff_log *first, const struct diff_log *second, int at)
{
	int i, n = first->n > second->n ? first->n : second->n;

	for (i = 0; i < n && (at < 0 || i <= at); i++) {
		if (i < first->n && i < second->n &&
		    !strcmp(first->line[i].seen, second->line[i].seen)) {
			print_line("       ", first, i);
			continue;
		}
		print_line("plain  ", first, i);
		print_line(i == at ? "SECOND " : "second ", second, i);
	}
	if (first->late || second->late)
		printf("# waited in vain: %d times, second %d\n", first->late, second->late);
}

/* As a string of C, cut between steps. */
void diff_print_program(const struct diff_program *p)
{
	char text[DIFF_TEXT_MAX], *at = text, *cut, *next;

	diff_print(p, text, sizeof(text));
	while (strlen(at) > PASTE_COLUMNS) {
		cut = at;
		for (next = at; next && next - at < PASTE_COLUMNS; next = strchr(next + 1, ';'))
			cut = next;
		if (cut == at)
			break;
		printf("#\t  \"%.*s; \"\n", (int)(cut - at), at);
		at = cut + 2;
	}
	printf("#\t  \"%s\"\n", at);
}
