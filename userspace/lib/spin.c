// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Looking before sleeping.
 *
 * A sleep and a wake-up cost two entries into the kernel and two switches. While a
 * second processor runs the peer, what one waits for often comes within a few
 * microseconds, and looking for it is cheaper. When it does not come, looking takes
 * time from whoever could run here. So each role keeps an estimate: a look that
 * paid doubles it, up to the limit of net.speed.spin_us or speed_set_spin(), one
 * that did not halves it, down to none; a sleep that turns out to have been shorter
 * than the limit raises it again. A slow wake-up can hide a fast peer, so that one
 * wait in SPIN_AGAIN or more tries. Where the two share a processor, though there are
 * more, looking keeps the peer from answering; that shows, and ends it, too.
 *
 * On a machine with one processor, looking is to leave it to the peer, once: where two
 * take turns neither sleeps, and neither has to be woken. If nothing has come then, or
 * somebody else ran instead (a tick passed), it is not tried for a number of waits
 * that doubles.
 *
 * A look takes the line of the peer's index away from the peer, whose next publication
 * waits until it has it back. Where what comes is a flow, who reads looks less often than
 * it could, finds several messages at a look, and both are faster for it; so does who
 * waits for space.
 *
 * A peer that sleeps cannot answer, so it is given the wake-ups that it is owed before
 * a look; without a look they go with the sleep, in one entry.
 */
#include <sched.h>
#include <time.h>
#include <unistd.h>
#include "cpu.h"
#include "role.h"

#define SPIN_AGAIN	32	/* waits without a look until the next try, */
#define SPIN_AGAIN_MAX	1024	/* twice as many with each that fails */
#define SPIN_FLOOR	16	/* below limit / SPIN_FLOOR is none at all */
#define SPIN_STRIDE	64	/* pauses a reading of the clock */
#define SPIN_APART	16	/* pauses to a look that can wait; a power of two */

_Static_assert(!(SPIN_STRIDE % SPIN_APART) && !(SPIN_APART & (SPIN_APART - 1)),
	       "the clock is read after a look");

/*
 * Could the peer run beside this thread? The affinity of this thread says nothing of
 * the peer's: two that are bound to a processor each gain most.
 */
static bool spin_cpus(void)
{
	static int cpus;	/* online; 0 until asked */
	int now = __atomic_load_n(&cpus, __ATOMIC_RELAXED);

	if (!now) {
		now = (int)sysconf(_SC_NPROCESSORS_ONLN);
		__atomic_store_n(&cpus, now, __ATOMIC_RELAXED);
	}
	return now > 1;
}

/* With a new lease, whose limit is @us. The role's lock is held. */
void spd_spin_setup(struct spd_role *r, unsigned int us)
{
	r->spin.lease_us = us < SPEED_SPIN_MAX ? us : SPEED_SPIN_MAX;
	r->spin.cpus = spin_cpus();
	if (!r->spin.again)
		r->spin.again = SPIN_AGAIN;
}

/* So many waits without a try, after one more that failed. */
static __u32 spin_longer(__u32 waits)
{
	return waits < SPIN_AGAIN_MAX ? 2 * waits : SPIN_AGAIN_MAX;
}

/* How long to look now, in nanoseconds; 0: not at all. */
static __u32 spin_budget(struct spd_role *r, __u32 limit)
{
	struct spd_spin *spin = &r->spin;

	if (spin->now_ns)
		return spin->now_ns < limit ? spin->now_ns : limit;
	if (++spin->slept < spin->again)
		return 0;
	spin->slept = 0;
	spin->again = spin_longer(spin->again);
	return limit;
}

/* Nanoseconds of a clock that costs no system call. */
__u64 spd_spin_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (__u64)ts.tv_sec * 1000000000u + (__u64)ts.tv_nsec;
}

/* Will there be none any more? */
static bool spin_over(const struct spd_role *r, int role)
{
	return (speed_load(&r->side.kern->flags) & (SPEED_CLOSED | SPEED_OVERFLOW)) ||
	       !speed_ring_counts(&r->side, role, r->epoch);
}

/*
 * Does what @s reads come in a row? The role RX is about to wait. It is a flow when what
 * was waited for last came soon, and nothing was sent since: then nobody waits for an
 * answer, unless he has it by another way. That shows, too: in a flow more comes to a look
 * than came to one before; if not, it is not taken for one for a number of waits that
 * doubles.
 */
