// SPDX-License-Identifier: GPL-2.0
/*
 * The reaper: an idle connection holds no data pages. Once a second it walks
 * the rings that have some, and takes them from those that are drained, that
 * nobody maps and that nothing went into for REAP_IDLE. It also tells others of
 * connections that are in use, see struct speed_door.
 *
 * Rings that somebody maps are in a list of their own: their pages are not to be had, and
 * who looks for pages because a bound is reached must not pass by all of them.
 *
 * reap_lock covers the lists and is a leaf. The reaper waits for nobody: it
 * takes both roles' locks with trylock, or comes again.
 */
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/workqueue.h>
#include <net/sock.h>

#include "ctl.h"
#include "lease.h"
#include "map.h"
#include "overflow.h"
#include "pages.h"
#include "reap.h"
#include "ring.h"
#include "whose.h"

#define REAP_PERIOD	HZ
#define REAP_IDLE	HZ
#define REAP_LOOKS	128	/* under the lock at a time */
#define LEASE_YOUNG	(5 * HZ)
#define REAP_NOW	256	/* looks when a bound is reached */

static DEFINE_SPINLOCK(reap_lock);
static LIST_HEAD(reap_rings);	/* by their data pages */
static LIST_HEAD(reap_leased);

static void reap_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(reap, reap_work);

/* reap_lock is held. */
static bool some_rings(void)
{
	return !list_empty(&reap_rings) || !list_empty(&reap_leased);
}

/**
 * speed_reap_add() - a ring got data pages
 * @ring: the ring; its producer's lock is held
 */
void speed_reap_add(struct speed_ring *ring)
{
	bool first;

	spin_lock(&reap_lock);
	first = !some_rings();
	ring->buf->ring = ring;
	list_add_tail(&ring->buf->list, &reap_rings);
	spin_unlock(&reap_lock);
	if (first)
		schedule_delayed_work(&reap, REAP_PERIOD);
}

/**
 * speed_reap_del() - a ring is about to lose its data pages
 * @ring: the ring
 */
void speed_reap_del(struct speed_ring *ring)
{
	spin_lock(&reap_lock);
	list_del_init(&ring->buf->list);
	spin_unlock(&reap_lock);
}

/**
 * speed_reap_sort() - a lease of a ring began or ended
 * @ring: the ring, which has data pages; that role's lock is held
 */
void speed_reap_sort(struct speed_ring *ring)
{
	bool leased;

	spin_lock(&reap_lock);
	/* The other role's may end at the same time: who comes later sees both. */
	leased = READ_ONCE(ring->role[SPEED_ROLE_TX].epoch) ||
		 READ_ONCE(ring->role[SPEED_ROLE_RX].epoch);
	list_move_tail(&ring->buf->list, leased ? &reap_leased : &reap_rings);
	spin_unlock(&reap_lock);
}

/* Nobody will read what is there: a mapping may keep the pair for long. */
static bool reader_gone(const struct speed_ring *ring)
{
	return sock_flag(speed_ring_reader(ring), SOCK_DEAD);
}

/* Who has just written there looks whether anybody reads it: a while is left to him. */
static bool ring_idle(struct speed_ring *ring, unsigned long idle)
{
	if (speed_ring_unread(ring)) {
		if (!reader_gone(ring))
			return false;
		idle = REAP_IDLE;
	}
	return time_after_eq(jiffies, READ_ONCE(ring->used) + idle);
}

/**
 * speed_reap_stray() - end a lease whose holder went away without a word
 * @ring: the ring
 * @role: SPEED_ROLE_*; its lock is held
 * @age: how long it may have been about to be mapped, jiffies
 *
 * Nobody is made to wait for a new one: nothing was revoked.
 */
void speed_reap_stray(struct speed_ring *ring, int role, unsigned long age)
{
	struct speed_role *r = &ring->role[role];
	struct speed_term *term;

	if (!r->epoch)
		return;
	term = speed_term(ring, role);
	if (atomic_read(&term->holder->vmas[role]) ||
	    time_before(jiffies, term->granted_at + age))
		return;
	/* The reaper waits for nobody's page faults. */
	if (!age)
		speed_lease_end(ring, role);
	else if (!speed_lease_end_now(ring, role))
		return;
	term->retry = 0;
}

