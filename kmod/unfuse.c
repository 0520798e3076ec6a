// SPDX-License-Identifier: GPL-2.0
/*
 * Moving a direction of a connection between TCP and its ring. There is one way
 * back, shim_unfuse(), and one list of reasons, shim_why().
 *
 * To the ring: the producer's lock is held, the ring is drained, no call of
 * TCP's sendmsg() is under way and TCP has nothing left unsent. The sequence
 * number at which TCP stops is noted; the reader takes TCP's bytes up to it,
 * then the ring's.
 *
 * To TCP: under the producer's lock. What the ring holds comes first for the
 * reader; the ring cannot be moved to again before it is drained.
 */
#include <linux/delay.h>
#include <linux/sched/signal.h>
#include <net/pkt_sched.h>
#include <net/sock.h>

#include "compat/compat.h"
#include "pages.h"
#include "ring.h"
#include "rx.h"
#include "shim.h"
#include "stats.h"
#include "trace.h"
#include "wait.h"

#define STAMPS	(BIT(SOCK_RCVTSTAMP) | BIT(SOCK_TIMESTAMPING_RX_SOFTWARE))
#define STATES	(TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)

/* What captures or filters packets would miss ours. */
static inline u32 why_path(struct net *net)
{
	struct net_device *dev = net->loopback_dev;
	u32 reason = SPEED_TCP_FUSED;

	rcu_read_lock();
	if (unlikely(speed_compat_tapped(dev)))
		reason = SPEED_TCP_TAP;
	else if (unlikely(rcu_dereference(dev->qdisc)->enqueue || speed_compat_tc(dev) ||
			  rcu_access_pointer(dev->xdp_prog)))
		reason = SPEED_TCP_FILTER;
	rcu_read_unlock();
	return reason;
}

/* An end that is shut, closed or reset: TCP knows what comes of it. */
static inline bool why_shut(const struct sock *sk, const struct sock *peer)
{
	return READ_ONCE(sk->sk_err) || (READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN) ||
	       (READ_ONCE(peer->sk_shutdown) & RCV_SHUTDOWN) ||
	       !((1 << READ_ONCE(sk->sk_state)) & STATES);
}

/**
 * shim_why() - why may a ring not be used now?
 * @ring: the ring; its producer asks
 *
 * Return: SPEED_TCP_FUSED where it may, or the reason.
 */
u32 shim_why(struct speed_ring *ring)
{
	struct speed_pair *pair = ring->pair;
	const struct sock *sk = speed_ring_writer(ring), *peer = speed_ring_reader(ring);
	u32 bars = READ_ONCE(pair->tcp.bars[0]) | READ_ONCE(pair->tcp.bars[1]);

	if (unlikely(bars))
		return __ffs(bars);
	if (unlikely(!READ_ONCE(*pair->tcp.on)))
		return SPEED_TCP_OFF;
	if (unlikely(why_shut(sk, peer)))
		return SPEED_TCP_SHUT;
	if (unlikely((peer->sk_flags & STAMPS) || READ_ONCE(sk->sk_tsflags)))
		return SPEED_TCP_STAMP;
	return why_path(sock_net(sk));
}

/* Somebody sleeps in TCP's own recvmsg() or sendmsg(), and knows of no ring. */
static bool sleeps_in_tcp(struct sock *sk)
{
	struct wait_queue_entry *entry;
	struct socket_wq *wq;
	unsigned long flags;
	bool yes = false;

	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (wq) {
		spin_lock_irqsave(&wq->wait.lock, flags);
		list_for_each_entry(entry, &wq->wait.head, entry)
			yes |= entry->func == woken_wake_function;
		spin_unlock_irqrestore(&wq->wait.lock, flags);
	}
	rcu_read_unlock();
	return yes;
}

static u32 why_not_yet(struct shim *shim, struct speed_ring *ring)
{
	struct sock *sk = shim->sk;

	if (atomic_read(&shim->inside) || speed_ring_live(ring) || tcp_send_head(sk))
		return SPEED_TCP_BUSY;
	/* Only who was attached in the middle of its life has any. */
	if (shim->asked && (sleeps_in_tcp(sk) || sleeps_in_tcp(speed_ring_reader(ring))))
		return SPEED_TCP_BUSY;
	return SPEED_TCP_FUSED;
}

/**
 * shim_fuse() - move a direction to its ring, if that can be
 * @shim: the producer's
 * @ring: its ring; its producer's lock is held
 *
 * Context: process; locks the producer's socket.
 * Return: SPEED_TCP_FUSED, or why not yet.
 */
u32 shim_fuse(struct shim *shim, struct speed_ring *ring)
{
	u32 reason;

	lockdep_assert_held(&ring->role[SPEED_ROLE_TX].lock);
	reason = why_not_yet(shim, ring);
	if (reason)
		return reason;
	if (speed_ring_need_buf(ring))
		return SPEED_TCP_MEMORY;
	lock_sock(shim->sk);
	reason = tcp_send_head(shim->sk) ? SPEED_TCP_BUSY : shim_why(ring);
	if (!reason) {
		/* Before the first byte is published (A), and so seen with it. */
		WRITE_ONCE(ring->tcp_seq, tcp_sk(shim->sk)->write_seq);
		WRITE_ONCE(ring->behind, true);
		ring->fused = true;
	}
	release_sock(shim->sk);
	if (reason)
		return reason;
	shim->fused++;
	speed_count(SPEED_STAT_TCP_FUSED);
	trace_speed_fuse(ring->pair->id, ring->end, 0);
	return SPEED_TCP_FUSED;
}

