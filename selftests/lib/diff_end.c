// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a program: who waits is interrupted, what is still unread is read, all bytes
 * are checked against what was sent, and the actors are as they were before.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>

#include "diff_pool.h"
#include "diff_run.h"

#define TRIES		20
#define TRY_US		100000
#define ROUNDS		2000
#define RESET_US	10000000
#define LATE_US		15000000
#define IN_VAIN_US	1000000	/* what was lost on purpose does not come */

static void give_up(struct diff_run *r, int actor)
{
	const char *what = "not to be interrupted";

	diff_say(r, "end: ", &r->m.busy[actor].step, what, what);
	diff_pool_kill(diff_proc(actor));
	diff_note_killed(&r->m, actor);
}

static void interrupt(struct diff_run *r, int actor)
{
	int tries;

	diff_settle_dir(r, !diff_end(actor));
	/* The end of the stream and a signal: which of them it sees first would be chance. */
	if (r->m.side[!diff_end(actor)].gone)
		diff_await(actor, TRY_US);
	for (tries = 0; tries < TRIES; tries++) {
		if (diff_done(actor))
			return diff_finish_step(r, actor, "end: ");
		diff_interrupt(actor, SIGUSR1);
		diff_await(actor, TRY_US);
	}
	give_up(r, actor);
}

/* An actor of the end is in a send that may wait for the reader. */
static bool sends(struct diff_run *r, int end)
{
	int i;

	for (i = end * 4; i < end * 4 + 4; i++) {
		if (r->m.busy[i].is && r->m.busy[i].async && !diff_done(i))
			return true;
	}
	return false;
}

static void interrupt_all(struct diff_run *r, bool async)
{
	int i;

	for (i = 0; i < DIFF_ACTORS; i++) {
		if (r->m.busy[i].is && r->m.busy[i].async == async)
			interrupt(r, i);
	}
}

/* A step for an actor of the end that can do it; false if there is none. */
static bool somebody(struct diff_run *r, int end, struct diff_step *s)
{
	int i, fd;

	for (i = end * 4; i < end * 4 + 4; i++) {
		for (fd = 0; fd < DIFF_FDS; fd++) {
			if (!diff_alive(i) || r->m.busy[i].is ||
			    diff_shared->proc[diff_proc(i)].fd[fd] < 0)
				continue;
			*s = (struct diff_step){ .actor = i, .code = DO_FINISH, .fd = fd };
			return true;
		}
	}
	return false;
}

static void read_rest(struct diff_run *r, int end)
{
	struct diff_step s;

	if (!somebody(r, end, &s))
		return;
	s.number = DIFF_CAPTURE_BYTES - r->m.dir[!end].read;
	diff_settle(r, &s);
	diff_start(r, &s);
}

/* In silence: how much it is each time depends on time. */
static void read_quietly(struct diff_run *r, int end)
{
	struct diff_log *log = r->log;
	static struct diff_log silence;

	silence.n = 0;
	r->log = &silence;
	read_rest(r, end);
	r->log = log;
}

/*
 * Big sends come to their end once all is read, or nobody can: in silence, for it takes
 * as many rounds as it takes.
 */
static void let_finish(struct diff_run *r)
{
	int rounds = ROUNDS;

	while ((sends(r, 0) || sends(r, 1)) && rounds--) {
		if (sends(r, 1))
			read_quietly(r, 0);
		if (sends(r, 0))
			read_quietly(r, 1);
		diff_nap(200);
	}
}

/* Was it all sent to somebody who could read it, and is not there? */
static bool misses(const struct diff_run *r, int end)
{
	const struct diff_dir *d = &r->m.dir[!end];

	return diff_held(end) && !r->m.side[end].gone && !d->cut && !d->urgent && diff_unread(d);
}

/* What TCP sends again is late by its timers. */
static void wait_for_late(struct diff_run *r, int end)
{
	long until = diff_now_us() + (r->wrong ? IN_VAIN_US : LATE_US);

	while (misses(r, end) && diff_now_us() < until) {
		read_quietly(r, end);
		diff_nap(1000);
	}
}

static const char *judge(struct diff_run *r, int end)
{
	struct diff_dir *d = &r->m.dir[!end];

	if (d->urgent)
		return "not checked: urgent or lost bytes have left the stream";
	if (diff_wrong_byte(d, diff_capture[end]) >= 0)
		return "other bytes than were sent";
	if (misses(r, end))
		return "some are missing";
	return "as they were sent";
}

static void check(struct diff_run *r, int end)
{
	char seen[DIFF_LINE_MAX];
	const char *what = judge(r, end);

	snprintf(seen, sizeof(seen), "%s: %lu of %lu, the first wrong is %ld", what,
		 r->m.dir[!end].read, r->m.dir[!end].sent,
		 diff_wrong_byte(&r->m.dir[!end], diff_capture[end]));
	diff_say(r, end ? "bytes to b" : "bytes to a", NULL, seen, what);
}

/* Its process has something of this program left. */
static bool holds(int actor)
{
	const struct diff_proc_state *p = &diff_shared->proc[diff_proc(actor)];

	return p->fd[0] >= 0 || p->fd[1] >= 0 || p->listener >= 0 || p->epoll >= 0;
}

static void reset(void)
{
	struct diff_order o = { .step = { .code = DO_RESET } };
	int i;

	for (i = 0; i < DIFF_ACTORS; i += 2) {
		if (!diff_alive(i) || !holds(i))
			continue;
		diff_order(i, &o);
		DIFF_MUST(diff_await(i, RESET_US) == DIFF_DONE);
		diff_taken(i);
	}
}

void diff_end_program(struct diff_run *r)
{
	int end;

	interrupt_all(r, false);
	let_finish(r);
	interrupt_all(r, true);
	for (end = 0; end < 2; end++)
		read_rest(r, end);
	for (end = 0; end < 2; end++)
		wait_for_late(r, end);
	for (end = 0; end < 2; end++)
		check(r, end);
	reset();
	/* A signal that comes late, of this program's sockets, is not the next one's. */
	if (r->m.async)
		diff_pool_stop();
	diff_fuse_tap(false);
	diff_pool_revive();
}
