/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The ring: one producer, one consumer, bytes between. No sockets, no locks,
 * no sleeping. This is the only implementation: the module, libspeed, the unit
 * tests and the fuzzers all compile it, and the models follow it.
 *
 * Indices run freely over 64 bits. "head" is stored by the producer alone and
 * "tail" by the consumer alone; the bytes [tail, head) are live. The data is
 * mapped twice in a row, so a span of up to size bytes is contiguous wherever
 * it starts. The other side may be hostile: its index is loaded once into a
 * local, the local is checked (0 <= head - tail <= size) and only the local is
 * used.
 *
 * Barriers. A pairs with B, C with D, E with F, G with H:
 *
 *	producer			consumer
 *
 *	write data			load head		(B, acquire)
 *	store head	(A, release)	read data
 *					store tail		(C, release)
 *	load tail	(D, acquire)
 *	write data
 *
 *	publisher			sleeper (in the kernel)
 *
 *	store own index			join the wait queue
 *	full barrier	(E)		set the NEED flag
 *	load the NEED flag		full barrier		(F)
 *	  set: enter the kernel, wake	load the other index
 *					  nothing: sleep
 *
 *	holder of a lease		kernel, to revoke it
 *
 *	store own index			change the epoch
 *	full barrier	(G)		remove the mappings	(H, a full barrier
 *	load the epoch			load the final index	 on every processor)
 *	  changed: settle
 *
 * Without A or B the consumer reads bytes that are not there yet; without C or
 * D the producer overwrites bytes that are still being read; without E or F
 * both sides can miss each other and a sleeper sleeps for ever; without G or H
 * a holder can believe that a publication counted that did not. E and G are
 * one and the same barrier in speed_ring_publish_fence().
 */
#ifndef _UAPI_LINUX_SPEED_RING_H
#define _UAPI_LINUX_SPEED_RING_H

#include <linux/speed.h>

/*
 * The memory model's primitives. A test or a model may define them first, to
 * show that it notices a missing one.
 */
#ifndef speed_load_acquire
#ifdef __KERNEL__
#define speed_load_acquire(p)		smp_load_acquire(p)	/* B, D */
#define speed_store_release(p, v)	smp_store_release(p, v)	/* A, C */
#define speed_load(p)			READ_ONCE(*(p))
#define speed_full_barrier()		smp_mb()		/* E, G */
#else
#define speed_load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define speed_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define speed_load(p)			__atomic_load_n(p, __ATOMIC_RELAXED)
#define speed_full_barrier()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#endif
#endif

/**
 * struct speed_side - a ring as one of its two roles sees it; private memory
 * @mine: the role's own index; no one else stores there
 * @theirs: the other role's index; hostile
 * @kern: the kernel page
 * @data: size bytes, mapped twice in a row
 * @size: a power of two, SPEED_RING_MIN to SPEED_RING_MAX
 * @own: the role's own index; @mine always shows what was stored last
 * @other: the other role's index when it was last looked at, checked
 */
struct speed_side {
	struct speed_index		*mine;
	const struct speed_index	*theirs;
	const struct speed_kern		*kern;
	unsigned char			*data;
	__u64				size;
	__u64				own;
	__u64				other;
};

/**
 * speed_ring_sane() - do two indices make a ring?
 * @head: the producer's
 * @tail: the consumer's
 * @size: of the ring in bytes
 *
 * Return: whether 0 <= head - tail <= size.
 */
static inline int speed_ring_sane(__u64 head, __u64 tail, __u64 size)
{
	return head - tail <= size;
}

/**
 * speed_prod_free() - how many bytes can be put now
 * @s: the producer's side
 * @want: look at the consumer's index only if the last look does not give
 *	this many bytes
 *
 * Return: free bytes, or -1 where the consumer's index is a lie.
 */
