// SPDX-License-Identifier: GPL-2.0
/*
 * When a socket's bytes are brought home (shim_home.c): its ring's consumer is locked, its
 * producer is stopped, and that one may be in the middle of a copy, held up by a page that
 * never comes. Nobody waits for the other end for long; who cannot have TCP alone is told.
 */
#include <linux/sched/signal.h>
#include <net/sock.h>

#include "lease.h"
#include "ring.h"
#include "shim.h"

#define PATIENCE_PEER	(HZ / 10)	/* with who publishes just now */
#define PATIENCE_TCP	HZ		/* with TCP's bytes that are under way, and in all */
#define AT_ONCE		(256u << 10)	/* bytes copied with softirqs off */

static struct speed_ring *stop_ring(struct shim *shim, u32 reason)
{
	struct speed_pair *pair;

	shim_bar(shim, reason, true);
	pair = shim_pair(shim);		/* one that is made now is barred */
	return pair ? shim_rx_ring(shim, pair) : NULL;
}

/* Nobody waits for the other end, and with our own lock held it not for us. */
static bool stop_producer(struct speed_ring *ring, u32 reason)
{
	if (!mutex_trylock(&ring->role[SPEED_ROLE_TX].lock))
		return false;
	shim_unfuse(NULL, ring, reason);
	mutex_unlock(&ring->role[SPEED_ROLE_TX].lock);
	return true;
}

static int bring_now(struct shim *shim, struct speed_ring *ring, u32 reason)
{
	int err = -EBUSY;

	if (mutex_lock_killable(&ring->role[SPEED_ROLE_RX].lock))
		return -EINTR;
	speed_lease_end(ring, SPEED_ROLE_RX);
	if (stop_producer(ring, reason)) {
		lock_sock(shim->sk);
		/* Given up meanwhile: what the ring holds is nobody's. */
		err = shim_pair(shim) == ring->pair ?
			shim_empty_ring(shim->sk, ring, GFP_KERNEL) : 0;
		release_sock(shim->sk);
	}
	mutex_unlock(&ring->role[SPEED_ROLE_RX].lock);
	return err;
}

/* @begun: when the first try was; @since: when one ended in this way first */
static bool patient(int err, unsigned long begun, unsigned long since)
{
	if (signal_pending(current) || time_after(jiffies, begun + PATIENCE_TCP))
		return false;
	return err == -EAGAIN || (err == -EBUSY && time_before(jiffies, since + PATIENCE_PEER));
}

/* Nothing came of it. Another thread may have had more luck meanwhile. */
static void give_up(struct shim *shim, u32 reason)
{
	struct sock *sk = shim->sk;

	lock_sock(sk);
	if ((reason == SPEED_TCP_ULP && shim_of(sk) == shim) ||
	    (reason == SPEED_TCP_REPAIR && !tcp_sk(sk)->repair))
		shim_bar(shim, reason, false);
	release_sock(sk);
}

/**
 * shim_bring_home() - a socket needs all its bytes in TCP's own queue
 * @shim: its part
 * @reason: SPEED_TCP_*, which stands until it is cleared
 *
 * What it has sent stays in the ring for the other end, which reads it first. That one
 * may be in the middle of a copy, and be held up there for as long as it likes.
 *
 * Context: process; the socket is not locked.
 * Return: 0, -EBUSY where it took too long, -EINTR or -ENOBUFS.
 */
int shim_bring_home(struct shim *shim, u32 reason)
{
	struct speed_ring *ring = stop_ring(shim, reason);
	unsigned long begun = jiffies, since = jiffies;
	int err, last = 0;

	if (!ring)
		return 0;
	while ((err = bring_now(shim, ring, reason)) && patient(err, begun, since)) {
		schedule_timeout_interruptible(1);
		since = err == last ? since : jiffies;
		last = err;
	}
	if (err)
		give_up(shim, reason);
	if (err != -EAGAIN && err != -EBUSY)
		return err;
	return signal_pending(current) ? -EINTR : -EBUSY;
}

/**
 * shim_bring_home_locked() - the same for who has locked the socket
 * @shim: its part
 * @reason: SPEED_TCP_*
 *
 * Return: 0, -EAGAIN where somebody would have to be waited for, or an error.
 */
int shim_bring_home_locked(struct shim *shim, u32 reason)
{
	struct speed_ring *ring = stop_ring(shim, reason);
	int err;

	if (!ring)
		return 0;
	if (!mutex_trylock(&ring->role[SPEED_ROLE_RX].lock))
		return -EAGAIN;
	speed_lease_end(ring, SPEED_ROLE_RX);
	err = stop_producer(ring, reason) ? shim_empty_ring(shim->sk, ring, GFP_KERNEL) : -EAGAIN;
	mutex_unlock(&ring->role[SPEED_ROLE_RX].lock);
	return err;
}

/* It is still this ring's: its end was not given up. */
static bool still_reads(const struct sock *sk, const struct speed_ring *ring)
{
	struct shim *shim;
	bool yes;

	rcu_read_lock();
	shim = shim_of(sk);
	yes = shim && shim_pair(shim) == ring->pair;
	rcu_read_unlock();
	return yes;
}

/*
 * Not more than is copied at once, TCP's own bytes that come first with it, and not so much
 * that TCP would throw away what comes next.
 */
static bool fits(const struct sock *sk, u64 bytes)
{
	return bytes + shim_tcp_unread(sk) <= AT_ONCE &&
	       atomic_read(&sk->sk_rmem_alloc) + PAGE_ALIGN(bytes) + bytes / 16 + PAGE_SIZE <=
	       READ_ONCE(sk->sk_rcvbuf);
}

/**
 * shim_bring_reader() - put what a reader has left in its ring into TCP's queue
 * @ring: the ring; its producer's lock is held, and it was moved back to TCP
 *
 * An urgent byte is going to follow. When the next one comes, TCP passes over this one if
 * it is the next to read, and what is in a ring does not tell it that it is not. Or a part
 * of the kernel reads, which took the socket's calls and knows of no ring: TCP tells it of
 * all when the next byte comes. Who reads just now is not waited for.
 *
 * Context: process; takes the consumer's lock and the reader's spin lock.
 */
void shim_bring_reader(struct speed_ring *ring)
{
	struct mutex *lock = &ring->role[SPEED_ROLE_RX].lock;
	struct sock *sk = speed_ring_reader(ring);

	lockdep_assert_held(&ring->role[SPEED_ROLE_TX].lock);
	if (!speed_ring_live(ring) || !mutex_trylock(lock))
		return;
	speed_lease_end(ring, SPEED_ROLE_RX);
	local_bh_disable();
	bh_lock_sock_nested(sk);
	if (!sock_owned_by_user_nocheck(sk) && still_reads(sk, ring) &&
	    fits(sk, speed_ring_live(ring)))
		shim_empty_ring(sk, ring, GFP_ATOMIC);
	bh_unlock_sock(sk);
	local_bh_enable();
	mutex_unlock(lock);
}