static bool spin_flow(struct speed *s)
{
	struct spd_spin *spin = &s->role[SPEED_ROLE_RX].spin;
	__u64 sent;

	if (!spin->soon)
		return spin->flow = false;
	sent = speed_load(&s->role[SPEED_ROLE_TX].done) + speed_load(&s->calls);
	if (sent != spin->sent) {
		spin->sent = sent;
		return spin->flow = false;
	}
	if (!spin->flow) {
		spin->one = spin->came;
	} else if (spin->came >= 2 * spin->one) {
		spin->shun = 0;
	} else {
		spin->shun = spin->shun ? spin_longer(spin->shun) : 1;
		spin->shunned = spin->shun;
	}
	if (!spin->shunned)
		return spin->flow = true;
	spin->shunned--;
	return spin->flow = false;
}

/*
 * How many pauses to a look. Who waits for space waits for much of a ring, but for one
 * that its messages nearly fill. Who wakes the peer first finds what comes meanwhile.
 */
static unsigned int spin_apart(struct speed *s, int role, __u64 want)
{
	const struct spd_role *r = &s->role[role];
	bool rarely = role == SPEED_ROLE_TX ? want <= r->side.size / 2 : spin_flow(s);

	return rarely && !r->owed ? SPIN_APART : 1;
}

/* Look for at most @budget ns. Return: after how many pauses it was worth it, or 0. */
static unsigned int spin_look(struct spd_role *r, int role, __u64 want, __u32 budget,
			      unsigned int apart)
{
	__u64 since = 0, now;

	for (unsigned int i = 1; ; i++) {
		if (!(i & (apart - 1)) && (spd_role_came(r, role, want) || spin_over(r, role)))
			return i;
		spd_relax();
		if (i % SPIN_STRIDE)
			continue;
		now = spd_spin_now();
		if (!since)
			since = now;
		else if (now - since >= budget)
			return 0;
	}
}

/* The number of the clock's tick; no system call, no look at hardware. */
static __u64 spin_tick(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (__u64)ts.tv_sec * 1000000000u + (__u64)ts.tv_nsec;
}

/* One processor: leave it to the peer. Return: whether it was worth it. */
static bool spin_yield(struct speed *s, int role, __u64 want)
{
	struct spd_role *r = &s->role[role];
	struct spd_spin *spin = &r->spin;
	bool came;
	__u64 tick;

	if (spin->slept) {
		spin->slept--;
		return false;
	}
	spd_pay(s, r);
	tick = spin_tick();
	sched_yield();
	came = spd_role_came(r, role, want) || spin_over(r, role);
	if (came && spin_tick() == tick) {
		spin->again = 1;
		spd_count(&r->spins);
		return true;
	}
	spin->again = spin_longer(spin->again);
	spin->slept = spin->again;
	return came;
}

/**
 * spd_spin() - look for a while before sleeping
 * @s: the handle
 * @role: SPEED_ROLE_*, its lock held and its lease in force
 * @want: bytes
 * @limit: from spd_spin_limit(), not 0
 *
 * Return: whether to look at the ring again instead of sleeping.
 */
bool spd_spin(struct speed *s, int role, __u64 want, __u32 limit)
{
	struct spd_role *r = &s->role[role];
	unsigned int apart, pauses;
	__u32 budget;

	if (!r->spin.cpus)
		return spin_yield(s, role, want);
	budget = spin_budget(r, limit);
	if (!budget)
		return false;
	apart = spin_apart(s, role, want);
	spd_pay(s, r);
	r->spin.whole = false;
	pauses = spin_look(r, role, want, budget, apart);
	r->spin.soon = pauses && pauses <= SPIN_APART;
	r->spin.came = r->side.other - r->side.own;
	if (!pauses) {
		if (r->spin.now_ns)
			r->spin.now_ns = budget / 2 < limit / SPIN_FLOOR ? 0 : budget / 2;
		r->spin.whole = budget == limit;
		return false;
	}
	spd_count(&r->spins);
	r->spin.alone = false;
	r->spin.again = SPIN_AGAIN;
	r->spin.now_ns = budget < limit / 2 ? 2 * budget : limit;
	return true;
}

/*
 * After a sleep: would looking have paid? @since: spd_spin_now() before it. A short
 * sleep after a long look in vain says that the peer was kept from running by the look:
 * it shares the processor. Then only a try that pays says otherwise.
 */
void spd_spin_slept(struct spd_role *r, __u64 since, __u32 limit)
{
	struct spd_spin *spin = &r->spin;

	if (spd_spin_now() - since >= limit)
		return;
	if (spin->whole) {
		spin->alone = true;
		spin->now_ns = 0;
	}
	spin->whole = false;
	if (!spin->alone)
		spin->now_ns = limit;
}
