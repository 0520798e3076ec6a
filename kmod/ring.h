/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring in the kernel.
 */
#ifndef SPEED_RING_H
#define SPEED_RING_H

#include "pair.h"

/* Bytes of data pages that a ring holds now, or may come to hold: they are paid for. */
static inline u64 speed_ring_held(const struct speed_ring *ring)
{
	return READ_ONCE(ring->buf) ? speed_ring_size(ring) : 0;
}

/* Whether its reader's socket was closed: what is sent from here on nobody reads. */
static inline bool speed_ring_unwanted(const struct speed_ring *ring)
{
	return READ_ONCE(ring->pair->closed[!ring->end]);
}

bool speed_ring_check(struct speed_ring *ring);
void speed_ring_lives_in(struct speed_ring *ring, struct speed_ctl *ctl);
void speed_ring_drop_buf(struct speed_ring *ring);
int speed_ring_need_buf(struct speed_ring *ring, int role, u64 bytes);
u64 speed_ring_live_shared(struct speed_ring *ring);
u32 speed_ring_flags_shared(struct speed_ring *ring);
u64 speed_ring_limit(struct speed_ring *ring);
u64 speed_ring_index(struct speed_ring *ring, int role);
u64 speed_ring_arrived(struct speed_ring *ring);
u64 speed_ring_fill(struct speed_ring *ring);
u64 speed_ring_room(struct speed_ring *ring);
void speed_ring_flag(struct speed_ring *ring, u32 flag);
void speed_ring_unflag(struct speed_ring *ring, u32 flag);
/*
 * Most rings are never mapped, and where their indices live then goes with the
 * pair alone: no RCU is needed to look at them. If they move meanwhile, this
 * look came before, and who moved them makes all waiters look again.
 */
static inline bool speed_ring_at_home(const struct speed_ring *ring)
{
	/* Before what is at home, which is written before it moves there. */
	return smp_load_acquire((struct speed_ctl __force **)&ring->ctl) == &ring->home;
}

/**
 * speed_ring_live() - bytes in the ring, as its indices say now
 * @ring: the ring
 *
 * Context: any; no lock needed.
 * Return: head - tail; more than the ring's size where an index is a lie.
 */
static inline u64 speed_ring_live(struct speed_ring *ring)
{
	u64 tail;

	if (!speed_ring_at_home(ring))
		return speed_ring_live_shared(ring);
	/* Tail first: it never passes head, so that the two make a ring. */
	tail = smp_load_acquire(&ring->home_index[SPEED_ROLE_RX].index);	/* D */
	return smp_load_acquire(&ring->home_index[SPEED_ROLE_TX].index) - tail;	/* B */
}

static inline u32 speed_ring_flags(struct speed_ring *ring)
{
	if (!speed_ring_at_home(ring))
		return speed_ring_flags_shared(ring);
	return READ_ONCE(ring->home_kern.flags);
}

#endif
