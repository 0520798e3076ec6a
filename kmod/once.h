/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The plain case of both doors: one copy into a ring that has room, or out of one
 * that has bytes. Inlined, since most calls are nothing else.
 */
#ifndef SPEED_ONCE_H
#define SPEED_ONCE_H

#include "copy.h"
#include "lease.h"
#include "pages.h"
#include "rx.h"
#include "tx.h"

/* There is room for @len. The producer's lock is held. Return: @len or -EFAULT. */
static inline ssize_t speed_put_once(struct speed_ring *ring, struct msghdr *msg, size_t len)
{
	struct speed_side *side = &ring->role[SPEED_ROLE_TX].side;

	speed_role_enter(ring, SPEED_ROLE_TX);
	if (unlikely(!speed_copy_in(speed_ring_span(side, 0), len, &msg->msg_iter)))
		return speed_tx_fault(ring);
	speed_tx_publish(ring, len, len);
	WRITE_ONCE(ring->used, jiffies);
	return len;
}

/* @len bytes are there. The consumer's lock is held. Return: @len or -EFAULT. */
static inline ssize_t speed_take_once(struct speed_ring *ring, struct iov_iter *to, size_t len)
{
	struct speed_side *side = &ring->role[SPEED_ROLE_RX].side;

	side->data = READ_ONCE(ring->buf->addr);
	speed_role_enter(ring, SPEED_ROLE_RX);
	if (unlikely(!speed_copy_out(speed_ring_span(side, 0), len, to)))
		return -EFAULT;
	speed_rx_release(ring, len);
	return len;
}

#endif
