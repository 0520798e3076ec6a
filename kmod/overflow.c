// SPDX-License-Identifier: GPL-2.0
/*
 * Overflow: what a ring cannot take and the socket's limits still allow.
 *
 * Chunks are added under the producer's lock and taken under the consumer's, so
 * the list's own lock is held for a moment only, and a chunk that the consumer
 * looks at stays. While the list is not empty the producer publishes nothing in
 * the ring: the list begins where the ring's head is, and a reader whose tail
 * has come there goes on in the list. An empty list reopens the ring.
 *
 * The count of bytes is of what is unread, a message without bytes as one, so
 * that zero means an empty list, also to those who look without the lock. Most
 * rings never overflow: the list is made when one does.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "charge.h"
#include "overflow.h"
#include "ring.h"

static u32 chunk_weight(const struct speed_chunk *chunk)
{
	return max(chunk->len - chunk->taken, 1u);
}

/* What the allocator spends on it. */
static size_t chunk_bytes(u32 len)
{
	return kmalloc_size_roundup(sizeof(struct speed_chunk) + len);
}

static bool need_list(struct speed_ring *ring)
{
	struct speed_overflow *o;

	if (ring->overflow)
		return true;
	o = kzalloc(sizeof(*o), GFP_KERNEL_ACCOUNT);
	if (!o)
		return false;
	spin_lock_init(&o->lock);
	INIT_LIST_HEAD(&o->list);
	smp_store_release(&ring->overflow, o);	/* who sees it sees a list */
	return true;
}

/**
 * speed_chunk_new() - room for bytes beyond a ring
 * @ring: the ring; its producer's lock is held, and its writer pays
 * @len: bytes
 *
 * Context: may sleep.
 * Return: the chunk or NULL.
 */
struct speed_chunk *speed_chunk_new(struct speed_ring *ring, u32 len)
{
	struct sock *sk = speed_ring_writer(ring);
	struct speed_chunk *chunk;

	lockdep_assert_held(&ring->role[SPEED_ROLE_TX].lock);
	if (!need_list(ring) || speed_charge(sk, chunk_bytes(len)))
		return NULL;
	chunk = kvmalloc(chunk_bytes(len), GFP_KERNEL | __GFP_NOWARN);
	if (!chunk) {
		speed_uncharge(sk, chunk_bytes(len));
		return NULL;
	}
	INIT_LIST_HEAD(&chunk->node);
	chunk->len = len;
	chunk->taken = 0;
	return chunk;
}

void speed_chunk_free(struct sock *sk, struct speed_chunk *chunk)
{
	u32 len = chunk->len;

	kvfree(chunk);
	speed_uncharge(sk, chunk_bytes(len));
}

/**
 * speed_overflow_add() - put a chunk behind all that was sent
 * @ring: the ring; its producer's lock is held, no lease in force
 * @chunk: the chunk
 */
void speed_overflow_add(struct speed_ring *ring, struct speed_chunk *chunk)
{
	struct speed_overflow *o = ring->overflow;

	lockdep_assert_held(&ring->role[SPEED_ROLE_TX].lock);
	spin_lock(&o->lock);
	list_add_tail(&chunk->node, &o->list);
	WRITE_ONCE(o->bytes, o->bytes + chunk_weight(chunk));
	speed_ring_flag(ring, SPEED_OVERFLOW);
	spin_unlock(&o->lock);
}

/**
 * speed_overflow_first() - the oldest chunk
 * @ring: the ring; its consumer's lock is held and the ring is drained
 *
 * Return: the chunk, or NULL.
 */
struct speed_chunk *speed_overflow_first(struct speed_ring *ring)
{
	struct speed_overflow *o = READ_ONCE(ring->overflow);
	struct speed_chunk *chunk;

	if (!o || !READ_ONCE(o->bytes))
		return NULL;
	spin_lock(&o->lock);
	chunk = list_first_entry_or_null(&o->list, struct speed_chunk, node);
	spin_unlock(&o->lock);
	return chunk;
}

/**
 * speed_overflow_next() - the chunk after one
 * @ring: the ring; its consumer's lock is held
 * @chunk: a chunk of it
 *
 * Return: the chunk, or NULL.
 */
struct speed_chunk *speed_overflow_next(struct speed_ring *ring, struct speed_chunk *chunk)
{
	struct speed_overflow *o = ring->overflow;
	struct speed_chunk *next = NULL;

	spin_lock(&o->lock);
	if (!list_is_last(&chunk->node, &o->list))
		next = list_next_entry(chunk, node);
	spin_unlock(&o->lock);
	return next;
}

/**
 * speed_overflow_take() - bytes of the oldest chunk were read
 * @ring: the ring; its consumer's lock is held
 * @chunk: the oldest chunk
 * @bytes: how many; the chunk is freed when none is left
 *
 * Context: may sleep.
 */
void speed_overflow_take(struct speed_ring *ring, struct speed_chunk *chunk, u32 bytes)
{
	bool done = chunk->taken + bytes == chunk->len;
	struct speed_overflow *o = ring->overflow;
	u32 weight;

	lockdep_assert_held(&ring->role[SPEED_ROLE_RX].lock);
	spin_lock(&o->lock);
	weight = chunk_weight(chunk);
	chunk->taken += bytes;
	if (done)
		list_del(&chunk->node);
	else
		weight -= chunk_weight(chunk);
	WRITE_ONCE(o->bytes, o->bytes - weight);
	if (list_empty(&o->list))
		speed_ring_unflag(ring, SPEED_OVERFLOW);
	spin_unlock(&o->lock);
	if (done)
		speed_chunk_free(speed_ring_writer(ring), chunk);
}

/**
 * speed_overflow_purge() - forget what is left, which nobody will read
 * @ring: the ring; both roles' locks are held
 */
void speed_overflow_purge(struct speed_ring *ring)
{
	struct speed_chunk *chunk;

	while ((chunk = speed_overflow_first(ring))) {
		speed_overflow_take(ring, chunk, chunk->len - chunk->taken);
		cond_resched();
	}
}

/**
 * speed_overflow_free() - the pair is on its way out
 * @ring: the ring
 */
void speed_overflow_free(struct speed_ring *ring)
{
	struct speed_overflow *o = ring->overflow;
	struct speed_chunk *chunk, *next;

	if (!o)
		return;
	list_for_each_entry_safe(chunk, next, &o->list, node) {
		speed_chunk_free(speed_ring_writer(ring), chunk);
		cond_resched();	/* as many as there are bytes of a limit */
	}
	ring->overflow = NULL;
	kfree(o);
}
