// SPDX-License-Identifier: GPL-2.0
/*
 * Bringing a socket's bytes home: what it has yet to read is put into TCP's own
 * receive queue, for those who read nothing else (another ULP, TCP_REPAIR,
 * TCP_ZEROCOPY_RECEIVE, kernel code).
 *
 * The ring's bytes have no sequence numbers. They get numbers that have been
 * used before: all unread bytes up to and with the ring's, and the rest of the
 * buffer in which TCP's bytes before them end, are copied into new buffers that
 * end with the number with which the old ones did, and begin as much earlier as
 * the ring's bytes take. Only the reader's numbers change, and only those of
 * bytes that have arrived; the other end takes no part in it.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/skbuff.h>
#include <net/sock.h>

#include "lease.h"
#include "ring.h"
#include "rx.h"
#include "shim.h"

#define PIECE	(32u << 10)
#define PATIENCE_PEER	(HZ / 10)	/* with who publishes just now */
#define PATIENCE_TCP	HZ		/* with TCP's bytes that are under way */

/* What is copied: @before bytes of TCP, @live of the ring, @after of TCP. */
struct home {
	struct sock *sk;
	u32 before;
	u32 live;
	u32 after;
	unsigned char *bytes;
	struct sk_buff_head fresh;
};

static u32 total(const struct home *h)
{
	return h->before + h->live + h->after;
}

/* The buffer in which TCP's bytes before the ring's end goes as a whole. */
static u32 find_after(struct sock *sk, u32 at)
{
	struct sk_buff *skb;

	skb_queue_walk(&sk->sk_receive_queue, skb) {
		u32 seq = TCP_SKB_CB(skb)->seq;

		if (before(seq, at) && after(seq + skb->len, at))
			return seq + skb->len - at;
	}
	return 0;
}

/* @len bytes of TCP's queue from @seq on. */
static int copy_tcp(struct sock *sk, u32 seq, unsigned char *to, u32 len)
{
	struct sk_buff *skb;

	skb_queue_walk(&sk->sk_receive_queue, skb) {
		u32 offset = seq - TCP_SKB_CB(skb)->seq;
		u32 n;

		if (!len)
			break;
		if (offset >= skb->len)
			continue;
		n = min(len, skb->len - offset);
		if (skb_copy_bits(skb, offset, to, n))
			return -EFAULT;
		seq += n;
		to += n;
		len -= n;
	}
	return len ? -EAGAIN : 0;
}

static int copy_all(struct home *h, struct speed_ring *ring)
{
	u32 seq = tcp_sk(h->sk)->copied_seq;
	int err;

	err = copy_tcp(h->sk, seq, h->bytes, h->before);
	if (err)
		return err;
	memcpy(h->bytes + h->before, speed_ring_span(&ring->role[SPEED_ROLE_RX].side, 0), h->live);
	return copy_tcp(h->sk, seq + h->before, h->bytes + h->before + h->live, h->after);
}

static int make_piece(struct home *h, u32 at, u32 n)
{
	struct sock *sk = h->sk;
	struct sk_buff *skb;
	int err;

	skb = alloc_skb_with_frags(0, n, PAGE_ALLOC_COSTLY_ORDER, &err, GFP_KERNEL);
	if (!skb)
		return -ENOBUFS;
	skb->data_len = n;
	skb->len = n;
	__skb_queue_tail(&h->fresh, skb);
	if (skb_store_bits(skb, 0, h->bytes + at, n) ||
	    (sk->sk_forward_alloc < (int)skb->truesize &&
	     !__sk_mem_schedule(sk, skb->truesize, SK_MEM_RECV)))
		return -ENOBUFS;
	skb_set_owner_r(skb, sk);
	return 0;
}

static int make_fresh(struct home *h)
{
	u32 at, n;
	int err = 0;

	for (at = 0; !err && at < total(h); at += n) {
		n = min(total(h) - at, PIECE);
		err = make_piece(h, at, n);
	}
	return err;
}

/* Throw away the buffers whose bytes were copied. Return: TCPHDR_FIN, or 0. */
static u8 drop_old(struct sock *sk, u32 end)
{
	struct sk_buff *skb;
	u8 flags = 0;

	while ((skb = skb_peek(&sk->sk_receive_queue)) && before(TCP_SKB_CB(skb)->seq, end)) {
		flags |= TCP_SKB_CB(skb)->tcp_flags & TCPHDR_FIN;
		__skb_unlink(skb, &sk->sk_receive_queue);
		__kfree_skb(skb);
	}
	return flags;
}

