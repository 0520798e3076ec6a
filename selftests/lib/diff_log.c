// SPDX-License-Identifier: GPL-2.0
/* Results as text, and the comparison of two logs: see diff_run.h. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "diff_run.h"

struct line {
	char *at;
	size_t size;
	size_t used;
};

static void __attribute__((format(printf, 2, 3))) add(struct line *l, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(l->at + l->used, l->size - l->used, fmt, ap);
	va_end(ap);
	l->used += n;
	if (l->used >= l->size)
		l->used = l->size - 1;
}

static void add_words(struct line *l, uint32_t mask)
{
	int i;

	add(l, " [");
	for (i = 0; i < DIFF_WORDS; i++) {
		if (mask & (1u << i))
			add(l, "%s%s", l->at[l->used - 1] == '[' ? "" : " ", diff_words[i]);
	}
	add(l, "]");
}

static void add_ret(struct line *l, const struct diff_result *r)
{
	if (r->ret == DIFF_SOME)
		add(l, "some");
	else if (r->ret == DIFF_ANY)
		add(l, "anything");
	else
		add(l, "%ld", r->ret);
	if (r->err)
		add(l, " %s", strerrorname_np(r->err) ?: "error");
}

static void add_signals(struct line *l, uint32_t signals)
{
	int sig;

	for (sig = 1; sig < 32; sig++) {
		if (signals & (1u << sig))
			add(l, " SIG%s", sigabbrev_np(sig));
	}
}

int diff_print_result(const struct diff_result *r, char *out, size_t size)
{
	struct line l = { out, size };

	add_ret(&l, r);
	if (r->has & DR_MASK)
		add_words(&l, r->mask);
	if (r->mask2)
		add(&l, " also %x", r->mask2);
	if (r->has & DR_HASH)
		add(&l, " bytes %08x", r->hash);
	if (r->has & DR_VALUE)
		add(&l, " value %ld", r->value);
	if (r->has & DR_INQ)
		add(&l, " inq %d", r->inq);
	if ((r->has & DR_FLAGS) && r->flags)
		add(&l, " flags %x", r->flags);
	add_signals(&l, r->signals);
	if (r->dirty)
		add(&l, " (wrote behind its bytes)");
	return l.used;
}

void diff_say(struct diff_run *r, const char *prefix, const struct diff_step *s,
	      const char *seen, const char *compared)
{
	char step[80] = "";
	struct diff_line *l;

	if (r->log->n == DIFF_LINES_MAX)
		return;
	l = &r->log->line[r->log->n++];
	if (s)
		diff_print_step(s, step, sizeof(step));
	snprintf(l->seen, sizeof(l->seen), "%s%-28s = %s", prefix, step, seen);
	snprintf(l->compared, sizeof(l->compared), "%s%-28s = %s", prefix, step, compared);
}

int diff_compare(const struct diff_log *a, const struct diff_log *b)
{
	int i;

	for (i = 0; i < a->n && i < b->n; i++) {
		if (strcmp(a->line[i].compared, b->line[i].compared))
			return i;
	}
	return a->n == b->n ? -1 : i;
}
