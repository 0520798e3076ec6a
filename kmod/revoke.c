// SPDX-License-Identifier: GPL-2.0
/*
 * How a lease ends. A role's lock is held, and the kernel
 *
 *	1. changes the epoch in the kernel page, so that a holder that publishes
 *	   from now on learns of it;
 *	2. removes the mapping's page-table entries, which waits for every
 *	   processor (H): what was stored before is visible, what comes after
 *	   hits the scratch page;
 *	3. reads the index: that is what counted.
 *
 * A holder that is stopped, dead or hostile takes no part in it.
 *
 * A lease that was taken away is granted again only after a number of
 * operations by system call, which doubles each time unless the lease had been
 * worth its price (it moved LEASE_PAID bytes, or lasted LEASE_LASTED). So mixed
 * use settles on the kernel path.
 */
#include <net/sock.h>

#include "ctl.h"
#include "lease.h"
#include "map.h"
#include "reap.h"
#include "ring.h"
#include "share.h"
#include "stats.h"
#include "tell.h"
#include "trace.h"
#include "tx.h"
#include "wait.h"

#define LEASE_PAID	(256u << 10)
#define LEASE_LASTED	(HZ / 4)
#define LEASE_RETRY_MAX	BIT(16)

static void back_off(struct speed_term *term, u64 index)
{
	bool paid = index - term->granted >= LEASE_PAID ||
		    time_after(jiffies, term->granted_at + LEASE_LASTED);

	term->ops = 0;
	term->retry = paid ? SPEED_LEASE_RETRY
			   : clamp(term->retry * 2, (u32)SPEED_LEASE_RETRY, LEASE_RETRY_MAX);
}

/* The role's lock is held, and speed_map_lock() taken, which is given back. */
static void lease_end(struct speed_ring *ring, int role)
{
	struct speed_role *r = &ring->role[role];
	struct speed_ctl *ctl = speed_ring_ctl(ring);
	struct speed_side *side = &r->side;
	struct speed_holder *holder;
	struct speed_term *term;
	u64 mine, theirs;

	lockdep_assert_held(&r->lock);
	term = speed_term(ring, role);
	holder = term->holder;
	WRITE_ONCE(ctl->kern->epoch[role], 0);
	speed_map_revoke(holder, role);
	mine = READ_ONCE(side->mine->index);
	theirs = smp_load_acquire(&side->theirs->index);	/* B, D */
	if (speed_ring_sane(role == SPEED_ROLE_TX ? mine : theirs,
			    role == SPEED_ROLE_TX ? theirs : mine, speed_ring_size(ring)) &&
	    (s64)(mine - term->granted) >= 0 &&
	    !(ring->pair->type == SOCK_SEQPACKET && mine % 8)) {
		side->own = mine;
		side->other = theirs;
	} else {
		WRITE_ONCE(side->mine->index, side->own);
		speed_pair_break(ring->pair, ring);
	}
	holder->ended_epoch[role] = r->epoch;
	holder->ended_index[role] = side->own;
	speed_holder_put(holder);
	WRITE_ONCE(r->epoch, 0);
	speed_share_drop(ring, role);
	speed_reap_sort(ring);
	WRITE_ONCE(term->mm, NULL);
	WRITE_ONCE(ring->used, jiffies);
	back_off(term, side->own);
	speed_count(SPEED_STAT_REVOKED);
	trace_speed_map(ring->pair->id, ring->end, role, 0);
	/* What the holder published last may have woken nobody, and be for nobody. */
	if (role == SPEED_ROLE_TX && !ring->pair->door->callbacks_locked)
		speed_tx_tell(ring);
	else if (role == SPEED_ROLE_TX)
		speed_wake_data(ring);
	else
		speed_wake_space(ring);
	/* What it left may have been told, and be nobody's who looks: a call that fell short. */
	if (role == SPEED_ROLE_RX)
		speed_tell_again(speed_ring_reader(ring));
}

/**
 * speed_lease_end() - the kernel takes a role back
 * @ring: the ring
 * @role: SPEED_ROLE_*; its lock is held
 *
 * Nothing happens where no lease is in force. A lie left in the index resets
 * the connection.
 *
 * Context: may sleep.
 */