/**
 * shim_unfuse() - move a direction back to TCP
 * @shim: the producer's, to be told the reason; may be NULL
 * @ring: its ring; its producer's lock is held
 * @reason: SPEED_TCP_*
 */
void shim_unfuse(struct shim *shim, struct speed_ring *ring, u32 reason)
{
	lockdep_assert_held(&ring->role[SPEED_ROLE_TX].lock);
	if (shim)
		shim->reason = reason;
	if (!ring->fused)
		return;
	ring->fused = false;
	if (shim)
		shim->unfused++;
	speed_count(SPEED_STAT_TCP_UNFUSED);
	speed_count_reason(reason);
	trace_speed_fuse(ring->pair->id, ring->end, reason);
}

/* Own another's socket for a moment, but do not wait where its owner may sleep. */
static bool try_own(struct sock *sk)
{
	bool done = false;

	spin_lock_bh(&sk->sk_lock.slock);
	if (!sk->sk_lock.owned) {
		sk->sk_lock.owned = 1;
		done = true;
	}
	spin_unlock_bh(&sk->sk_lock.slock);
	if (done)
		mutex_acquire(&sk->sk_lock.dep_map, 0, 1, _RET_IP_);
	return done;
}

/* The bytes of the ring become bytes of TCP, whatever its send buffer says. */
static int send_by_tcp(struct sock *sk, struct speed_ring *ring, size_t bytes)
{
	struct speed_side *rx = &ring->role[SPEED_ROLE_RX].side;
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct kvec vec = { .iov_base = speed_ring_span(rx, 0), .iov_len = bytes };
	int sndbuf = sk->sk_sndbuf, n;

	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &vec, 1, bytes);
	WRITE_ONCE(sk->sk_sndbuf, INT_MAX / 2);
	n = tcp_sendmsg_locked(sk, &msg, bytes);
	WRITE_ONCE(sk->sk_sndbuf, sndbuf);
	if (n > 0)
		speed_rx_release(ring, n);
	return n == bytes ? 0 : -ENOBUFS;
}

static int bring_ring_home(struct speed_ring *ring)
{
	struct sock *peer = speed_ring_writer(ring);
	s64 bytes = speed_rx_ready(ring, ring->size);
	int err;

	if (bytes <= 0)
		return bytes;
	while (!try_own(peer)) {
		if (msleep_interruptible(1) || fatal_signal_pending(current))
			return -EINTR;
	}
	err = send_by_tcp(peer, ring, bytes);
	release_sock(peer);
	return err;
}

/**
 * shim_bring_home() - a socket needs all its bytes in TCP's own queues
 * @shim: its part
 * @reason: SPEED_TCP_*, which stands until it is cleared
 *
 * What it has sent stays in the ring for the other end, which reads it first.
 * What it has yet to read is sent again, by TCP.
 *
 * Context: process; the socket is not locked.
 * Return: 0, -EINTR or -ENOBUFS.
 */
int shim_bring_home(struct shim *shim, u32 reason)
{
	struct speed_pair *pair = shim_pair(shim);
	struct speed_ring *ring;
	int err = -EINTR;

	shim_bar(shim, reason, true);
	if (!pair)
		return 0;
	ring = shim_rx_ring(shim, pair);
	if (mutex_lock_killable(&ring->role[SPEED_ROLE_TX].lock))
		return err;
	shim_unfuse(NULL, ring, reason);
	if (!mutex_lock_killable(&ring->role[SPEED_ROLE_RX].lock)) {
		err = bring_ring_home(ring);
		mutex_unlock(&ring->role[SPEED_ROLE_RX].lock);
	}
	mutex_unlock(&ring->role[SPEED_ROLE_TX].lock);
	return err;
}

/**
 * shim_bring_home_locked() - the same for who has locked the socket
 * @shim: its part
 * @reason: SPEED_TCP_*
 *
 * Return: 0, -EAGAIN where a lock would have to be waited for, or an error.
 */
int shim_bring_home_locked(struct shim *shim, u32 reason)
{
	struct speed_pair *pair = shim_pair(shim);
	struct speed_ring *ring;
	int err = -EAGAIN;

	shim_bar(shim, reason, true);
	if (!pair)
		return 0;
	ring = shim_rx_ring(shim, pair);
	if (!mutex_trylock(&ring->role[SPEED_ROLE_TX].lock))
		return err;
	shim_unfuse(NULL, ring, reason);
	if (mutex_trylock(&ring->role[SPEED_ROLE_RX].lock)) {
		err = bring_ring_home(ring);
		mutex_unlock(&ring->role[SPEED_ROLE_RX].lock);
	}
	mutex_unlock(&ring->role[SPEED_ROLE_TX].lock);
	return err;
}
