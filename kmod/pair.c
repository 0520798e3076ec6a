// SPDX-License-Identifier: GPL-2.0
/*
 * Pairs and their rings: birth, death, and what anyone may ask of a ring
 * without a lock. pair.h has the locks and who owns what.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "charge.h"
#include "family.h"
#include "ctl.h"
#include "map.h"
#include "net.h"
#include "overflow.h"
#include "pages.h"
#include "pair.h"
#include "reap.h"
#include "stats.h"
#include "trace.h"
#include "wait.h"

static struct kmem_cache *pair_cache;
static atomic64_t pair_ids;

static u64 ring_size(const struct sock *a, const struct sock *b)
{
	u64 size = speed_net(sock_net(a))->ring_bytes;

	if (a->sk_userlocks & SOCK_SNDBUF_LOCK)
		size = a->sk_sndbuf;
	else if (b->sk_userlocks & SOCK_RCVBUF_LOCK)
		size = b->sk_rcvbuf;
	size = roundup_pow_of_two(max_t(u64, size, PAGE_SIZE));
	return min_t(u64, size, SPEED_RING_MAX);
}

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

static void ring_init(struct speed_ring *ring, struct speed_pair *pair, int end, u64 size)
{
	int i;

	ring->pair = pair;
	ring->end = end;
	ring->size = size;
	spin_lock_init(&ring->overflow_lock);
	INIT_LIST_HEAD(&ring->overflow);
	INIT_LIST_HEAD(&ring->reap);
	ring->home.kern = &ring->home_kern;
	for (i = 0; i < SPEED_ROLES; i++) {
		mutex_init(&ring->role[i].lock);
		ring->role[i].side.size = size;
		ring->home.index[i] = &ring->home_index[i];
	}
	speed_ring_lives_in(ring, &ring->home);
}

/**
 * speed_pair_new() - join two sockets
 * @a: endpoint 0
 * @b: endpoint 1
 * @type: SOCK_STREAM or SOCK_SEQPACKET
 *
 * Holds both sockets. The caller owns the two references that belong to the
 * endpoints.
 *
 * Context: may sleep.
 * Return: the pair, or NULL where memory is short.
 */
struct speed_pair *speed_pair_new(struct sock *a, struct sock *b, u8 type)
{
	struct speed_pair *pair = kmem_cache_zalloc(pair_cache, GFP_KERNEL_ACCOUNT);

	if (!pair)
		return NULL;
	refcount_set(&pair->refs, 2);
	pair->id = atomic64_inc_return(&pair_ids);
	pair->type = type;
	ring_init(&pair->ring[0], pair, 0, ring_size(a, b));
	ring_init(&pair->ring[1], pair, 1, ring_size(b, a));
	sock_hold(a);
	sock_hold(b);
	pair->sk[0] = a;
	pair->sk[1] = b;
	return pair;
}

void speed_pair_get(struct speed_pair *pair)
{
	refcount_inc(&pair->refs);
}

bool speed_pair_tryget(struct speed_pair *pair)
{
	return refcount_inc_not_zero(&pair->refs);
}

static void ring_free(struct speed_ring *ring)
{
	struct speed_ctl *ctl = rcu_dereference_protected(ring->ctl, true);

	speed_overflow_purge(ring);
	speed_ring_drop_buf(ring);
	if (ctl->shared)
		speed_ctl_free(ctl);
	mutex_destroy(&ring->role[SPEED_ROLE_TX].lock);
	mutex_destroy(&ring->role[SPEED_ROLE_RX].lock);
}

/**
 * speed_pair_put() - drop a reference
 * @pair: the pair
 *
 * The last one frees the rings, then lets go of the sockets.
 *
 * Context: may sleep.
 */
void speed_pair_put(struct speed_pair *pair)
{
	if (!refcount_dec_and_test(&pair->refs))
		return;
	ring_free(&pair->ring[0]);
	ring_free(&pair->ring[1]);
	sock_put(pair->sk[0]);
	sock_put(pair->sk[1]);
	kmem_cache_free(pair_cache, pair);
}

static void sock_reset(struct sock *sk)
{
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	WRITE_ONCE(sk->sk_err, ECONNRESET);
	sk->sk_state_change(sk);
}

/**
 * speed_pair_break() - an index or a length was a lie: reset the connection
 * @pair: the pair
 * @ring: the ring in which it was seen
 *
 * Both ends get ECONNRESET once, then end-of-file and EPIPE; nothing else
 * happens, to this connection or another.
 *
 * Context: any but hard interrupt; takes no lock but the wait queues'.
 */
void speed_pair_break(struct speed_pair *pair, struct speed_ring *ring)
{
	if (xchg(&pair->broken, true))
		return;
	speed_count(SPEED_STAT_BAD_PEER);
	trace_speed_reset(pair->id, ring->end);
	speed_ring_flag(&pair->ring[0], SPEED_CLOSED);
	speed_ring_flag(&pair->ring[1], SPEED_CLOSED);
	sock_reset(pair->sk[0]);
	sock_reset(pair->sk[1]);
}

/**
 * speed_ring_need_buf() - make sure that a ring has data pages
 * @ring: the ring; its producer's lock is held
 * @sk: who pays: the producing socket
 *
 * Context: may sleep.
 * Return: 0 or -ENOBUFS.
 */
int speed_ring_need_buf(struct speed_ring *ring, struct sock *sk)
{
	struct speed_buf *buf;
	int err;

	lockdep_assert_held(&ring->role[SPEED_ROLE_TX].lock);
	if (ring->buf)
		return 0;
	err = speed_charge(sk, ring->size);
	if (err)
		goto count;
	buf = speed_buf_get(ring->size);
	if (!buf) {
		speed_uncharge(sk, ring->size);
		err = -ENOBUFS;
		goto count;
	}
	ring->role[SPEED_ROLE_TX].side.data = buf->addr;
	WRITE_ONCE(ring->used, jiffies);
	/* Release, to match the consumer's look at the buffer after head. */
	smp_store_release(&ring->buf, buf);
	speed_reap_add(ring);
	return 0;
count:
	speed_count(SPEED_STAT_NO_MEMORY);
	return err;
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
	buf->dirty = max_t(u64, buf->dirty, ring->role[SPEED_ROLE_TX].side.own);
	speed_buf_put(buf);
	speed_uncharge(speed_ring_writer(ring), ring->size);
}

static u64 ctl_live(const struct speed_ctl *ctl)
{
	/* Tail first: it never passes head, so that the two make a ring. */
	u64 tail = smp_load_acquire(&ctl->index[SPEED_ROLE_RX]->index);
	u64 head = smp_load_acquire(&ctl->index[SPEED_ROLE_TX]->index);

	return head - tail;
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
 * speed_ring_limit() - bytes a ring and its overflow may hold together
 * @ring: the ring
 *
 * Return: bytes, at least the ring's size.
 */
u64 speed_ring_limit(struct speed_ring *ring)
{
	return max_t(u64, ring->size, READ_ONCE(speed_ring_writer(ring)->sk_sndbuf));
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

	if (live > ring->size)
		return limit;
	live += READ_ONCE(ring->overflow_bytes);
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
	smp_mb__after_atomic();
	rcu_read_unlock();
}

int speed_pair_init(void)
{
	pair_cache = kmem_cache_create("speed_pair", sizeof(struct speed_pair), 0,
				       SLAB_HWCACHE_ALIGN, NULL);
	return pair_cache ? 0 : -ENOMEM;
}

void speed_pair_exit(void)
{
	kmem_cache_destroy(pair_cache);
}
