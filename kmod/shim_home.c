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
#include <linux/skbuff.h>
#include <net/sock.h>

#include "ring.h"
#include "rx.h"
#include "shim.h"

#define PIECE	(32u << 10)

/* What is copied: @before bytes of TCP, @live of the ring, @after of TCP. */
struct home {
	struct sock *sk;
	u32 before;
	u32 live;
	u32 after;
	gfp_t gfp;
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

	skb = alloc_skb_with_frags(0, n, PAGE_ALLOC_COSTLY_ORDER, &err, h->gfp);
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

/* TCP's last byte was read, and the FIN in the same buffer with it; the ring's come between. */
static bool fin_was_read(const struct sock *sk)
{
	return sock_flag(sk, SOCK_DONE) && !shim_tcp_unread(sk);
}

static void replace(struct home *h)
{
	struct tcp_sock *tp = tcp_sk(h->sk);
	u32 ring_at = tp->copied_seq + h->before, end = ring_at + h->after;
	bool read = fin_was_read(h->sk);
	u8 fin = read ? TCPHDR_FIN : drop_old(h->sk, end);

	end -= read;
	number_fresh(h, end - total(h), fin);
	skb_queue_splice(&h->fresh, &h->sk->sk_receive_queue);
	if (tp->urg_data && before(tp->urg_seq, ring_at) && !before(tp->urg_seq, tp->copied_seq))
		WRITE_ONCE(tp->urg_seq, tp->urg_seq - h->live);
	WRITE_ONCE(tp->copied_seq, end - total(h));
	/* What was read since then is as much as before: sk_rcvbuf grows by it. */
	tp->rcvq_space.seq -= h->live + read;
}

static int bring(struct home *h, struct speed_ring *ring)
{
	int err;

	h->bytes = kvmalloc(total(h), h->gfp);
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

/**
 * shim_empty_ring() - put what a ring holds into TCP's receive queue
 * @sk: the reader, owned; or its spin lock is held, and nobody owns it
 * @ring: its ring; its consumer's lock is held, and nobody produces
 * @gfp: GFP_KERNEL, or GFP_ATOMIC under the spin lock
 *
 * Context: process.
 * Return: 0, -EAGAIN where bytes of TCP that come first are under way, or an error.
 */
int shim_empty_ring(struct sock *sk, struct speed_ring *ring, gfp_t gfp)
{
	struct home h = { .sk = sk, .gfp = gfp | __GFP_NOWARN };
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
