// SPDX-License-Identifier: GPL-2.0
/* Programs as text, both ways: see diff_op.h for what it looks like. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff_op.h"

struct text {
	char *at;
	size_t size;
	int used;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *t, const char *fmt, ...)
{
	size_t left = (size_t)t->used < t->size ? t->size - t->used : 0;
	va_list ap;

	va_start(ap, fmt);
	t->used += vsnprintf(left ? t->at + t->used : NULL, left, fmt, ap);
	va_end(ap);
}

static void add_step(struct text *t, const struct diff_step *s)
{
	unsigned int is = diff_codes[s->code].is;
	int i;

	add(t, "%s%s %s", diff_actors[s->actor], s->fd ? "/1" : "", diff_codes[s->code].name);
	if (is & DC_OPTION)
		add(t, " %s", diff_opts[s->opt].name);
	if (is & (DC_LENGTH | DC_VALUE))
		add(t, " %d", s->number);
	for (i = 0; i < DIFF_WORDS; i++) {
		if (s->words & (1u << i))
			add(t, " %s", diff_words[i]);
	}
}

int diff_print_step(const struct diff_step *s, char *out, size_t size)
{
	struct text t = { out, size };

	add_step(&t, s);
	return t.used;
}

int diff_print(const struct diff_program *p, char *out, size_t size)
{
	struct text t = { out, size };
	int i;

	add(&t, "net %s", diff_nets[p->net]);
	for (i = 0; i < p->n; i++) {
		add(&t, "; ");
		add_step(&t, &p->step[i]);
	}
	return t.used;
}

static int find(const char *const *names, int n, const char *name)
{
	int i;

	for (i = 0; i < n; i++) {
		if (!strcmp(names[i], name))
			return i;
	}
	return -1;
}

static int find_code(const char *name)
{
	int i;

	for (i = 0; i < DIFF_CODES; i++) {
		if (!(diff_codes[i].is & DC_TESTER) && !strcmp(diff_codes[i].name, name))
			return i;
	}
	return -1;
}

static int find_opt(const char *name)
{
	int i;

	for (i = 0; i < diff_opts_n; i++) {
		if (!strcmp(diff_opts[i].name, name))
			return i;
	}
	return -1;
}

/* What follows the operation; NULL or what is wrong. */
static const char *parse_arguments(struct diff_step *s, char **save)
{
	unsigned int is = diff_codes[s->code].is;
	char *word, *end;
	int i;

	if (is & DC_OPTION) {
		word = strtok_r(NULL, " \t", save);
		i = word ? find_opt(word) : -1;
		if (i < 0)
			return "no such option";
		s->opt = i;
	}
	if (is & (DC_LENGTH | DC_VALUE)) {
		word = strtok_r(NULL, " \t", save);
		s->number = word ? strtol(word, &end, 10) : 0;
		if (!word || *end)
			return "a number is missing";
	}
	while ((word = strtok_r(NULL, " \t", save))) {
		i = find(diff_words, DIFF_WORDS, word);
		if (i < 0)
			return "no such word";
		s->words |= 1u << i;
	}
	return NULL;
}

static const char *parse_step(struct diff_step *s, char *actor, char **save)
{
	char *slash = strchr(actor, '/'), *word;
	int i;

	memset(s, 0, sizeof(*s));
	if (slash) {
		if (strcmp(slash, "/1"))
			return "no such descriptor";
		s->fd = 1;
		*slash = '\0';
	}
	i = find(diff_actors, DIFF_NAMES, actor);
	if (i < 0)
		return "no such actor";
	s->actor = i;
	word = strtok_r(NULL, " \t", save);
	i = word ? find_code(word) : -1;
	if (i < 0)
		return "no such operation";
	s->code = i;
	return parse_arguments(s, save);
}

static const char *parse_line(struct diff_program *p, char *line)
{
	char *save, *word = strtok_r(line, " \t", &save);
	int i;

	if (!word)
		return NULL;
	if (strcmp(word, "net")) {
		if (p->n == DIFF_STEPS_MAX)
			return "too many steps";
		return parse_step(&p->step[p->n++], word, &save);
	}
	word = strtok_r(NULL, " \t", &save);
	i = word ? find(diff_nets, DIFF_NETS, word) : -1;
	if (i < 0)
		return "no such net";
	p->net = i;
	return NULL;
}

const char *diff_parse(struct diff_program *p, const char *text)
{
	const char *wrong = NULL;
	char copy[DIFF_TEXT_MAX], *line, *save;

	memset(p, 0, sizeof(*p));
	if (strlen(text) >= sizeof(copy))
		return "too long";
	memcpy(copy, text, strlen(text) + 1);
	for (line = strtok_r(copy, ";\n", &save); line && !wrong;
	     line = strtok_r(NULL, ";\n", &save))
		wrong = parse_line(p, line);
	return wrong;
}
