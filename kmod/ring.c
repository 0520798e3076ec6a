// SPDX-License-Identifier: GPL-2.0
/*
 * A ring in the kernel: where its indices and its bytes live, how full it is,
 * its flags. What is asked with no lock held is asked under RCU.
 */
#include <linux/jiffies.h>
#include <net/sock.h>

#include "overflow.h"
#include "pages.h"
#include "reap.h"
#include "ring.h"
#include "stats.h"

/* Point both sides at where the indices live; both locks held, or no one there. */
void speed_ring_lives_in(struct speed_ring *ring, struct speed_ctl *ctl)
{
	int i;

	for (i = 0; i < SPEED_ROLES; i++) {
		struct speed_side *side = &ring->role[i].side;

		side->mine = ctl->index[i];
		side->theirs = ctl->index[!i];
		side->kern = ctl->kern;
	}
	rcu_assign_pointer(ring->ctl, ctl);
}

static int get_buf(struct speed_ring *ring, int role, u64 bytes)
{
	const struct speed_door *door = ring->pair->door;
	struct speed_side *side = &ring->role[SPEED_ROLE_TX].side;
	struct speed_buf *buf;
	int err;

	ring->reader_pays = role == SPEED_ROLE_RX;
	err = door->charge(ring, speed_ring_size(ring));
	if (err && speed_reap_now(ring, speed_ring_size(ring)))
		err = door->charge(ring, speed_ring_size(ring));
	if (err)
		return err;
	buf = speed_buf_get(speed_ring_size(ring), side->own, bytes);
	if (!buf) {
		door->uncharge(ring, speed_ring_size(ring));
		return -ENOBUFS;
	}
	side->data = buf->addr;
	WRITE_ONCE(ring->used, jiffies);
	/* Matches the consumer's look at the buffer, after head. */
	smp_store_release(&ring->buf, buf);
	speed_reap_add(ring);
	return 0;
}

static int grow_buf(struct speed_ring *ring)
{
	if (!speed_buf_grow(ring->buf))
		return -ENOBUFS;
	ring->role[SPEED_ROLE_TX].side.data = ring->buf->addr;
	return 0;
}

/**
 * speed_ring_need_buf() - make sure that a ring has the data pages that it needs next
 * @ring: the ring; its producer's lock is held
 * @role: who asks for them, and pays: no reader makes a writer pay that has not written
 * @bytes: so many as the producer is to put; the ring's size or more, for all pages
 *
 * Context: may sleep.
 * Return: 0 or -ENOBUFS.
 */
int speed_ring_need_buf(struct speed_ring *ring, int role, u64 bytes)
{
	int err;

	lockdep_assert_held(&ring->role[SPEED_ROLE_TX].lock);
	if (speed_buf_holds(ring->buf, ring->role[SPEED_ROLE_TX].side.own + bytes))
		return 0;
	err = ring->buf ? grow_buf(ring) : get_buf(ring, role, bytes);
	if (err)
		speed_count(SPEED_STAT_NO_MEMORY);
	return err;
}

/**
 * speed_ring_check() - do all that both roles believe of a ring fit together?
 * @ring: the ring; both roles' locks are held, and no lease is in force
 *
 * A holder may have published an index, let the other side see it, and taken it
 * back before its lease ended. Breaks the connection if so; if not, both sides
 * know each other's index from now on.
 *
 * Return: whether they do.
 */
bool speed_ring_check(struct speed_ring *ring)
{
	struct speed_side *tx = &ring->role[SPEED_ROLE_TX].side;
	struct speed_side *rx = &ring->role[SPEED_ROLE_RX].side;

	if (speed_ring_sane(tx->own, rx->own, speed_ring_size(ring)) &&
	    speed_ring_sane(tx->own, rx->other, speed_ring_size(ring)) &&
	    speed_ring_sane(rx->own, tx->other, speed_ring_size(ring))) {
		tx->other = rx->own;
		rx->other = tx->own;
		return true;
	}
	speed_pair_break(ring->pair, ring);
	return false;
}

/**
 * speed_ring_drop_buf() - take a ring's data pages from it
 * @ring: the ring, with both roles' locks held or its pair on its way out
 *
 * Nothing in the ring is wanted any more, and nobody maps it.
 *
 * Context: may sleep.
 */
void speed_ring_drop_buf(struct speed_ring *ring)
{
	struct speed_buf *buf = ring->buf;

	if (!buf)
		return;
	speed_reap_del(ring);
	ring->role[SPEED_ROLE_TX].side.data = NULL;
	ring->role[SPEED_ROLE_RX].side.data = NULL;
	WRITE_ONCE(ring->buf, NULL);
	speed_buf_put(buf, ring->role[SPEED_ROLE_TX].side.own);
	ring->pair->door->uncharge(ring, speed_ring_size(ring));
}

