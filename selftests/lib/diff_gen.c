// SPDX-License-Identifier: GPL-2.0
/* Makes programs: a beginning, then what its features weigh. See diff_gen.h. */
#define _GNU_SOURCE
#include <string.h>

#include "diff_gen.h"

#define STEPS_LEAST	8
#define STEPS_MOST	22

uint32_t diff_below(struct diff_gen *g, uint32_t n)
{
	g->chance ^= g->chance >> 12;
	g->chance ^= g->chance << 25;
	g->chance ^= g->chance >> 27;
	return (g->chance * 0x2545f4914f6cdd1dull >> 32) % n;
}

bool diff_percent(struct diff_gen *g, uint32_t percent)
{
	return diff_below(g, 100) < percent;
}

struct diff_step *diff_emit(struct diff_gen *g, int actor, int code, int number, uint32_t words)
{
	static struct diff_step nowhere;
	struct diff_step *s = &nowhere;

	if (g->p->n < DIFF_STEPS_MAX)
		s = &g->p->step[g->p->n++];
	*s = (struct diff_step){ .actor = actor, .code = code, .words = words };
	if (diff_codes[code].is & (DC_LENGTH | DC_VALUE))
		s->number = number;
	if (actor < DIFF_ACTORS && g->has1[actor])
		s->fd = !g->has[actor] || diff_percent(g, 30);
	return s;
}

static int option(const char *name)
{
	int i;

	for (i = 0; i < diff_opts_n; i++) {
		if (!strcmp(diff_opts[i].name, name))
			return i;
	}
	return 0;
}

void diff_emit_option(struct diff_gen *g, int actor, int code, const char *name, int value)
{
	diff_emit(g, actor, code, value, 0)->opt = option(name);
}

/* Dangerous ones have features of their own, and are seldom here. */
static bool is_wild(const struct diff_opt *o)
{
	return o->id == OI_SNDBUF || o->id == OI_RCVBUF || o->id == OI_CORK ||
	       o->id == OI_RCVTIMEO || o->id == OI_SNDTIMEO || o->id == OI_NONBLOCK ||
	       o->id == OI_FASTOPEN || o->kind == DK_ULP || o->kind == DK_REPAIR;
}

void diff_emit_any_option(struct diff_gen *g, int actor, int code)
{
	const struct diff_opt *o;
	int i, tries = 8;

	do {
		i = diff_below(g, diff_opts_n);
		o = &diff_opts[i];
	} while (((code == DO_GET && !o->get) || (is_wild(o) && !diff_percent(g, 5))) && --tries);
	if (!tries)
		return;
	diff_emit(g, actor, code, code == DO_GET ? 0 : o->values[diff_below(g, o->n)], 0)->opt = i;
}

int diff_pick_actor(struct diff_gen *g, int end)
{
	int i, first = end * 4, at = diff_percent(g, 75) ? 0 : diff_below(g, 4);

	for (i = 0; i < 4; i++) {
		int actor = first + (at + i) % 4;

		if ((g->has[actor] || g->has1[actor]) && g->waits[end] != actor)
			return actor;
	}
	return -1;
}

int diff_pick_length(struct diff_gen *g)
{
	uint32_t kind = diff_below(g, 100);

	if (g->features & GF_SMALL)
		return diff_below(g, 120);
	if (kind < 70)
		return diff_below(g, 101);
	if (kind < 90)
		return diff_below(g, 4000);
	return diff_below(g, 16000);
}

/* What a step is about, in parts of the sum of those whose feature the program has. */
static const struct {
	uint32_t feature;
	int weight;
	void (*make)(struct diff_gen *g, int end);
} kinds[] = {
	{ 0, 30, diff_gen_send },
	{ 0, 30, diff_gen_recv },
	{ GF_READY, 20, diff_gen_ready },
	{ GF_BIG, 12, diff_gen_big },
	{ GF_HOLDERS, 14, diff_gen_holder },
	{ GF_ENDS, 6, diff_gen_end },
};

#define KINDS	(sizeof(kinds) / sizeof(kinds[0]))

static void make_step(struct diff_gen *g)
{
	int sum = 0, at, end = diff_below(g, 2);
	size_t i;

	if (g->waits[end] >= 0 && diff_percent(g, 60))
		return diff_gen_relief(g, end);
	for (i = 0; i < KINDS; i++)
		sum += !kinds[i].feature || (g->features & kinds[i].feature) ? kinds[i].weight : 0;
	at = diff_below(g, sum);
	for (i = 0; i < KINDS; i++) {
		if (kinds[i].feature && !(g->features & kinds[i].feature))
			continue;
		at -= kinds[i].weight;
		if (at < 0)
			return kinds[i].make(g, end);
	}
}

static void make_option(struct diff_gen *g)
{
	int actor = diff_pick_actor(g, diff_below(g, 2));

	if (actor >= 0)
		diff_emit_any_option(g, actor, diff_percent(g, 70) ? DO_SET : DO_GET);
}

static void make_question(struct diff_gen *g)
{
	static const int questions[] = {
		DO_INQ, DO_INQ, DO_OUTQ, DO_NAMES, DO_INFO, DO_ERRQ, DO_ATMARK
	};
	int actor = diff_pick_actor(g, diff_below(g, 2));

	if (actor < 0)
		return;
	if (g->features & GF_ZEROCOPY && diff_percent(g, 50))
		diff_emit(g, actor, DO_ZCDONE, 0, 0);
	else
		diff_emit(g, actor, questions[diff_below(g, 7)], 0, 0);
}

/* Most features are in one program of five; the hidden steps in most. */
static uint32_t pick_features(struct diff_gen *g)
{
	static const int percent[GF_N] = {
		35, 30, 30, 12, 8, 10, 25, 40, 15, 8, 6, 8, 15, 25, 65, 35
	};
	uint32_t features = 0;
	int i;

	for (i = 0; i < GF_N; i++)
		features |= diff_percent(g, percent[i]) ? 1u << i : 0;
	if (features & GF_ZEROCOPY)
		features |= GF_QUESTIONS;
	return features & GF_URGENT ? features & ~GF_BIG : features;
}

static uint64_t scatter(uint64_t seed)
{
	seed = (seed + 1) * 0x9e3779b97f4a7c15ull;
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9ull;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111ebull;
	return (seed ^ seed >> 31) ?: 1;
}

void diff_generate(struct diff_program *p, uint64_t seed)
{
	struct diff_gen g = { .p = p, .chance = scatter(seed), .waits = { -1, -1 } };
	int steps;

	memset(p, 0, sizeof(*p));
	g.features = pick_features(&g);
	steps = STEPS_LEAST + diff_below(&g, STEPS_MOST - STEPS_LEAST);
	diff_gen_setup(&g);
	steps += p->n;
	while (p->n < steps && p->n < DIFF_STEPS_MAX) {
		int before = p->n;

		make_step(&g);
		if ((g.features & GF_OPTIONS) && diff_percent(&g, 15))
			make_option(&g);
		if ((g.features & GF_QUESTIONS) && diff_percent(&g, 20))
			make_question(&g);
		if ((g.features & GF_HIDDEN) && diff_percent(&g, 15))
			diff_gen_hidden(&g);
		steps -= p->n == before;
	}
}
