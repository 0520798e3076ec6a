// SPDX-License-Identifier: GPL-2.0
/*
 * Pairs and their rings: birth, death, and what anyone may ask of a ring
 * without a lock. pair.h has the locks and who owns what.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "charge.h"
#include "compat/compat.h"
#include "ctl.h"
#include "family.h"
#include "net.h"
#include "overflow.h"
#include "ring.h"
#include "stats.h"
#include "trace.h"
#include "wait.h"

static_assert(CONFIG_NR_CPUS < S16_MAX);	/* struct speed_pair.cpu */

static struct kmem_cache *pair_cache;
static atomic64_t pair_ids;
static LLIST_HEAD(dead_pairs);

static u64 ring_size(const struct sock *a, const struct sock *b)
{
	u64 size = speed_net(sock_net(a))->ring_bytes;

	if (a->sk_userlocks & SOCK_SNDBUF_LOCK)
		size = a->sk_sndbuf;
	else if (b->sk_userlocks & SOCK_RCVBUF_LOCK)
		size = b->sk_rcvbuf;
	else if (a->sk_protocol == IPPROTO_TCP)
		size = min_t(u64, size, READ_ONCE(sock_net(a)->ipv4.sysctl_tcp_wmem[2]));
	size = roundup_pow_of_two(max_t(u64, size, PAGE_SIZE));
	return min_t(u64, size, SPEED_RING_MAX);
}

static void ring_init(struct speed_ring *ring, struct speed_pair *pair, int end, u64 size)
{
	int i;

	ring->pair = pair;
	ring->end = end;
	ring->home.kern = &ring->home_kern;
	for (i = 0; i < SPEED_ROLES; i++) {
		mutex_init(&ring->role[i].lock);
		ring->role[i].side.size = size;
		ring->home.index[i] = &ring->home_index[i];
	}
	speed_ring_lives_in(ring, &ring->home);
}

/**
 * speed_pair_setup() - join two sockets
 * @pair: all zeroes
 * @door: whose they are
 * @a: endpoint 0
 * @b: endpoint 1
 * @type: SOCK_STREAM or SOCK_SEQPACKET
 *
 * Holds both sockets. The caller owns the two references that belong to the
 * endpoints.
 *
 * Context: any but hard interrupt.
 */
void speed_pair_setup(struct speed_pair *pair, const struct speed_door *door, struct sock *a,
		      struct sock *b, u8 type)
{
	refcount_set(&pair->refs, 2);
	pair->door = door;
	pair->id = atomic64_inc_return(&pair_ids);
	pair->type = type;
	ring_init(&pair->ring[0], pair, 0, ring_size(a, b));
	ring_init(&pair->ring[1], pair, 1, ring_size(b, a));
	sock_hold(a);
	sock_hold(b);
	pair->sk[0] = a;
	pair->sk[1] = b;
}

/**
 * speed_pair_new() - the same with memory of its own
 * @door: whose they are
 * @a: endpoint 0
 * @b: endpoint 1
 * @type: SOCK_STREAM or SOCK_SEQPACKET
 *
 * Context: may sleep.
 * Return: the pair, or NULL where memory is short.
 */
struct speed_pair *speed_pair_new(const struct speed_door *door, struct sock *a, struct sock *b,
				  u8 type)
{
	struct speed_pair *pair = kmem_cache_zalloc(pair_cache, GFP_KERNEL_ACCOUNT);

	if (pair)
		speed_pair_setup(pair, door, a, b, type);
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

	/* First out of the reaper's sight. */
	speed_ring_drop_buf(ring);
	speed_overflow_free(ring);
	if (ctl != &ring->home)
		speed_ctl_free(ctl);
	mutex_destroy(&ring->role[SPEED_ROLE_TX].lock);
	mutex_destroy(&ring->role[SPEED_ROLE_RX].lock);
}

