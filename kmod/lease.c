// SPDX-License-Identifier: GPL-2.0
/*
 * Leases: how they begin, and what is told of them. A role's lock covers its
 * lease: who holds it may grant, end (revoke.c) and settle.
 *
 * A ring's pages show who maps them what was sent or received before, and let a producer
 * change what was sent and not read yet. So an endpoint that two users have used, one
 * after the other or side by side, is leased to none of them: nor has either ever seen
 * the other's pages, or the scratch page with the other's stray stores.
 */
#include <linux/sched.h>
#include <net/sock.h>

#include "ctl.h"
#include "family.h"
#include "lease.h"
#include "map.h"
#include "net.h"
#include "overflow.h"
#include "reap.h"
#include "share.h"
#include "stats.h"
#include "trace.h"

static atomic64_t epochs;	/* never the same twice, or zero */

static int need_map(struct speed_pair *pair, int end)
{
	struct speed_map *map;

	if (READ_ONCE(pair->map[end]))
		return 0;
	map = speed_map_new(pair, end);
	if (!map)
		return -ENOBUFS;
	/* Both roles of an endpoint may come here at once. */
	if (cmpxchg(&pair->map[end], NULL, map))
		speed_map_close(map);
	else if (pair->door->mapped)
		pair->door->mapped(map, true);
	return 0;
}

/**
 * speed_lease_user_anew() - an endpoint is used by who has not used it alone so far
 * @pair: the pair
 * @end: the endpoint
 *
 * Context: any. Before bytes move their role's lock is held.
 */
void speed_lease_user_anew(struct speed_pair *pair, int end)
{
	u32 uid = speed_uid(), was = READ_ONCE(pair->uid[end]);

	if (!was)
		was = cmpxchg(&pair->uid[end], 0, uid);
	/* Both roles' first calls may come at once. */
	if (was && was != uid && was != SPEED_UID_SEVERAL)
		WRITE_ONCE(pair->uid[end], SPEED_UID_SEVERAL);
}

/* It shows what they sent and received. */
static bool used_by_others(const struct speed_pair *pair, int end)
{
	u32 uid = READ_ONCE(pair->uid[end]);

	return uid && (uid != speed_uid() || uid == SPEED_UID_SEVERAL);
}

static int lease_allowed(struct speed_ring *ring, struct speed_role *r, int role,
			 struct speed_lease *lease)
{
	int end = speed_role_end(ring, role);
	struct sock *sk = ring->pair->sk[end];
	int stop = role == SPEED_ROLE_TX ? SEND_SHUTDOWN : RCV_SHUTDOWN;
	const struct speed_term *term = speed_term(ring, role);
	bool plain = role == SPEED_ROLE_RX &&
		     (READ_ONCE(sk->sk_rcvlowat) > 1 || READ_ONCE(sk->sk_peek_off) >= 0);

	if (READ_ONCE(ring->pair->broken) || (READ_ONCE(sk->sk_shutdown) & stop) ||
	    (role == SPEED_ROLE_TX && speed_ring_unwanted(ring)))
		return -EPIPE;
	if (used_by_others(ring->pair, end))
		return -EACCES;
	/* One that maps nothing has gone, or has never come. */
	speed_reap_stray(ring, role, 0);
	if (r->epoch && (term->holder->mm != current->mm || term->holder->cookie != lease->cookie))
		return -EBUSY;
	if (!r->epoch && term->ops < term->retry) {
		lease->retry = term->retry - term->ops;
		return -EAGAIN;
	}
	if (speed_ring_beyond(ring) || plain) {
		lease->retry = SPEED_LEASE_RETRY;
		return -EAGAIN;
	}
	return 0;
}

static int lease_begin(struct speed_ring *ring, struct speed_role *r, int role, u64 cookie)
{
	struct speed_term *term = speed_term(ring, role);
	int end = speed_role_end(ring, role);
	struct speed_pair *pair = ring->pair;
	struct speed_holder *holder;
	u64 epoch;

	holder = speed_holder_make(pair->map[end], cookie);
	if (!holder)
		return -ENOBUFS;
	/* The endpoint's other role may be about to be another user's. */
	speed_lease_user(pair, end);
	if (used_by_others(pair, end)) {
		speed_holder_put(holder);
		return -EACCES;
	}
	if (!speed_share_take(ring, role)) {
		speed_holder_put(holder);
		return -ENOBUFS;
	}
	epoch = atomic64_inc_return(&epochs);
	speed_map_grant(holder, role);
	term->granted = r->side.own;
	term->granted_at = jiffies;
	WRITE_ONCE(r->epoch, epoch);
	speed_reap_sort(ring);
	WRITE_ONCE(term->mm, current->mm);
	WRITE_ONCE(speed_ring_ctl(ring)->kern->epoch[role], epoch);
	speed_count(SPEED_STAT_LEASED);
	trace_speed_map(pair->id, ring->end, role, epoch);
	return 0;
}

