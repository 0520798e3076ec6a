// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of what is watched. Nobody waits: a signal handler may have interrupted
 * who writes. Two that change a number at once leave it unknown.
 */
#include "crew.h"
#include "pages.h"
#include "table.h"
#include "watch.h"

struct watches watches;

/* 0, or -1 where there is no memory. */
int watch_start(void)
{
	watches.at = pages_get_wiped(sizeof(*watches.at) * TABLE_NUMBERS);
	return watches.at ? 0 : -1;
}

/* Who writes a number, or changes it at the same time, would be believed later. */
static bool watch_doubtful(__u32 before, __u32 to)
{
	return before == WATCH_BUSY || before == WATCH_DEAD ||
	       (before == WATCH_OPEN && to == WATCH_OPEN);
}

/* One change more, after which it is @to. Return: the new state. */
static __u64 watch_bump(struct watch *w, __u32 to, __u32 *before)
{
	__u64 old, new;

	do {
		old = __atomic_load_n(&w->state, __ATOMIC_RELAXED);
		*before = (__u32)old;
		new = watch_next(old) | (watch_doubtful(*before, to) ? WATCH_DEAD : to);
	} while (!watch_move(w, old, new));
	return new;
}

/**
 * watch_begin() - a number is about to be changed: it is unknown
 * @fd: the number, below TABLE_NUMBERS
 * @before: the set that watched it, or WATCH_UNKNOWN
 *
 * Context: signal-safe.
 * Return: a ticket for watch_end(), which follows.
 */
__u64 watch_begin(int fd, __u32 *before)
{
	struct watch *w = &watches.at[fd];
	__u64 ticket;

	pages_reach(&watches.top, (unsigned int)fd + 1);
	if (watch_set(w) == WATCH_SET) {
		*before = WATCH_UNKNOWN;
		return 0;
	}
	ticket = watch_bump(w, WATCH_OPEN, before);
	if (*before < WATCH_SETS)
		*before = WATCH_UNKNOWN;
	return ticket;
}

/**
 * watch_end() - a number has been changed
 * @fd: the number
 * @ticket: from watch_begin()
 * @set: who watches it, WATCH_UNKNOWN, or WATCH_SET: it is a set
 * @event: for what; NULL: for what it was
 *
 * Context: signal-safe.
 */
void watch_end(int fd, __u64 ticket, __u32 set, const struct epoll_event *event)
{
	struct watch *w = &watches.at[fd];
	__u64 changes = ticket & ~(__u64)0xffffffffu;
	__u32 before;

	if ((__u32)ticket != WATCH_OPEN)
		return;
	if (!watch_move(w, ticket, changes | (set < WATCH_SETS ? set : WATCH_BUSY))) {
		/* Another change came between: which was last is not known. */
		if (watch_set(w) != WATCH_SET)
			watch_bump(w, WATCH_DEAD, &before);
		return;
	}
	if (set < WATCH_SETS)
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	if (event) {
		__atomic_store_n(&w->data, event->data.u64, __ATOMIC_RELAXED);
		__atomic_store_n(&w->events, event->events, __ATOMIC_RELAXED);
	}
	watch_move(w, changes | WATCH_BUSY, changes | set);
}

/**
 * watch_read() - what is known of a number now
 * @fd: the number, below watches.top
 * @w: filled in
 *
 * Return: whether it is known.
 */
bool watch_read(int fd, struct watch *w)
{
	const struct watch *from = &watches.at[fd];

	w->state = __atomic_load_n(&from->state, __ATOMIC_ACQUIRE);
	if (watch_set(w) < WATCH_SETS)
		return false;
	w->data = __atomic_load_n(&from->data, __ATOMIC_RELAXED);
	w->events = __atomic_load_n(&from->events, __ATOMIC_RELAXED);
	w->proof = __atomic_load_n(&from->proof, __ATOMIC_RELAXED);
	return watch_same(fd, w);
}

/**
 * watch_forget() - a number is about to be closed, or has just come
 * @fd: the number, for which watch_known() holds
 *
 * Context: signal-safe.
 */
SPD_COLD void watch_forget(int fd)
{
	__u32 before;

	watch_bump(&watches.at[fd], WATCH_UNKNOWN, &before);
	if (before == WATCH_SET || before == WATCH_DEAD)
		crew_disband(fd);
}
