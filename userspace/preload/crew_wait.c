// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * epoll_wait() without the kernel: when to look, for how long, and when to leave it.
 *
 * As in lib/spin.c an estimate says how long looking pays; one for each set.
 */
#include <time.h>
#include "cpu.h"
#include "crew_set.h"
#include "stats.h"

#define CREW_ASK	32	/* of so many calls and events one is the kernel's, */
#define CREW_MANY	32	/* times the members, at most these, */
#define CREW_LATE	10000000	/* and one in so many nanoseconds, */
#define CREW_FEW	8	/* but not before so many times the members, */
#define CREW_LATEST	40000000	/* unless it takes as long as this */
#define CREW_WORTH	256	/* looks that an event makes up for */
#define CREW_SCORE	65536
#define CREW_FLOOR	16	/* looking for less than limit / CREW_FLOOR is no use */
#define CREW_AGAIN	32	/* calls without looking longer, until the next try */
#define CREW_AGAIN_MAX	1024
#define CREW_WHOLES	3	/* one may be because the peer did not get its processor */

/*
 * The kernel finds the ready ones without looking at the others. Where too many are
 * looked at in vain, it is left to it, for a number of calls that doubles.
 */
static void crew_pays(struct crew *c, unsigned int looks, int told)
{
	c->score += told * CREW_WORTH - (int)looks;
	if (c->score > CREW_SCORE)
		c->score = CREW_SCORE;
	if (told && c->score == CREW_SCORE)
		c->pause = 0;
	if (c->score > -CREW_SCORE)
		return;
	c->score = 0;
	c->pause = c->pause < CREW_AGAIN ? CREW_AGAIN :
		   c->pause < CREW_AGAIN_MAX ? 2 * c->pause : CREW_AGAIN_MAX;
	c->rest = c->pause;
}

/* Nanoseconds of a clock that is cheap, and as fine as a tick. */
static __u64 crew_tick(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (__u64)ts.tv_sec * 1000000000u + (__u64)ts.tv_nsec;
}

/*
 * Whose turn is it? The kernel's from time to time, so that all else is told, too: more
 * seldom where there are many members, of which it makes all that are idle wake it again.
 */
static bool crew_turn(struct crew *c)
{
	unsigned int most = c->n < CREW_MANY ? CREW_ASK * c->n : CREW_ASK * CREW_MANY;
	__u64 since;

	if (c->rest) {
		c->rest--;
		return false;
	}
	since = crew_tick() - c->asked;
	return ++c->told < most &&
	       since < (c->told < CREW_FEW * c->n ? CREW_LATEST : CREW_LATE);
}

/* How long to look now, nanoseconds; 0: once was enough. See lib/spin.c. */
static __u32 crew_budget(struct crew *c)
{
	if (c->now)
		return c->now;
	if (!c->limit || ++c->slept < c->again)
		return 0;
	c->slept = 0;
	c->again = c->again < CREW_AGAIN ? CREW_AGAIN :
		   c->again < CREW_AGAIN_MAX ? 2 * c->again : CREW_AGAIN_MAX;
	return c->limit;
}

/* Nothing there: look on for a while. Return: events. */
static int crew_look_on(struct crew *c, struct epoll_event *events, int max, __u64 patience,
			__u64 *looked)
{
	__u32 budget = crew_budget(c);
	__u64 begin, now;
	int told;

	c->whole = false;
	if (!budget)
		return 0;
	if (patience > budget)
		patience = budget;
	begin = spd_spin_now();
	do {
		for (int i = 0; i < 8; i++)
			spd_relax();
		told = crew_look(c, events, max);
		now = spd_spin_now();
	} while (!told && c->n && now - begin < patience);
	*looked = now - begin;
	if (told) {
		c->alone = false;
		c->wholes = 0;
		c->again = CREW_AGAIN;
		c->now = budget < c->limit / 2 ? 2 * budget : c->limit;
		return told;
	}
	if (c->now)
		c->now = budget / 2 < c->limit / CREW_FLOOR ? 0 : budget / 2;
	c->whole = budget == c->limit;
	return 0;
}

/**
 * crew_slept() - the kernel told something after a sleep
 * @epfd: the set's number
 * @nap: from crew_wait()
 *
 * Would looking have paid? See spd_spin_slept().
 *
 * Context: signal-safe. errno is kept.
 */
void crew_slept(int epfd, const struct crew_nap *nap)
{
	struct crew *c = crew_find(epfd);

	if (!c || !crew_trylock(c))
		return;
	if (spd_spin_now() - nap->since < c->limit) {
		if (c->whole && ++c->wholes >= CREW_WHOLES) {
			c->alone = true;
			c->now = 0;
		}
		c->whole = false;
		if (!c->alone)
			c->now = c->limit;
	}
	crew_unlock(c);
}

/* With the lock. */
static int crew_tell(struct crew *c, struct epoll_event *events, int max, __u64 patience,
		     struct crew_nap *nap)
{
	unsigned int looks = c->n;
	int told = 0;

	if (crew_turn(c)) {
		told = crew_look(c, events, max);
		crew_pays(c, looks, told);
		if (!told && patience && !c->rest)
			told = crew_look_on(c, events, max, patience, &nap->looked);
	}
	c->told += (unsigned int)told;
	if (told)
		return told;
	c->told = 0;
	c->asked = crew_tick();
	if (patience && c->limit && !c->rest)
		nap->since = spd_spin_now();
	return 0;
}

/**
 * crew_wait() - epoll_wait() without the kernel
 * @epfd: the set's number
 * @events: where to put what is told
 * @max: room, at least 1
 * @patience: of the caller, nanoseconds, or CREW_PATIENT
 * @nap: filled in; where since is not 0, crew_slept() is wanted
 *
 * Context: signal-safe. errno is kept.
 * Return: events, or 0: ask the kernel.
 */
int crew_wait(int epfd, struct epoll_event *events, int max, __u64 patience,
	      struct crew_nap *nap)
{
	struct crew *c = crew_find(epfd);
	int told = 0;

	*nap = (struct crew_nap){ 0 };
	if (!c || !__atomic_load_n(&c->n, __ATOMIC_RELAXED) ||
	    __atomic_load_n(&c->nested, __ATOMIC_RELAXED) || !crew_trylock(c))
		return 0;
	/* It may have been given to another set meanwhile. */
	if (crew_find(epfd) == c)
		told = crew_tell(c, events, max, patience, nap);
	crew_unlock(c);
	if (told)
		stats_add(STATS_TOLD, (__u64)told);
	return told;
}