static void lease_tell(const struct speed_ring *ring, const struct speed_role *r, int role,
		       struct speed_lease *lease)
{
	lease->epoch = r->epoch;
	lease->size = speed_ring_size(ring);
	lease->own = READ_ONCE(r->side.mine->index);
	lease->off_own = speed_map_offset(role, SPEED_REGION_OWN);
	lease->off_peer = speed_map_offset(role, SPEED_REGION_PEER);
	lease->off_data = speed_map_offset(role, SPEED_REGION_DATA);
}

/* Asked before pages are spent, and of the flags where they are afterwards. */
static int door_allows(struct speed_ring *ring, int role)
{
	const struct speed_door *door = ring->pair->door;

	return door->may_lease ? door->may_lease(ring, role) : 0;
}

static int share_allows(struct speed_ring *ring, int role)
{
	if (speed_share_left(ring, role))
		return 0;
	speed_count(SPEED_STAT_NO_MEMORY);
	return -ENOBUFS;
}

static int lease_locked(struct speed_ring *ring, struct speed_role *r, int role,
			struct speed_lease *lease)
{
	struct speed_role *other = &ring->role[!role];
	int err = lease_allowed(ring, r, role, lease);

	if (err || r->epoch)
		return err;
	if (!mutex_trylock(&other->lock)) {
		lease->retry = 1;
		return -EAGAIN;
	}
	lease->retry = SPEED_LEASE_RETRY;
	err = door_allows(ring, role) ?: share_allows(ring, role) ?:
	      speed_ctl_make_ready(ring, role) ?: door_allows(ring, role);
	if (!err)
		err = lease_begin(ring, r, role, lease->cookie);
	if (!err)
		lease->retry = 0;
	mutex_unlock(&other->lock);
	return err;
}

/**
 * speed_lease_grant() - give a role to the current address space
 * @pair: the pair
 * @end: the endpoint
 * @lease: in: role; out: the rest
 *
 * Never waits: where another operation is under way the answer is -EAGAIN.
 *
 * Context: process, may sleep for memory.
 * Return: 0 or the errors that uapi/linux/speed.h lists.
 */
int speed_lease_grant(struct speed_pair *pair, int end, struct speed_lease *lease)
{
	struct speed_ring *ring = speed_pair_ring(pair, end, lease->role);
	struct speed_role *r = &ring->role[lease->role];
	int err = need_map(pair, end);

	lease->spin_us = READ_ONCE(speed_net(sock_net(pair->sk[end]))->spin_us);
	lease->type = pair->type;
	lease->pair = pair->id;
	if (err)
		return err;
	if (!mutex_trylock(&r->lock)) {
		lease->retry = 1;
		return -EAGAIN;
	}
	err = lease_locked(ring, r, lease->role, lease);
	if (!err)
		lease_tell(ring, r, lease->role, lease);
	else if (err == -EACCES)
		speed_count(SPEED_STAT_SHARED);
	mutex_unlock(&r->lock);
	speed_lease_unlocked(ring);
	return err;
}

static int settle_locked(const struct speed_role *r, const struct speed_holder *holder,
			 struct speed_settle *settle)
{
	if (r->epoch == settle->epoch)
		return -EBUSY;
	if (!holder || holder->ended_epoch[settle->role] != settle->epoch)
		return -ESTALE;
	settle->index = holder->ended_index[settle->role];
	return 0;
}

/**
 * speed_lease_settle() - tell how much of an ended lease counted
 * @pair: the pair
 * @end: the endpoint
 * @settle: in: role and epoch; out: index
 *
 * An address space may ask for as long as it has the role mapped, whoever held
 * the role meanwhile.
 *
 * Return: 0, -EBUSY while it is in force, -ESTALE where it is not the last one
 * of this address space, -EINTR.
 */
int speed_lease_settle(struct speed_pair *pair, int end, struct speed_settle *settle)
{
	struct speed_ring *ring = speed_pair_ring(pair, end, settle->role);
	struct speed_role *r = &ring->role[settle->role];
	struct speed_map *map = speed_pair_map(pair, end);
	struct speed_holder *holder;
	int err;

	if (!map)
		return -ESTALE;
	if (mutex_lock_killable(&r->lock))
		return -EINTR;
	holder = speed_holder_find(map, settle->cookie);
	err = settle_locked(r, holder, settle);
	if (holder)
		speed_holder_put(holder);
	mutex_unlock(&r->lock);
	speed_lease_unlocked(ring);
	return err;
}

/**
 * speed_lease_give_back() - the holder has had enough
 * @pair: the pair
 * @end: the endpoint
 * @role: SPEED_ROLE_*
 *
 * Return: 0, -ESTALE where the caller does not hold it, -EINTR.
 */
int speed_lease_give_back(struct speed_pair *pair, int end, int role)
{
	struct speed_ring *ring = speed_pair_ring(pair, end, role);
	struct speed_role *r = &ring->role[role];
	int err = -ESTALE;

	if (mutex_lock_killable(&r->lock))
		return -EINTR;
	if (r->epoch && speed_term(ring, role)->mm == current->mm) {
		speed_lease_end(ring, role);
		speed_term(ring, role)->retry = 0;
		err = 0;
	}
	mutex_unlock(&r->lock);
	speed_lease_unlocked(ring);
	return err;
}