static u64 ctl_live(const struct speed_ctl *ctl)
{
	/* Tail first: it never passes head, so that the two make a ring. */
	u64 tail = smp_load_acquire(&ctl->index[SPEED_ROLE_RX]->index);	/* D */

	return smp_load_acquire(&ctl->index[SPEED_ROLE_TX]->index) - tail;	/* B */
}

u64 speed_ring_live_shared(struct speed_ring *ring)
{
	u64 live;

	rcu_read_lock();
	live = ctl_live(rcu_dereference(ring->ctl));
	rcu_read_unlock();
	return live;
}

u32 speed_ring_flags_shared(struct speed_ring *ring)
{
	u32 flags;

	rcu_read_lock();
	flags = READ_ONCE(rcu_dereference(ring->ctl)->kern->flags);
	rcu_read_unlock();
	return flags;
}

/**
 * speed_ring_index() - bytes that a role has moved
 * @ring: the ring
 * @role: SPEED_ROLE_*
 *
 * Context: any; no lock needed.
 * Return: the role's own index, as it says.
 */
u64 speed_ring_index(struct speed_ring *ring, int role)
{
	u64 index;

	rcu_read_lock();
	index = READ_ONCE(rcu_dereference(ring->ctl)->index[role]->index);
	rcu_read_unlock();
	return index;
}

/**
 * speed_ring_arrived() - bytes that have come for a consumer, ever
 * @ring: the ring
 *
 * Context: any; no lock needed.
 * Return: bytes; those that were taken alone, where the producer's index is a lie or
 *	more than a ring went through during the look.
 */
u64 speed_ring_arrived(struct speed_ring *ring)
{
	const struct speed_ctl *ctl;
	u64 tail, head;

	rcu_read_lock();
	ctl = rcu_dereference(ring->ctl);
	tail = smp_load_acquire(&ctl->index[SPEED_ROLE_RX]->index);	/* D */
	head = smp_load_acquire(&ctl->index[SPEED_ROLE_TX]->index);	/* B */
	rcu_read_unlock();
	return head - tail > speed_ring_size(ring) ? tail : head;
}

/**
 * speed_ring_fill() - bytes in a ring and its overflow, to be told
 * @ring: the ring
 *
 * Context: any; no lock needed.
 * Return: bytes; of the ring no more than its size, where an index is a lie.
 */
u64 speed_ring_fill(struct speed_ring *ring)
{
	return min(speed_ring_live(ring), speed_ring_size(ring)) + speed_ring_beyond(ring);
}

/**
 * speed_ring_limit() - bytes a ring and its overflow may hold together
 * @ring: the ring
 *
 * Return: bytes, at least the ring's size.
 */
u64 speed_ring_limit(struct speed_ring *ring)
{
	if (ring->pair->door->ring_alone)
		return speed_ring_size(ring);
	return max_t(u64, speed_ring_size(ring), READ_ONCE(speed_ring_writer(ring)->sk_sndbuf));
}

/**
 * speed_ring_room() - bytes that a writer could put now
 * @ring: the ring
 *
 * Context: any; no lock needed.
 * Return: bytes; the whole limit where an index is a lie, so that the writer
 * comes and finds out.
 */
u64 speed_ring_room(struct speed_ring *ring)
{
	u64 live = speed_ring_live(ring);
	u64 limit = speed_ring_limit(ring);

	if (live > speed_ring_size(ring))
		return limit;
	live += speed_ring_beyond(ring);
	return live < limit ? limit - live : 0;
}

/**
 * speed_ring_flag() - set a flag in a ring's kernel page
 * @ring: the ring
 * @flag: SPEED_NEED_DATA and the rest
 *
 * A full barrier follows the flag (F): what the caller reads next is not older.
 *
 * Context: any.
 */
void speed_ring_flag(struct speed_ring *ring, u32 flag)
{
	struct speed_ctl *ctl;

	rcu_read_lock();
	ctl = rcu_dereference(ring->ctl);
	atomic_or(flag, (atomic_t *)&ctl->kern->flags);
	smp_mb__after_atomic();				/* F */
	rcu_read_unlock();
}

/**
 * speed_ring_unflag() - clear a flag in a ring's kernel page
 * @ring: the ring
 * @flag: SPEED_NEED_DATA and the rest
 *
 * A full barrier follows.
 *
 * Context: any.
 */
void speed_ring_unflag(struct speed_ring *ring, u32 flag)
{
	struct speed_ctl *ctl;

	rcu_read_lock();
	ctl = rcu_dereference(ring->ctl);
	atomic_andnot(flag, (atomic_t *)&ctl->kern->flags);
	smp_mb__after_atomic();	/* for whoever looks at the queue next */
	rcu_read_unlock();
}
