// SPDX-License-Identifier: GPL-2.0
/* Readiness, holders and ends of programs: see diff_gen.h. */
#define _GNU_SOURCE
#include "diff_gen.h"

static uint32_t pick_events(struct diff_gen *g)
{
	uint32_t words = 0;

	words |= diff_percent(g, 80) ? DW_IN : 0;
	words |= diff_percent(g, 50) ? DW_OUT : 0;
	words |= diff_percent(g, 30) ? DW_RDHUP : 0;
	words |= diff_percent(g, 25) ? DW_PRI : 0;
	return words;
}

/* Waiting is for input: a socket is nearly always ready for output. */
static void wait_for_input(struct diff_gen *g, int end, int actor)
{
	int code = g->epoll[end] ? DO_EPWAIT : diff_percent(g, 60) ? DO_POLL : DO_SELECT;

	diff_emit(g, actor, code, 0, DW_WAIT | (code == DO_EPWAIT ? 0 : DW_IN));
	if (g->unread[end] || g->shut[!end] || g->gone[!end])
		return;
	g->waits[end] = actor;
	g->needs[end] = 1;
}

static void make_epoll(struct diff_gen *g, int end, int actor)
{
	uint32_t words = pick_events(g);

	words |= diff_percent(g, 50) ? DW_ET : 0;
	words |= diff_percent(g, 20) ? DW_ONESHOT : 0;
	if (!g->epoll[end]) {
		diff_emit(g, actor, DO_EPADD, 0, words);
		g->epoll[end] = true;
	} else if (diff_percent(g, 70)) {
		diff_emit(g, actor, DO_EPWAIT, 0, 0);
	} else if (diff_percent(g, 70)) {
		diff_emit(g, actor, DO_EPMOD, 0, words);
	} else {
		diff_emit(g, actor, DO_EPDEL, 0, 0);
		g->epoll[end] = false;
	}
}

void diff_gen_ready(struct diff_gen *g, int end)
{
	int actor = diff_pick_actor(g, end);

	if (actor < 0)
		return;
	if (g->features & GF_WAITS && g->waits[end] < 0 && diff_percent(g, 15))
		wait_for_input(g, end, actor);
	else if (diff_percent(g, 50))
		make_epoll(g, end, actor);
	else
		diff_emit(g, actor, diff_percent(g, 75) ? DO_POLL : DO_SELECT, 0, pick_events(g));
}

/* What an actor's process holds, the other thread of it holds, too. */
static void set_held(struct diff_gen *g, int actor, bool first, bool second)
{
	int i;

	for (i = 0; i < DIFF_ACTORS; i++) {
		if (diff_proc(i) != diff_proc(actor))
			continue;
		g->has[i] = first;
		g->has1[i] = second;
	}
}

static void look_for_gone(struct diff_gen *g, int end)
{
	int i;

	for (i = end * 4; i < end * 4 + 4; i++) {
		if (g->has[i] || g->has1[i])
			return;
	}
	g->gone[end] = true;
	g->waits[!end] = -1;
}

static void make_close(struct diff_gen *g, int end, int actor)
{
	struct diff_step *s = diff_emit(g, actor, DO_CLOSE, 0, 0);

	set_held(g, actor, g->has[actor] && s->fd, g->has1[actor] && !s->fd);
	look_for_gone(g, end);
}

static void make_kill(struct diff_gen *g, int end, int actor)
{
	diff_emit(g, actor, DO_KILL, 0, 0);
	if (g->waits[end] >= 0 && diff_proc(g->waits[end]) == diff_proc(actor))
		g->waits[end] = -1;
	set_held(g, actor, false, false);
	look_for_gone(g, end);
}

static void make_fork(struct diff_gen *g, int end)
{
	int parent = end * 4;

	if (g->has[parent + 3] || g->has1[parent + 3] || g->waits[end] == parent)
		return;
	diff_emit(g, parent, DO_FORK, 0, 0);
	g->has[parent + 3] = g->has[parent];
	g->has1[parent + 3] = g->has1[parent];
}

static void make_pass(struct diff_gen *g, int actor)
{
	int to = diff_end(actor) * 4 + (actor % 4 == 2 ? 0 : 2);

	if (actor % 4 == 3)
		return;
	diff_emit(g, actor, DO_PASS, 0, 0);
	if (!g->has[to])
		set_held(g, to, true, g->has1[to]);
	else
		set_held(g, to, true, true);
}

void diff_gen_holder(struct diff_gen *g, int end)
{
	int actor = diff_pick_actor(g, end);

	if (actor < 0)
		return;
	switch (diff_below(g, 10)) {
	case 0:
	case 1:
		diff_emit(g, actor, DO_DUP, 0, 0);
		set_held(g, actor, true, true);
		break;
	case 2:
	case 3:
		make_fork(g, end);
		break;
	case 4:
	case 5:
	case 6:
		make_pass(g, actor);
		break;
	case 7:
		make_kill(g, end, actor);
		break;
	default:
		make_close(g, end, actor);
	}
}

static void make_shutdown(struct diff_gen *g, int end, int actor)
{
	static const uint32_t how[] = { DW_WR, DW_WR, DW_WR, DW_RD, DW_RD | DW_WR, 0 };
	uint32_t words = how[diff_below(g, 6)];

	diff_emit(g, actor, DO_SHUTDOWN, 0, words);
	if (words & DW_WR) {
		g->shut[end] = true;
		g->waits[!end] = -1;
	}
	if (words & DW_RD)
		g->waits[end] = -1;
}

void diff_gen_end(struct diff_gen *g, int end)
{
	int actor = diff_pick_actor(g, end);

	if (actor < 0)
		return;
	switch (diff_below(g, 12)) {
	case 0:
	case 1:
		diff_emit_option(g, actor, DO_SET, "linger", 0);
		break;
	case 2:
		diff_emit(g, actor, DO_DISCONNECT, 0, 0);
		break;
	case 3:
		make_kill(g, end, actor);
		break;
	case 4:
	case 5:
		make_close(g, end, actor);
		break;
	default:
		make_shutdown(g, end, actor);
	}
}

void diff_gen_hidden(struct diff_gen *g)
{
	static const int codes[] = { DO_OFF, DO_ON, DO_ON, DO_TAP, DO_UNTAP };
	int actor = diff_pick_actor(g, diff_below(g, 2));

	if (actor >= 0 && diff_percent(g, 40))
		diff_emit(g, actor, DO_FUSE, diff_below(g, 2), 0);
	else
		diff_emit(g, DA_X, codes[diff_below(g, 5)], 0, 0);
}

void diff_gen_relief(struct diff_gen *g, int end)
{
	switch (diff_below(g, 8)) {
	case 0:
		diff_emit(g, g->waits[end], DO_SIGNAL, 0, diff_percent(g, 50) ? DW_RESTART : 0);
		break;
	case 1:
		diff_gen_end(g, !end);
		break;
	case 2:
		diff_gen_end(g, end);
		break;
	default:
		diff_gen_send(g, !end);
	}
}