static inline __s64 speed_prod_free(struct speed_side *s, __u64 want)
{
	__u64 free = s->size - (s->own - s->other);
	__u64 tail;

	if (free >= want)
		return (__s64)free;
	tail = speed_load_acquire(&s->theirs->index);	/* D */
	if (!speed_ring_sane(s->own, tail, s->size))
		return -1;
	s->other = tail;
	return (__s64)(s->size - (s->own - tail));
}

/**
 * speed_cons_ready() - how many bytes can be taken now
 * @s: the consumer's side
 * @want: look at the producer's index only if the last look does not give
 *	this many bytes
 *
 * Return: live bytes, or -1 where the producer's index is a lie.
 */
static inline __s64 speed_cons_ready(struct speed_side *s, __u64 want)
{
	__u64 ready = s->other - s->own;
	__u64 head;

	if (ready >= want && ready)
		return (__s64)ready;
	head = speed_load_acquire(&s->theirs->index);	/* B */
	if (!speed_ring_sane(head, s->own, s->size))
		return -1;
	s->other = head;
	return (__s64)(head - s->own);
}

/**
 * speed_ring_span() - where the role works next
 * @s: either side
 * @ahead: bytes beyond the role's own index, at most size
 *
 * Return: the address of a byte after which size bytes are contiguous.
 */
static inline unsigned char *speed_ring_span(const struct speed_side *s, __u64 ahead)
{
	return s->data + ((s->own + ahead) & (s->size - 1));
}

/**
 * speed_ring_publish() - let the other side see progress
 * @s: either side
 * @n: bytes put by the producer or taken by the consumer
 *
 * One store of one index: a ring is consistent at every instant.
 */
static inline void speed_ring_publish(struct speed_side *s, __u64 n)
{
	s->own += n;
	speed_store_release(&s->mine->index, s->own);	/* A, C */
}

/**
 * speed_ring_publish_fence() - order a publication before the loads that ask
 *	who must be told (E) and whether it counted (G)
 */
static inline void speed_ring_publish_fence(void)
{
	speed_full_barrier();				/* E, G */
}

/**
 * speed_prod_must_wake() - must the producer enter the kernel?
 * @s: the producer's side, published and fenced
 *
 * Return: whether a reader may be asleep.
 */
static inline int speed_prod_must_wake(const struct speed_side *s)
{
	return !!(speed_load(&s->kern->flags) & SPEED_NEED_DATA);
}

/**
 * speed_cons_must_wake() - must the consumer enter the kernel?
 * @s: the consumer's side, published and fenced
 *
 * A writer that waits says how many free bytes make it worth waking
 * (wake_free), so that a full ring is not handed over byte by byte.
 *
 * Return: whether a writer may be asleep that has enough space now.
 */
static inline int speed_cons_must_wake(const struct speed_side *s)
{
	__u64 head;

	if (!(speed_load(&s->kern->flags) & SPEED_NEED_SPACE))
		return 0;
	head = speed_load(&s->theirs->index);
	return s->size - (head - s->own) >= speed_load(&s->kern->wake_free);
}

/**
 * speed_ring_counts() - is the lease under which the role published in force?
 * @s: either side, published and fenced
 * @role: SPEED_ROLE_TX or SPEED_ROLE_RX
 * @epoch: the lease's
 *
 * Return: whether all that was published so far counts.
 */
static inline int speed_ring_counts(const struct speed_side *s, int role, __u64 epoch)
{
	return speed_load(&s->kern->epoch[role]) == epoch;
}

/**
 * speed_record_check() - validate a record's header, copied to a local
 * @rec: the local copy
 * @ready: live bytes from the header on
 *
 * Return: bytes the record takes of the ring, or 0 where the header is a lie.
 */
static inline __u64 speed_record_check(const struct speed_record *rec, __u64 ready)
{
	__u64 bytes = SPEED_RECORD_BYTES(rec->len);

	if (rec->reserved || bytes > ready)
		return 0;
	return bytes;
}

#endif /* _UAPI_LINUX_SPEED_RING_H */
