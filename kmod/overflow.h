/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bytes beyond the ring.
 */
#ifndef SPEED_OVERFLOW_H
#define SPEED_OVERFLOW_H

#include "pair.h"
#include "ring.h"

struct iov_iter;

/**
 * struct speed_chunk - bytes that the ring could not take
 * @node: in the ring's list
 * @len: bytes in all; of a SOCK_SEQPACKET, one message
 * @taken: bytes already read
 * @data: the bytes
 */
struct speed_chunk {
	struct list_head node;
	u32 len;
	u32 taken;
	unsigned char data[];
};

/**
 * struct speed_overflow - what a ring could not take
 * @lock: covers the list; a leaf
 * @list: chunks, oldest first
 * @bytes: unread ones in all of them, a message without bytes counted as one
 */
struct speed_overflow {
	spinlock_t lock;	/* list */
	struct list_head list;
	u64 bytes;
};

/**
 * speed_ring_beyond() - bytes that wait beyond a ring
 * @ring: the ring
 *
 * Context: any; no lock needed.
 */
static inline u64 speed_ring_beyond(const struct speed_ring *ring)
{
	const struct speed_overflow *o = READ_ONCE(ring->overflow);

	return unlikely(o) ? READ_ONCE(o->bytes) : 0;
}

/**
 * speed_ring_unread() - bytes in a ring and beyond it, as the ring's indices say now
 * @ring: the ring
 *
 * Context: any; no lock needed.
 */
static inline u64 speed_ring_unread(struct speed_ring *ring)
{
	u64 live = speed_ring_live(ring);

	return live + speed_ring_beyond(ring);
}

struct speed_chunk *speed_chunk_new(struct speed_ring *ring, u32 len);
void speed_chunk_free(struct sock *sk, struct speed_chunk *chunk);
void speed_overflow_add(struct speed_ring *ring, struct speed_chunk *chunk);
struct speed_chunk *speed_overflow_first(struct speed_ring *ring);
struct speed_chunk *speed_overflow_next(struct speed_ring *ring, struct speed_chunk *chunk);
void speed_overflow_take(struct speed_ring *ring, struct speed_chunk *chunk, u32 bytes);
void speed_overflow_purge(struct speed_ring *ring);
void speed_overflow_free(struct speed_ring *ring);

#endif
