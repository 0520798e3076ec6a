// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sets and their members.
 *
 * A crew's lock is only ever tried: a signal handler may have interrupted its holder.
 * Who does not get it goes without. A member that is not one any more is dropped when
 * it is next looked at.
 */
#include "cpu.h"
#include "crew_set.h"
#include "pages.h"

#define CREWS		32	/* sets at most */
#define CREW_GLANCES	256	/* at somebody who looks */

struct crew *crews;	/* in pages that a child of fork() finds wiped */
unsigned int crews_used;	/* from here on none was ever made */
static __u32 crew_last = WATCH_SETS;

__u64 crew_goings;

/* 0, or -1 where there is no memory. */
int crew_start(void)
{
	crews = pages_get_wiped(sizeof(*crews) * CREWS);
	return crews ? 0 : -1;
}

/* Is it the set that the number is, and the only one by which it is known? */
static bool crew_holds(const struct crew *c, int epfd)
{
	return crew_find(epfd) == c && watch_set(&watches.at[epfd]) == WATCH_SET;
}

/* In a slot that nobody has. Return: its identity, or WATCH_UNKNOWN. */
static __u32 crew_make(struct crew *c, int epfd)
{
	__u32 none = 0, before, id;
	__u64 ticket;

	if (!__atomic_compare_exchange_n(&c->id, &none, 1, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return WATCH_UNKNOWN;
	if (!crew_trylock(c)) {
		__atomic_store_n(&c->id, 0, __ATOMIC_RELEASE);
		return WATCH_UNKNOWN;
	}
	pages_reach(&crews_used, (unsigned int)(c - crews) + 1);
	__atomic_store_n(&c->n, 0, __ATOMIC_RELAXED);
	c->limit = 0;
	__atomic_store_n(&c->own, false, __ATOMIC_RELAXED);
	__atomic_store_n(&c->made, false, __ATOMIC_RELAXED);
	__atomic_store_n(&c->epfd, epfd, __ATOMIC_RELAXED);
	/* So that its end is seen. */
	ticket = watch_begin(epfd, &before);
	__atomic_store_n(&c->nested, before != WATCH_UNKNOWN, __ATOMIC_RELAXED);
	watch_end(epfd, ticket, WATCH_SET, NULL);
	id = __atomic_fetch_add(&crew_last, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&c->id, id, __ATOMIC_SEQ_CST);
	/* Closed meanwhile, or another thread made one for it. */
	if (!crew_holds(c, epfd)) {
		__atomic_store_n(&c->id, 0, __ATOMIC_SEQ_CST);
		id = WATCH_UNKNOWN;
	}
	crew_unlock(c);
	return id;
}

/**
 * crew_identity() - who a set is
 * @epfd: its number
 * @make: one that is not known shall be
 *
 * Return: its identity, or WATCH_UNKNOWN.
 */
__u32 crew_identity(int epfd, bool make)
{
	struct crew *c = crew_find(epfd);

	if (c)
		return crew_id(c);
	/* One that is free may be locked for ever by a signal handler's longjmp(). */
	for (c = crews; make && c < crews + CREWS; c++)
		if (!crew_id(c) && !__atomic_load_n(&c->owner, __ATOMIC_RELAXED))
			return crew_make(c, epfd);
	return WATCH_UNKNOWN;
}

/*
 * How often another process may have got descriptors of this one, and how many calls of
 * fork() are under way: what is made meanwhile is the child's, too, or is not.
 */
static unsigned int crew_sharings, crew_forks;

/* Before a set is made: for crew_own(). */
unsigned int crew_shares(void)
{
	return __atomic_load_n(&crew_sharings, __ATOMIC_SEQ_CST);
}

/**
 * crew_own() - nobody else changes a set
 * @epfd: its number, which has just been made; -1: it has not
 * @shares: of crew_shares(), before it was
 *
 * Context: errno is kept.
 * Return: the number.
 */
int crew_own(int epfd, unsigned int shares)
{
	struct crew *c;

	if (epfd < 0 || !watches.at || !table_has(epfd) || !crew_identity(epfd, true))
		return epfd;
	c = crew_find(epfd);
	if (!c)
		return epfd;
	__atomic_store_n(&c->made, true, __ATOMIC_RELAXED);
	__atomic_store_n(&c->own, true, __ATOMIC_SEQ_CST);
	/* As crew_shared() looks at sets after it has counted; and a fork ends after that. */
	if (__atomic_load_n(&crew_forks, __ATOMIC_SEQ_CST) || crew_shares() != shares)
		__atomic_store_n(&c->own, false, __ATOMIC_RELAXED);
	return epfd;
}

/* Is any set this process's alone? */
bool crew_any_own(void)
{
	unsigned int used = __atomic_load_n(&crews_used, __ATOMIC_ACQUIRE);

	for (const struct crew *c = crews; c < crews + used; c++)
		if (__atomic_load_n(&c->own, __ATOMIC_RELAXED))
			return true;
	return false;
}

/**
 * crew_shared() - another process gets descriptors, sets perhaps among them
 *
 * Context: signal-safe; before it gets them.
 */
void crew_shared(void)
{
	unsigned int used;

	__atomic_add_fetch(&crew_sharings, 1, __ATOMIC_SEQ_CST);
	used = __atomic_load_n(&crews_used, __ATOMIC_SEQ_CST);
	for (struct crew *c = crews; c < crews + used; c++)
		__atomic_store_n(&c->own, false, __ATOMIC_SEQ_CST);
}

/* Around fork(): before it, and after it in each of the two. */
void crew_fork_begins(void)
{
	__atomic_add_fetch(&crew_forks, 1, __ATOMIC_SEQ_CST);
	crew_shared();
}

void crew_fork_ends(void)
{
	__atomic_add_fetch(&crew_sharings, 1, __ATOMIC_SEQ_CST);
	__atomic_sub_fetch(&crew_forks, 1, __ATOMIC_SEQ_CST);
}

void crew_fork_child(void)
{
	__atomic_store_n(&crew_forks, 0, __ATOMIC_SEQ_CST);
}

/* Is there a set of that identity yet? */
bool crew_lives(__u32 set)
{
	unsigned int used = __atomic_load_n(&crews_used, __ATOMIC_ACQUIRE);

	for (const struct crew *c = crews; c < crews + used; c++)
		if (crew_id(c) == set)
			return true;
	return false;
}

/**
 * crew_nests() - a set is about to be watched by another
 * @epfd: its number
 *
 * Who watches it by edge hears of each wake-up, and of what a change of a member finds:
 * from now on both are the kernel's.
 *
 * Context: signal-safe.
 */
void crew_nests(int epfd)
{
	struct crew *c = crew_find(epfd);

	if (!c)
		return;
	__atomic_store_n(&c->nested, true, __ATOMIC_RELAXED);
	__atomic_store_n(&c->own, false, __ATOMIC_RELAXED);
}

/* A look that was under way has ended, or will not within this many glances. */
static bool crew_over(const struct crew *c)
{
	__u32 look = __atomic_load_n(&c->looks, __ATOMIC_SEQ_CST);
	int glances = CREW_GLANCES;

	/* What this thread does itself does not end meanwhile. */
	if ((look & 1) && __atomic_load_n(&c->owner, __ATOMIC_RELAXED) == spd_me())
		return false;
	while ((look & 1) && __atomic_load_n(&c->looks, __ATOMIC_SEQ_CST) == look) {
		if (!glances--)
			return false;
		spd_relax();
	}
	return true;
}

/**
 * crew_unseen() - is it certain that nobody looks at what is about to go?
 *
 * Who looks at members reads their peers' indices without entering a role. A role is
 * entered by who asks: no look that begins after this knows where its peer's index lay.
 * A look that a signal handler has left by longjmp() is never over.
 *
 * Context: signal-safe; waits for a moment.
 */
bool crew_unseen(void)
{
	unsigned int used = __atomic_load_n(&crews_used, __ATOMIC_ACQUIRE);

	if (!used)
		return true;
	__atomic_add_fetch(&crew_goings, 1, __ATOMIC_SEQ_CST);
	for (const struct crew *c = crews; c < crews + used; c++)
		if (!crew_over(c))
			return false;
	return true;
}

/* Its number is about to be closed, or has come anew. What it watched is unknown. */
void crew_disband(int epfd)
{
	unsigned int used = __atomic_load_n(&crews_used, __ATOMIC_ACQUIRE);

	for (struct crew *c = crews; c < crews + used; c++)
		if (crew_id(c) >= WATCH_SETS &&
		    __atomic_load_n(&c->epfd, __ATOMIC_RELAXED) == epfd)
			__atomic_store_n(&c->id, 0, __ATOMIC_SEQ_CST);
}

/**
 * crew_read() - what is known of a number now
 * @c: the set
 * @fd: the number, below watches.top
 * @w: filled in
 * @m: filled in
 *
 * Return: whether it is a member.
 */
bool crew_read(const struct crew *c, int fd, struct watch *w, struct member *m)
{
	if (!table_has(fd) || !watch_read(fd, w) || watch_set(w) != c->id || !crew_can(w))
		return false;
	m->word = __atomic_load_n(&table.at[fd].word, __ATOMIC_ACQUIRE);
	m->state = w->state;
	m->fd = fd;
	m->events = w->events;
	m->theirs = NULL;
	return pool_word_is_handle(m->word);
}

static void crew_add(struct crew *c, int fd)
{
	unsigned int at = 0;
	struct member m;
	struct watch w;

	if (!crew_read(c, fd, &w, &m))
		return;
	while (at < c->n && c->member[at].fd != fd)
		at++;
	if (at == CREW_MAX)
		return;
	if (!c->n) {
		c->now = 0;
		c->slept = 0;
		c->again = 1;
		c->score = 0;
		c->rest = 0;
		c->pause = 0;
	}
	c->member[at] = m;
	__atomic_store_n(&c->n, c->n + (at == c->n), __ATOMIC_RELAXED);
	__atomic_store_n(&watches.at[fd].at, at, __ATOMIC_RELAXED);
}

/**
 * crew_join() - a number has a handle, and is watched
 * @fd: the number, for which watch_known() holds
 *
 * Context: signal-safe.
 */
void crew_join(int fd)
{
	unsigned int used = __atomic_load_n(&crews_used, __ATOMIC_ACQUIRE);
	__u32 set = watch_set(&watches.at[fd]);

	if (set < WATCH_SETS || !table_has(fd) ||
	    !pool_word_is_handle(__atomic_load_n(&table.at[fd].word, __ATOMIC_RELAXED)))
		return;
	for (struct crew *c = crews; c < crews + used; c++) {
		if (crew_id(c) != set || crew_remind(c, set, fd) || !crew_trylock(c))
			continue;
		crew_add(c, fd);
		crew_unlock(c);
	}
}