/* Both roles' locks are held. Return: bytes taken. */
static size_t ring_strip(struct speed_ring *ring, unsigned long idle)
{
	struct speed_role *tx = &ring->role[SPEED_ROLE_TX];
	struct speed_role *rx = &ring->role[SPEED_ROLE_RX];

	speed_reap_stray(ring, SPEED_ROLE_TX, LEASE_YOUNG);
	speed_reap_stray(ring, SPEED_ROLE_RX, LEASE_YOUNG);
	if (!ring->buf || tx->epoch || rx->epoch || !ring_idle(ring, idle) ||
	    ring->pair->broken || !speed_ring_check(ring))
		return 0;
	speed_ring_publish(&rx->side, tx->side.own - rx->side.own);
	speed_overflow_purge(ring);
	speed_ctl_go_home(ring);
	speed_ring_drop_buf(ring);
	return speed_ring_size(ring);
}

static size_t ring_try_strip(struct speed_ring *ring, unsigned long idle)
{
	struct speed_role *tx = &ring->role[SPEED_ROLE_TX];
	struct speed_role *rx = &ring->role[SPEED_ROLE_RX];
	size_t taken = 0;

	/* One in use is left alone: who finds a role locked may take it for a transfer. */
	if (!ring_idle(ring, idle) || !mutex_trylock(&tx->lock))
		return 0;
	if (mutex_trylock(&rx->lock)) {
		taken = ring_strip(ring, idle);
		mutex_unlock(&rx->lock);
	}
	mutex_unlock(&tx->lock);
	speed_lease_unlocked(ring);
	return taken;
}

static bool untold(struct speed_ring *ring)
{
	const struct speed_door *door = ring->pair->door;

	return door->untold && door->untold(ring);
}

/*
 * The next ring of a list worth a try among the next few, its pair held, or NULL. Those
 * looked at move to the list's end. @news: there is something to tell of it; not where
 * everything is idle enough.
 */
static struct speed_ring *next_ring(struct list_head *list, unsigned int *left,
				    unsigned long idle, const struct speed_whose *whose, bool *news)
{
	struct speed_ring *ring, *found = NULL;
	unsigned int looks = REAP_LOOKS;
	struct speed_buf *buf;

	spin_lock(&reap_lock);
	if (list_empty(list))
		*left = 0;
	while (*left && looks-- && !found && !list_empty(list)) {
		buf = list_first_entry(list, struct speed_buf, list);
		list_move_tail(&buf->list, list);
		ring = buf->ring;
		(*left)--;
		if (!speed_is_of(ring, whose))
			continue;
		*news = idle && untold(ring);
		if ((*news || ring_idle(ring, idle)) && speed_pair_tryget(ring->pair))
			found = ring;
	}
	spin_unlock(&reap_lock);
	return found;
}

static unsigned int count_rings(const struct list_head *list)
{
	unsigned int n = 0;
	struct list_head *pos;

	spin_lock(&reap_lock);
	list_for_each(pos, list)
		n++;
	spin_unlock(&reap_lock);
	return n;
}

static void reap_list(struct list_head *list)
{
	const struct speed_whose anybody = {};
	unsigned int left = count_rings(list);
	struct speed_ring *ring;
	bool news;

	while (left) {
		ring = next_ring(list, &left, REAP_IDLE, &anybody, &news);
		if (ring) {
			if (news)
				ring->pair->door->tell(ring);
			ring_try_strip(ring, REAP_IDLE);
			speed_pair_put(ring->pair);
		}
		cond_resched();
	}
}

static void reap_work(struct work_struct *work)
{
	bool again;

	reap_list(&reap_rings);
	reap_list(&reap_leased);
	/* In one look: a ring may go from one list to the other. */
	spin_lock(&reap_lock);
	again = some_rings();
	spin_unlock(&reap_lock);
	if (again)
		schedule_delayed_work(&reap, REAP_PERIOD);
}

/**
 * speed_reap_now() - a bound is reached: take drained rings' pages at once
 * @wants: the ring that was refused pages
 * @bytes: how much is wanted
 *
 * Where the bound is a user's or a namespace's they are its own: nobody loses pages
 * because somebody else has used up what he may have.
 *
 * Looks at REAP_NOW rings at most, the longest unlooked-at first. More than is
 * wanted is taken, so that not each connection pays for the search.
 *
 * Context: process; one role's lock may be held.
 * Return: whether anything was taken.
 */
bool speed_reap_now(struct speed_ring *wants, size_t bytes)
{
	unsigned int left = REAP_NOW;
	struct speed_whose whose;
	struct speed_ring *ring;
	bool news;	/* not now */
	size_t taken = 0;

	if (!speed_whose_help(wants, bytes, &whose))
		return false;
	while (left && taken < 8 * bytes) {
		ring = next_ring(&reap_rings, &left, 0, &whose, &news);
		if (!ring)
			continue;
		taken += ring_try_strip(ring, 0);
		speed_pair_put(ring->pair);
	}
	return taken;
}

void speed_reap_exit(void)
{
	cancel_delayed_work_sync(&reap);
}