void speed_lease_end(struct speed_ring *ring, int role)
{
	if (!ring->role[role].epoch)
		return;
	speed_map_lock(speed_term(ring, role)->holder->map);
	lease_end(ring, role);
}

/**
 * speed_lease_end_now() - the same for who must not wait for the holder's page faults
 * @ring: the ring
 * @role: SPEED_ROLE_*; its lock is held
 *
 * Return: whether no lease is in force.
 */
bool speed_lease_end_now(struct speed_ring *ring, int role)
{
	if (!ring->role[role].epoch)
		return true;
	if (!speed_map_trylock(speed_term(ring, role)->holder->map))
		return false;
	lease_end(ring, role);
	return true;
}

/**
 * speed_role_enter_mapped() - speed_role_enter() of an endpoint that was mapped
 * @ring: the ring
 * @role: SPEED_ROLE_*; its lock is held
 *
 * Context: may sleep.
 */
void speed_role_enter_mapped(struct speed_ring *ring, int role)
{
	speed_lease_end(ring, role);
	speed_term(ring, role)->ops++;
}

/**
 * speed_lease_drop() - take a role back from whoever maps it
 * @ring: the ring
 * @role: SPEED_ROLE_*
 *
 * Context: process; takes the role's lock, which nobody holds for long.
 */
void speed_lease_drop(struct speed_ring *ring, int role)
{
	mutex_lock(&ring->role[role].lock);
	speed_lease_end(ring, role);
	mutex_unlock(&ring->role[role].lock);
}

/**
 * speed_lease_drop_killable() - the same where a user may hold the lock for long
 * @ring: the ring
 * @role: SPEED_ROLE_*
 *
 * Whoever shares the socket may be in a page fault.
 *
 * Context: process.
 * Return: 0 or -EINTR.
 */
int speed_lease_drop_killable(struct speed_ring *ring, int role)
{
	if (mutex_lock_killable(&ring->role[role].lock))
		return -EINTR;
	speed_lease_end(ring, role);
	mutex_unlock(&ring->role[role].lock);
	return 0;
}

/**
 * speed_lease_try_drop() - the same for who must not wait
 * @ring: the ring
 * @role: SPEED_ROLE_*
 *
 * Who holds the lock works on the role by system call, which has ended the lease
 * or ends it, or looks afterwards: speed_lease_unlocked().
 */
void speed_lease_try_drop(struct speed_ring *ring, int role)
{
	if (!mutex_trylock(&ring->role[role].lock))
		return;
	speed_lease_end(ring, role);
	mutex_unlock(&ring->role[role].lock);
}

/**
 * speed_lease_drop_now() - the same for who waits for no page fault, either, and comes again
 * @ring: the ring
 * @role: SPEED_ROLE_*
 */
void speed_lease_drop_now(struct speed_ring *ring, int role)
{
	if (!mutex_trylock(&ring->role[role].lock))
		return;
	speed_lease_end_now(ring, role);
	mutex_unlock(&ring->role[role].lock);
}

/**
 * speed_lease_leave() - an endpoint has no users any more: nor are there leases
 * @pair: the pair
 * @end: the endpoint
 *
 * Context: process; takes both roles' locks.
 */
void speed_lease_leave(struct speed_pair *pair, int end)
{
	if (!READ_ONCE(pair->map[end]))
		return;
	speed_lease_drop(speed_pair_ring(pair, end, SPEED_ROLE_TX), SPEED_ROLE_TX);
	speed_lease_drop(speed_pair_ring(pair, end, SPEED_ROLE_RX), SPEED_ROLE_RX);
}

/**
 * speed_lease_unmap() - an endpoint without leases lets go of its mapping file
 * @pair: the pair
 * @end: the endpoint
 *
 * Context: process.
 */
void speed_lease_unmap(struct speed_pair *pair, int end)
{
	struct speed_map *map = pair->map[end];

	WRITE_ONCE(pair->map[end], NULL);
	if (map && pair->door->mapped)
		pair->door->mapped(map, false);
	speed_map_close(map);
}
