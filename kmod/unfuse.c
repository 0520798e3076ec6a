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
#include <linux/netdevice.h>
#include <net/dst.h>
#include <net/pkt_sched.h>
#include <net/sock.h>

#include "compat/compat.h"
#include "lease.h"
#include "ring.h"
#include "shim.h"
#include "shim_map.h"
#include "stats.h"
#include "trace.h"

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

/*
 * TCP delays what it sends; the ring does not. A pace that nobody asked for, as BBR's, is
 * for networks.
 */
static inline bool why_paced(const struct sock *sk)
{
	return READ_ONCE(sk->sk_max_pacing_rate) != ~0UL || READ_ONCE(tcp_sk(sk)->tcp_tx_delay);
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
	/* A part of the kernel reads there, and by its own means. */
	if (unlikely(READ_ONCE(peer->sk_data_ready) != pair->tcp.data_ready))
		return SPEED_TCP_KERNEL;
	if (unlikely((peer->sk_flags & SHIM_RX_STAMPS) || READ_ONCE(sk->sk_tsflags)))
		return SPEED_TCP_STAMP;
	if (unlikely(rcu_access_pointer(peer->sk_filter)))
		return SPEED_TCP_FILTER;
	if (unlikely(why_paced(sk)))
		return SPEED_TCP_ODD;
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

/* Who captures or filters in a VRF does so at its own device, which why_path() does not see. */
static bool elsewhere(struct sock *sk)
{
	const struct dst_entry *dst;
	bool yes;

	rcu_read_lock();
	dst = __sk_dst_get(sk);
	yes = dst && netif_is_l3_master(dst->dev);
	rcu_read_unlock();
	return yes;
}

/*
 * Or has the socket's lock, or waits for it. Under its spin lock who is inside is one of
 * these: who was woken is in the queue until he has the lock.
 */
static bool inside_tcp(struct sock *sk)
{
	bool yes;

	local_bh_disable();
	bh_lock_sock_nested(sk);
	/* No barrier: who comes now comes by calls of ours. */
	yes = sock_owned_by_user_nocheck(sk) || waitqueue_active(&sk->sk_lock.wq) ||
	      sleeps_in_tcp(sk);
	bh_unlock_sock(sk);
	local_bh_enable();
	return yes;
}

/*
 * The reader has not passed the urgent byte that was sent last: the mark is there, and what
 * follows it is TCP's, which passes over it where it is the next to read.
 */
static bool urgent_unread(const struct sock *sk, const struct sock *reader)
{
	u32 up = READ_ONCE(tcp_sk(sk)->snd_up);
	bool yes;

	smp_rmb();	/* an acknowledgment moves snd_una, and then snd_up */
	yes = after(up, READ_ONCE(tcp_sk(sk)->snd_una)) &&
	      before(READ_ONCE(tcp_sk(reader)->copied_seq), up);
	smp_rmb();	/* who has acknowledged or passed it has noted it before */
	return yes || READ_ONCE(tcp_sk(reader)->urg_data);
}

/* The reader has a call under way that knows of no ring. */
static bool reads_alone(const struct sock *sk)
{
	struct shim *shim;
	bool yes;

	smp_mb();	/* who counts himself after this look sees the pair: shim_alone_begin() */
	rcu_read_lock();
	shim = shim_of(sk);
	yes = shim && atomic_read(&shim->alone);
	rcu_read_unlock();
	return yes;
}

static u32 why_not_yet(struct shim *shim, struct speed_ring *ring)
{
	struct sock *sk = shim->sk;

	/* It must not wait for memory as we would. */
	if (sk->sk_allocation != GFP_KERNEL)
		return SPEED_TCP_KERNEL;
	if (elsewhere(sk))
		return SPEED_TCP_FILTER;
	if (atomic_read(&shim->inside) || speed_ring_live(ring) || tcp_send_head(sk))
		return SPEED_TCP_BUSY;
	if (urgent_unread(sk, speed_ring_reader(ring)))
		return SPEED_TCP_ODD;
	if (reads_alone(speed_ring_reader(ring)))
		return SPEED_TCP_BUSY;
	/* Only who was attached in the middle of its life has any. */
	if (ring->pair->tcp.late && (inside_tcp(sk) || inside_tcp(speed_ring_reader(ring))))
		return SPEED_TCP_BUSY;
	return SPEED_TCP_FUSED;
}

/* Of what went by TCP a mapped reader knows nothing: it shall look there first. */
static bool reader_unmapped(struct speed_ring *ring)
{
	if (likely(!READ_ONCE(ring->role[SPEED_ROLE_RX].epoch)))
		return true;
	speed_lease_try_drop(ring, SPEED_ROLE_RX);
	return !READ_ONCE(ring->role[SPEED_ROLE_RX].epoch);
}

/**
 * shim_fuse() - move a direction to its ring, if that can be
 * @shim: the producer's
 * @ring: its ring; its producer's lock is held
 * @bytes: so many as are to go there
 *
 * Context: process; locks the producer's socket.
 * Return: SPEED_TCP_FUSED, or why not yet.
 */
u32 shim_fuse(struct shim *shim, struct speed_ring *ring, size_t bytes)
{
	u32 reason;

	lockdep_assert_held(&ring->role[SPEED_ROLE_TX].lock);
	reason = why_not_yet(shim, ring);
	if (reason)
		return reason;
	if (!reader_unmapped(ring))
		return SPEED_TCP_BUSY;
	if (speed_ring_need_buf(ring, SPEED_ROLE_TX, bytes))
		return SPEED_TCP_MEMORY;
	lock_sock(shim->sk);
	reason = tcp_send_head(shim->sk) ? SPEED_TCP_BUSY : shim_why(ring);
	if (!reason && urgent_unread(shim->sk, speed_ring_reader(ring)))
		reason = SPEED_TCP_ODD;
	if (!reason && ring->pair->tcp.late && sleeps_in_tcp(shim->sk))
		reason = SPEED_TCP_BUSY;
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
 * shim_refuse() - count and trace that a socket takes no part, or not yet
 * @sk: the socket
 * @why: SPEED_TCP_*
 *
 * Context: any but hard interrupt.
 */
void shim_refuse(const struct sock *sk, u32 why)
{
	speed_count_reason(why);
	trace_speed_refuse(inet_sk(sk)->inet_num, ntohs(sk->sk_dport), why);
}

/* Counted and traced: each move, and once of each lasting reason why there is none. */
static void tell_why(struct speed_ring *ring, u32 reason, bool moved)
{
	u8 *told = &ring->pair->tcp.told[ring->end];

	if (!moved && (reason == *told || reason == SPEED_TCP_BUSY || reason == SPEED_TCP_SHUT))
		return;
	*told = reason;
	speed_count_reason(reason);
	trace_speed_fuse(ring->pair->id, ring->end, reason);
}

/**
 * shim_unfuse() - move a direction back to TCP, or tell why it does not leave it
 * @shim: the producer's, to be told the reason; may be NULL
 * @ring: its ring; its producer's lock is held
 * @reason: SPEED_TCP_*
 *
 * Context: process; may sleep to end a lease.
 */
void shim_unfuse(struct shim *shim, struct speed_ring *ring, u32 reason)
{
	bool was = ring->fused;

	lockdep_assert_held(&ring->role[SPEED_ROLE_TX].lock);
	speed_lease_end(ring, SPEED_ROLE_TX);
	if (shim)
		shim->reason = reason;
	if (was) {
		ring->fused = false;
		/* Before TCP has a byte: a mapped reader that finds nothing asks. */
		shim_flag_ring(ring, SPEED_OVERFLOW);
		if (shim)
			shim->unfused++;
		speed_count(SPEED_STAT_TCP_UNFUSED);
	}
	tell_why(ring, reason, was);
}