/**
 * speed_pair_end() - let go of the sockets of a pair that nobody has, and of its memory
 * @pair: the pair, without its rings, and settled
 *
 * Context: any but hard interrupt.
 */
void speed_pair_end(struct speed_pair *pair)
{
	sock_put(pair->sk[0]);
	sock_put(pair->sk[1]);
	if (pair->door->free)
		pair->door->free(pair);
	else
		kmem_cache_free(pair_cache, pair);
}

static void pair_free(struct speed_pair *pair)
{
	ring_free(&pair->ring[0]);
	ring_free(&pair->ring[1]);
	if (!pair->door->settle || pair->door->settle(pair))
		speed_pair_end(pair);
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
	if (refcount_dec_and_test(&pair->refs))
		pair_free(pair);
}

static void free_dead(struct work_struct *work)
{
	struct llist_node *dead = llist_del_all(&dead_pairs);
	struct speed_pair *pair, *next;

	llist_for_each_entry_safe(pair, next, dead, dead)
		pair_free(pair);
}

static DECLARE_WORK(free_dead_work, free_dead);

/**
 * speed_pair_put_any() - drop a reference where it may not sleep
 * @pair: the pair
 *
 * Context: any but hard interrupt.
 */
void speed_pair_put_any(struct speed_pair *pair)
{
	if (!refcount_dec_and_test(&pair->refs))
		return;
	/* No account: it never had pages, and is nothing but memory of its own. */
	if (!pair->tcp.user[0] && !pair->tcp.user[1])
		pair_free(pair);
	else if (llist_add(&pair->dead, &dead_pairs))
		schedule_work(&free_dead_work);
}

/* The error before the end: who sees the end sees the error. */
static void sock_reset(struct sock *sk)
{
	WRITE_ONCE(sk->sk_err, ECONNRESET);
	smp_wmb();	/* matches those who look at the end first */
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
}

/**
 * speed_pair_break() - an index or a length was a lie: reset the connection
 * @pair: the pair
 * @ring: the ring in which it was seen
 *
 * Both ends get ECONNRESET once, then end-of-file and EPIPE; nothing else
 * happens, to this connection or another: an end that was closed may be a TCP
 * socket that has been connected again.
 *
 * Context: any but hard interrupt; takes no lock but the wait queues'.
 */
void speed_pair_break(struct speed_pair *pair, struct speed_ring *ring)
{
	int end;

	/* One that is closed after the look is not soon another's; nobody spins for long. */
	preempt_disable();
	if (xchg(&pair->broken, true)) {
		preempt_enable();
		return;
	}
	speed_count(SPEED_STAT_BAD_PEER);
	trace_speed_reset(pair->id, ring->end);
	for (end = 0; end < 2; end++)
		if (!READ_ONCE(pair->closed[end]))
			sock_reset(pair->sk[end]);
	preempt_enable();
	smp_mb();	/* a ring that moves now: its new place is flagged, or it sees the end */
	speed_ring_flag(&pair->ring[0], SPEED_CLOSED);
	speed_ring_flag(&pair->ring[1], SPEED_CLOSED);
	speed_wake_all(pair);
}

/**
 * speed_pair_lie() - an operation met a lie
 * @ring: the ring in which it was seen
 * @sk: whose operation
 *
 * Return: -ECONNRESET, which is told to each end once.
 */
int speed_pair_lie(struct speed_ring *ring, struct sock *sk)
{
	speed_pair_break(ring->pair, ring);
	return sock_error(sk) ?: -ECONNRESET;
}

int speed_pair_init(void)
{
	pair_cache = kmem_cache_create("speed_pair", sizeof(struct speed_pair), 0,
				       SLAB_HWCACHE_ALIGN | SPEED_SLAB_ALONE, NULL);
	return pair_cache ? 0 : -ENOMEM;
}

/* Pairs that wait to be freed are. */
void speed_pair_flush(void)
{
	flush_work(&free_dead_work);
}

void speed_pair_exit(void)
{
	kmem_cache_destroy(pair_cache);
}
