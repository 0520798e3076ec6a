// SPDX-License-Identifier: GPL-2.0
/* Makes a program that differs as small as it can be: see diff_test.h. */
#define _GNU_SOURCE
#include <string.h>

#include "diff_pool.h"
#include "diff_test.h"

#define SHRINK_US	60000000

struct shrink {
	struct diff_program *p;
	const struct diff_mode *mode;
	long until;
	bool changed;
};

static bool differs(const struct shrink *k, const struct diff_program *p)
{
	static struct diff_log first, second;

	return diff_twice(p, k->mode, &first, &second) >= 0;
}

/* Takes the candidate if it differs, too. */
static bool try(struct shrink *k, const struct diff_program *p)
{
	if (diff_now_us() > k->until || !differs(k, p))
		return false;
	*k->p = *p;
	k->changed = true;
	return true;
}

static bool leave_out(struct shrink *k, int at, int n)
{
	struct diff_program p = *k->p;

	memmove(&p.step[at], &p.step[at + n], (p.n - at - n) * sizeof(p.step[0]));
	p.n -= n;
	return try(k, &p);
}

static void leave_steps_out(struct shrink *k)
{
	int n, at;

	for (n = k->p->n / 2; n; n /= 2) {
		for (at = k->p->n - n; at >= 0; at--) {
			if (at + n <= k->p->n)
				leave_out(k, at, n);
		}
	}
}

static void leave_words_out(struct shrink *k, int at)
{
	struct diff_program p;
	int i;

	for (i = 0; i < DIFF_WORDS; i++) {
		if (!(k->p->step[at].words & (1u << i)))
			continue;
		p = *k->p;
		p.step[at].words &= ~(1u << i);
		try(k, &p);
	}
}

static void make_smaller(struct shrink *k, int at)
{
	static const int sizes[] = { 1, 10, 100, 1000, 10000, 100000 };
	struct diff_program p;
	size_t i;

	if (!diff_is(&k->p->step[at], DC_LENGTH))
		return;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		p = *k->p;
		if (sizes[i] >= p.step[at].number)
			return;
		p.step[at].number = sizes[i];
		if (try(k, &p))
			return;
	}
}

static void make_plain(struct shrink *k, int at)
{
	struct diff_program p = *k->p;
	struct diff_step *s = &p.step[at];

	if (s->actor % 4 && s->actor < DIFF_ACTORS) {
		s->actor = diff_end(s->actor) * 4;
		try(k, &p);
	}
	p = *k->p;
	if (diff_is(s, DC_SEND) && s->code != DO_SEND) {
		s->code = DO_SEND;
		try(k, &p);
	}
	p = *k->p;
	if (diff_is(s, DC_READ) && s->code != DO_RECV) {
		s->code = DO_RECV;
		try(k, &p);
	}
}

void diff_shrink(struct diff_program *p, const struct diff_mode *mode)
{
	struct shrink k = { p, mode, diff_now_us() + SHRINK_US };
	struct diff_program four = *p;
	int at;

	do {
		k.changed = false;
		leave_steps_out(&k);
	} while (k.changed);
	four = *p;
	four.net = DN_V4;
	try(&k, &four);
	for (at = 0; at < p->n; at++) {
		leave_words_out(&k, at);
		make_smaller(&k, at);
		make_plain(&k, at);
	}
	leave_steps_out(&k);
}