static void number_fresh(struct home *h, u32 seq, u8 fin)
{
	struct sk_buff *skb;

	skb_queue_walk(&h->fresh, skb) {
		TCP_SKB_CB(skb)->seq = seq;
		seq += skb->len;
		TCP_SKB_CB(skb)->end_seq = seq;
	}
	skb = skb_peek_tail(&h->fresh);
	if (fin) {
		TCP_SKB_CB(skb)->tcp_flags = TCPHDR_FIN;
		TCP_SKB_CB(skb)->end_seq++;
	}
}

static void replace(struct home *h)
{
	struct tcp_sock *tp = tcp_sk(h->sk);
	u32 ring_at = tp->copied_seq + h->before, end = ring_at + h->after;
	u8 fin = drop_old(h->sk, end);

	number_fresh(h, end - total(h), fin);
	skb_queue_splice(&h->fresh, &h->sk->sk_receive_queue);
	if (tp->urg_data && before(tp->urg_seq, ring_at) && !before(tp->urg_seq, tp->copied_seq))
		WRITE_ONCE(tp->urg_seq, tp->urg_seq - h->live);
	WRITE_ONCE(tp->copied_seq, end - total(h));
	/* What was read since then is as much as before: sk_rcvbuf grows by it. */
	tp->rcvq_space.seq -= h->live;
}

static int bring(struct home *h, struct speed_ring *ring)
{
	int err;

	h->bytes = kvmalloc(total(h), GFP_KERNEL | __GFP_NOWARN);
	if (!h->bytes)
		return -ENOBUFS;
	err = copy_all(h, ring) ?: make_fresh(h);
	if (!err)
		replace(h);
	else
		__skb_queue_purge(&h->fresh);
	kvfree(h->bytes);
	return err;
}

/* The ring's consumer is locked, and the socket owned. */
static int bring_ring(struct sock *sk, struct speed_ring *ring)
{
	struct home h = { .sk = sk };
	s64 live = speed_rx_ready(ring, speed_ring_size(ring));
	int err;

	if (live <= 0)
		return live;
	h.live = live;
	h.before = shim_tcp_before(ring, sk);
	/* Bytes of TCP that come first and are under way, or never come. */
	if (h.before > shim_tcp_unread(sk))
		return sk->sk_state == TCP_CLOSE ? 0 : -EAGAIN;
	h.after = find_after(sk, tcp_sk(sk)->copied_seq + h.before);
	__skb_queue_head_init(&h.fresh);
	err = bring(&h, ring);
	if (err)
		return err;
	WRITE_ONCE(ring->behind, false);
	speed_rx_release(ring, live);
	return 0;
}

static struct speed_ring *stop_ring(struct shim *shim, u32 reason)
{
	struct speed_pair *pair = shim_pair(shim);

	shim_bar(shim, reason, true);
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
		err = bring_ring(shim->sk, ring);
		release_sock(shim->sk);
	}
	mutex_unlock(&ring->role[SPEED_ROLE_RX].lock);
	return err;
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
 * Return: 0, -EBUSY where it took too long, -EINTR or -ENOBUFS. The reason does not
 * stand after an error.
 */
int shim_bring_home(struct shim *shim, u32 reason)
{
	struct speed_ring *ring = stop_ring(shim, reason);
	unsigned long begun = jiffies;
	int err = 0;

	while (ring) {
		err = bring_now(shim, ring, reason);
		if ((err != -EBUSY || time_after(jiffies, begun + PATIENCE_PEER)) &&
		    (err != -EAGAIN || time_after(jiffies, begun + PATIENCE_TCP)))
			break;
		schedule_timeout_interruptible(1);
		if (signal_pending(current))
			err = -EINTR;
		if (err == -EINTR)
			break;
	}
	if (err)
		shim_bar(shim, reason, false);
	return err == -EAGAIN ? -EBUSY : err;
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
	err = stop_producer(ring, reason) ? bring_ring(shim->sk, ring) : -EAGAIN;
	mutex_unlock(&ring->role[SPEED_ROLE_RX].lock);
	return err;
}
