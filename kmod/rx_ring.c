// SPDX-License-Identifier: GPL-2.0
/*
 * The consumer's verbs on a ring, for streams and messages alike.
 */
#include <net/sock.h>

#include "family.h"
#include "pages.h"
#include "ring.h"
#include "rx.h"
#include "wait.h"

/**
 * speed_rx_ready() - bytes that the consumer can take from the ring
 * @ring: the ring; its consumer's lock is held, no lease in force
 * @want: bytes worth a look at the producer's index
 *
 * Return: bytes, zero after the connection broke, or -ECONNRESET if it breaks
 * now.
 */
s64 speed_rx_ready(struct speed_ring *ring, u64 want)
{
	struct speed_side *side = &ring->role[SPEED_ROLE_RX].side;
	s64 ready;

	if (unlikely(READ_ONCE(ring->pair->broken)))
		return 0;
	ready = speed_cons_ready(side, want);
	/* More than there can be, if the ring was stripped since. */
	if (unlikely(ready < 0 || (ready && !ring->buf)))
		return speed_pair_lie(ring, speed_ring_reader(ring));
	if (ready)
		side->data = READ_ONCE(ring->buf->addr);
	return ready;
}

/**
 * speed_rx_release() - the consumer is done with bytes of the ring
 * @ring: the ring; its consumer's lock is held
 * @bytes: how many
 */
void speed_rx_release(struct speed_ring *ring, u64 bytes)
{
	speed_ring_publish(&ring->role[SPEED_ROLE_RX].side, bytes);
	speed_wake_space(ring);
}

/**
 * speed_rx_hopeless() - is there nothing to be had at once?
 * @ring: the ring
 * @timeo: the caller's patience
 *
 * Asked before a lease is ended for nothing. A poller that relies on the flag
 * has it set.
 *
 * Return: whether -EAGAIN is the answer.
 */
bool speed_rx_hopeless(struct speed_ring *ring, long timeo)
{
	if (timeo || !READ_ONCE(ring->role[SPEED_ROLE_RX].epoch))
		return false;
	speed_need_data(ring);
	return !speed_data_ready(ring, 1);
}

/**
 * speed_rx_pause() - there was too little
 * @ring: the ring
 * @want: bytes to wait for
 * @timeo: jiffies left, in and out
 *
 * Return: 0 to look again, or the error.
 */
int speed_rx_pause(struct speed_ring *ring, u64 want, long *timeo)
{
	if (*timeo)
		return speed_wait_data(ring, want, timeo);
	/* Whoever waits for the edge or the signal from here on shall see it. */
	speed_need_data(ring);
	return speed_data_ready(ring, want) ? 0 : -EAGAIN;
}
