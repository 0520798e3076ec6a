// SPDX-License-Identifier: GPL-2.0
/* Runs a program, step after step: see diff_run.h. */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>

#include "diff_pool.h"
#include "diff_run.h"

#define EXPECTED_US	3000000
#define WRONG_US	200000
#define MUCH_US		10000000	/* of a transfer that waits for both sides */

static void say(struct diff_run *r, const struct diff_step *s, const char *what)
{
	diff_say(r, "", s, what, what);
}

/* An end without a descriptor, and without a call that holds it. */
static void look_for_gone(struct diff_run *r, int end)
{
	if (diff_next_busy(&r->m, end, NULL))
		return;
	if (r->m.side[end].connecting && !r->m.side[end].gone && !diff_held(end) &&
	    (!end || r->m.accepts))
		diff_note_gone(&r->m, end, false);
}

/* Connections that nobody can accept any more are reset. */
static void look_for_listener(struct diff_run *r)
{
	int proc;

	for (proc = 3; proc < 6; proc++) {
		if (diff_shared->proc[proc].listener >= 0)
			return;
	}
	if (r->m.connects > r->m.accepts && !r->m.side[1].gone)
		diff_note_gone(&r->m, 1, true);
}

static int other_process(int actor)
{
	return diff_end(actor) * 4 + (diff_proc(actor) % 3 == 1 ? 0 : 2);
}

/* The other process of the end takes the descriptor that was passed. */
static void take(struct diff_run *r, const struct diff_step *pass)
{
	int to = other_process(pass->actor);
	struct diff_order o = { .step = { .actor = to, .code = DO_TAKE } };
	int *fds = diff_shared->proc[diff_proc(to)].fd;

	o.step.fd = fds[0] >= 0;
	diff_order(to, &o);
	DIFF_MUST(diff_await(to, MUCH_US) == DIFF_DONE);
	diff_taken(to);
}

/* Bytes that were taken without being stored count as received. */
static void fill_holes(struct diff_run *r, const struct diff_step *s, uint32_t moved)
{
	struct diff_dir *in = diff_in(&r->m, s);

	if (moved && (s->words & (DW_TRUNC | DW_NULL | DW_BAD | DW_TAIL)))
		diff_expect_bytes(in, in->read, moved, diff_capture[diff_end(s->actor)] + in->read);
}

void diff_finish_step(struct diff_run *r, int actor, const char *prefix)
{
	struct diff_result seen = diff_taken(actor), compared = seen;
	struct diff_busy b = r->m.busy[actor];
	char text[2][DIFF_LINE_MAX];

	diff_apply_rules(&r->m, &b.step, &compared);
	diff_print_result(&seen, text[0], sizeof(text[0]));
	diff_print_result(&compared, text[1], sizeof(text[1]));
	diff_say(r, prefix, &b.step, text[0], text[1]);
	if (diff_is(&b.step, DC_READ))
		fill_holes(r, &b.step, seen.moved);
	diff_note(&r->m, &b.step, b.number, &seen);
	if (b.step.code == DO_FORK && !seen.ret)
		diff_pool_adopt(diff_end(actor) * 3 + 2);
	else if (b.step.code == DO_PASS && seen.ret == 1)
		take(r, &b.step);
	else if (b.step.code == DO_LCLOSE)
		look_for_listener(r);
	look_for_gone(r, diff_end(actor));
}

static void lost(struct diff_run *r, const struct diff_step *s, enum diff_await how)
{
	say(r, s, how == DIFF_DIED ? "the actor died" : "hung: neither asleep nor done");
	diff_pool_kill(diff_proc(s->actor));
	diff_note_killed(&r->m, s->actor);
}

/* A transfer of much takes long under emulation; what was made to go wrong may never come. */
static long patience(struct diff_run *r, const struct diff_step *s)
{
	if (r->wrong)
		return WRONG_US;
	if (!diff_may_wait(&r->m, s) || s->code == DO_DRAIN || diff_in(&r->m, s)->loose)
		return MUCH_US;
	return EXPECTED_US;
}

bool diff_start(struct diff_run *r, const struct diff_step *s)
{
	bool async = diff_is_async(&r->m, s), expected;
	struct diff_order o = {
		.step = *s, .src = r->src, .dst = diff_in(&r->m, s)->read, .net = r->p->net,
		.wrong = r->wrong,
	};
	enum diff_await how;

	o.step.number = diff_is(s, DC_READ) ? (int)diff_read_size(&r->m, s) : s->number;
	expected = diff_expected(&r->m, s, o.step.number) && !async;
	/* Who waits may be woken before the signal is sent: the next step takes it. */
	o.signals = diff_is(s, DC_LOOK) && expected;
	diff_begin(&r->m, s, o.src, async);
	diff_order(s->actor, &o);
	how = diff_await(s->actor, expected ? patience(r, s) : 0);
	switch (how) {
	case DIFF_DONE:
		if (async)
			break;
		diff_finish_step(r, s->actor, "");
		return true;
	case DIFF_ASLEEP:
		break;
	default:
		lost(r, s, how);
		return false;
	}
	say(r, s, async ? "begun" : "waits");
	return false;
}

