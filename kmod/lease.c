// SPDX-License-Identifier: GPL-2.0
/*
 * Leases. A role's lock covers its lease: who holds it may grant, end and
 * settle. To end one, the kernel
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
#include <linux/sched.h>
#include <net/sock.h>

#include "ctl.h"
#include "family.h"
#include "lease.h"
#include "map.h"
#include "net.h"
#include "reap.h"
#include "stats.h"
#include "trace.h"
#include "wait.h"

#define LEASE_PAID	(256u << 10)
#define LEASE_LASTED	(HZ / 4)
#define LEASE_RETRY_MIN	8
#define LEASE_RETRY_MAX	BIT(16)

static void role_backoff(struct speed_role *role)
{
	bool paid = role->side.own - role->granted >= LEASE_PAID ||
		    time_after(jiffies, role->granted_at + LEASE_LASTED);

	role->ops = 0;
	role->retry = paid ? LEASE_RETRY_MIN
			   : clamp(role->retry * 2, (u32)LEASE_RETRY_MIN, LEASE_RETRY_MAX);
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
	struct speed_role *r = &ring->role[role];
	struct speed_ctl *ctl = speed_ring_ctl(ring);
	struct speed_holder *holder = r->holder;
	struct speed_side *side = &r->side;
	u64 mine, theirs;

	lockdep_assert_held(&r->lock);
	if (!r->epoch)
		return;
	WRITE_ONCE(ctl->kern->epoch[role], 0);
	speed_map_revoke(holder, role);
	mine = READ_ONCE(side->mine->index);
	theirs = smp_load_acquire(&side->theirs->index);	/* B, D */
	if (speed_ring_sane(role == SPEED_ROLE_TX ? mine : theirs,
			    role == SPEED_ROLE_TX ? theirs : mine, ring->size) &&
	    (s64)(mine - r->granted) >= 0 &&
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
	r->epoch = 0;
	WRITE_ONCE(r->mm, NULL);
	WRITE_ONCE(ring->used, jiffies);
	role_backoff(r);
	speed_count(SPEED_STAT_REVOKED);
	trace_speed_map(ring->pair->id, ring->end, role, 0);
	/* What the holder published last may have woken nobody. */
	if (role == SPEED_ROLE_TX)
		speed_wake_data(ring);
	else
		speed_wake_space(ring);
}

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
	return 0;
}

static int lease_allowed(struct speed_ring *ring, struct speed_role *r, int role,
			 struct speed_lease *lease)
{
	struct sock *sk = ring->pair->sk[speed_role_end(ring, role)];
	int stop = role == SPEED_ROLE_TX ? SEND_SHUTDOWN : RCV_SHUTDOWN;
	bool plain = role == SPEED_ROLE_RX &&
		     (READ_ONCE(sk->sk_rcvlowat) > 1 || READ_ONCE(sk->sk_peek_off) >= 0);

	if (READ_ONCE(ring->pair->broken) || (READ_ONCE(sk->sk_shutdown) & stop))
		return -EPIPE;
	/* One that maps nothing has gone, or has never come. */
	speed_reap_stray(ring, role, 0);
	if (r->epoch && (r->holder->mm != current->mm || r->holder->cookie != lease->cookie))
		return -EBUSY;
	if (!r->epoch && r->ops < r->retry) {
		lease->retry = r->retry - r->ops;
		return -EAGAIN;
	}
	if (READ_ONCE(ring->overflow_bytes) || plain) {
		lease->retry = LEASE_RETRY_MIN;
		return -EAGAIN;
	}
	return 0;
}

static int lease_begin(struct speed_ring *ring, struct speed_role *r, int role, u64 cookie)
{
	struct speed_pair *pair = ring->pair;
	struct speed_holder *holder;
	u64 epoch;

	holder = speed_holder_make(pair->map[speed_role_end(ring, role)], cookie);
	if (!holder)
		return -ENOBUFS;
	epoch = atomic64_inc_return(&pair->epochs);
	speed_map_grant(holder, role);
	r->granted = r->side.own;
	r->granted_at = jiffies;
	r->epoch = epoch;
	WRITE_ONCE(r->mm, current->mm);
	WRITE_ONCE(speed_ring_ctl(ring)->kern->epoch[role], epoch);
	speed_count(SPEED_STAT_LEASED);
	trace_speed_map(pair->id, ring->end, role, epoch);
	return 0;
}

static void lease_tell(const struct speed_ring *ring, const struct speed_role *r, int role,
		       struct speed_lease *lease)
{
	lease->epoch = r->epoch;
	lease->size = ring->size;
	lease->own = READ_ONCE(r->side.mine->index);
	lease->off_own = speed_map_offset(role, SPEED_REGION_OWN);
	lease->off_peer = speed_map_offset(role, SPEED_REGION_PEER);
	lease->off_data = speed_map_offset(role, SPEED_REGION_DATA);
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
	err = speed_ctl_make_ready(ring, role);
	if (!err)
		err = lease_begin(ring, r, role, lease->cookie);
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
	mutex_unlock(&r->lock);
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
	struct speed_role *r = &speed_pair_ring(pair, end, settle->role)->role[settle->role];
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
	if (r->epoch && r->holder->mm == current->mm) {
		speed_lease_end(ring, role);
		r->retry = 0;
		err = 0;
	}
	mutex_unlock(&r->lock);
	return err;
}
