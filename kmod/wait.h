/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sleeping for bytes and for space, and waking who sleeps.
 */
#ifndef SPEED_WAIT_H
#define SPEED_WAIT_H

#include "ring.h"
#include "tell.h"

/* How long a writer waits for a ring that can be passed by, jiffies. */
#define SPEED_PATIENCE	max(HZ / 50, 2)

/**
 * speed_has_waiters() - is anybody in the queue of a socket?
 * @sk: the socket
 *
 * Poll entries and SIGIO count: they wait for as long as they are there. The look comes
 * after whatever the caller did before.
 *
 * Context: any.
 */
bool speed_has_waiters(struct sock *sk);
void speed_wake_data(struct speed_ring *ring);
void speed_wake_writer(struct speed_ring *ring);
void speed_wake_mapped_data(struct speed_ring *ring);
void speed_wake_all(struct speed_pair *pair);
bool speed_data_or_end(struct speed_ring *ring, u64 want);
bool speed_space_ready(struct speed_ring *ring, u64 want);
int speed_wait_data(struct speed_ring *ring, u64 want, long *timeo);
int speed_wait_space(struct speed_ring *ring, u64 want, long *timeo);
void speed_need_data(struct speed_ring *ring);
void speed_need_space(struct speed_ring *ring);

/**
 * speed_wake_space() - bytes were released
 * @ring: the ring
 */
static inline void speed_wake_space(struct speed_ring *ring)
{
	smp_mb();					/* E */
	if (unlikely(speed_ring_flags(ring) & SPEED_NEED_SPACE))
		speed_wake_writer(ring);
}

void speed_waits_no_more(struct sock *sk, bool tcp);

/**
 * speed_data_ready() - would a reader have something to do?
 * @ring: the ring
 * @want: bytes it waits for
 *
 * Return: whether there are bytes enough, an end, an error or a lie.
 */
static inline bool speed_data_ready(struct speed_ring *ring, u64 want)
{
	if (ring->pair->door->data_ready)
		return ring->pair->door->data_ready(ring, want);
	return speed_ring_live(ring) >= want || speed_data_or_end(ring, want);
}

/**
 * speed_data_wakes() - is that worth waking up for?
 * @ring: the ring
 * @want: bytes it waits for
 * @sleeper: who waits
 *
 * A call that ends, for a signal or its time, takes what speed_data_ready() tells of.
 *
 * Context: process; may lock a TCP socket.
 * Return: as speed_data_ready(), but false where the socket has not told of the bytes that
 * there are, and they may be too few.
 */
static inline bool speed_data_wakes(struct speed_ring *ring, u64 want,
				    struct speed_sleeper *sleeper)
{
	const struct speed_door *door = ring->pair->door;
	struct sock *sk = speed_ring_reader(ring);
	bool told = likely(READ_ONCE(sk->sk_rcvlowat) <= 1) || !door->too_few ||
		    speed_told(sleeper, sk);

	return speed_data_ready(ring, want) && (told || !door->too_few(ring));
}

#endif