void diff_collect(struct diff_run *r)
{
	struct diff_busy *b;
	bool expected;
	int i;

	for (i = 0; i < DIFF_ACTORS; i++) {
		b = &r->m.busy[i];
		if (!b->is || b->async)
			continue;
		expected = diff_expected(&r->m, &b->step, b->number);
		if (!expected && diff_is(&b->step, DC_LOOK))
			diff_settle_dir(r, !diff_end(i));
		if (diff_await(i, expected ? patience(r, &b->step) : 0) == DIFF_DONE)
			diff_finish_step(r, i, "  then ");
	}
}

static void do_kill(struct diff_run *r, const struct diff_step *s)
{
	int proc = diff_proc(s->actor), end = diff_end(s->actor), i;

	diff_settle(r, s);
	diff_pool_kill(proc);
	for (i = end * 4; i < end * 4 + 4; i++) {
		if (diff_proc(i) == proc)
			diff_note_killed(&r->m, i);
	}
	say(r, s, "killed");
	if (end)
		look_for_listener(r);
	look_for_gone(r, end);
}

static void do_join(struct diff_run *r, const struct diff_step *s)
{
	if (diff_await(s->actor, MUCH_US) == DIFF_DONE)
		diff_finish_step(r, s->actor, "");
	else
		say(r, s, "waits still");
}

/* Disturbances: whatever they return, nobody may notice. */
static void disturb(struct diff_run *r, const struct diff_step *s)
{
	struct diff_order o = { .step = *s };

	if (!r->fused)
		return;
	if (s->code == DO_ON || s->code == DO_OFF) {
		diff_fuse_set(s->code == DO_ON);
	} else if (s->code == DO_TAP || s->code == DO_UNTAP) {
		diff_fuse_tap(s->code == DO_TAP);
	} else if (diff_alive(s->actor) && !r->m.busy[s->actor].is) {
		diff_order(s->actor, &o);
		DIFF_MUST(diff_await(s->actor, MUCH_US) == DIFF_DONE);
		diff_taken(s->actor);
	}
}

static const char *cannot_pass(struct diff_run *r, const struct diff_step *s)
{
	int to = other_process(s->actor);
	int *fds = diff_shared->proc[diff_proc(to)].fd;

	if (diff_proc(s->actor) % 3 == 2)
		return "a child has no passage";
	if (diff_shared->proc[diff_proc(s->actor)].fd[s->fd] < 0)
		return "nothing to pass";
	if (!diff_alive(to) || r->m.busy[to].is)
		return "nobody to pass it to";
	return fds[0] >= 0 && fds[1] >= 0 ? "no room" : NULL;
}

static const char *cannot(struct diff_run *r, const struct diff_step *s)
{
	if (!diff_alive(s->actor))
		return "nobody there";
	if (s->code == DO_FORK && diff_alive(diff_end(s->actor) * 4 + 3))
		return "there is a child";
	if (s->code == DO_PASS && !r->m.busy[s->actor].is)
		return cannot_pass(r, s);
	return NULL;
}

static void run_step(struct diff_run *r, const struct diff_step *s)
{
	const char *why;

	if (diff_is(s, DC_HIDDEN)) {
		disturb(r, s);
		return;
	}
	why = cannot(r, s) ?: diff_refused(&r->m, s);
	if (why)
		return say(r, s, why);
	if (s->code == DO_KILL)
		return do_kill(r, s);
	if (s->code == DO_JOIN)
		return do_join(r, s);
	if (s->code == DO_SIGNAL) {
		diff_settle_dir(r, !diff_end(s->actor));
		diff_interrupt(s->actor, s->words & DW_RESTART ? SIGUSR2 : SIGUSR1);
		return say(r, s, "sent");
	}
	diff_settle(r, s);
	diff_start(r, s);
}

void diff_run(const struct diff_program *p, bool fused, enum diff_break wrong,
	      struct diff_log *log)
{
	struct diff_run r = { .p = p, .log = log, .fused = fused, .wrong = wrong };
	int i;

	log->n = 0;
	log->late = 0;
	for (i = 0; i < p->n; i++) {
		r.src = i * 40503u % DIFF_SENT_MOST;
		run_step(&r, &p->step[i]);
		diff_collect(&r);
	}
	diff_end_program(&r);
}
