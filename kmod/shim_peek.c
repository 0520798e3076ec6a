// SPDX-License-Identifier: GPL-2.0
/*
 * MSG_PEEK on a TCP socket whose calls are ours. What can be read lies in up to
 * three pieces: TCP's bytes before the ring's, the ring's, and TCP's after them.
 * All are looked at in one go, with the socket locked, so that none moves.
 */
#include <net/sock.h>

#include "copy.h"
#include "ring.h"
#include "rx.h"
#include "shim.h"
#include "shim_proto.h"
#include "shim_take.h"

/* What a call has left to do. */
struct look {
	struct sock *sk;
	struct msghdr *msg;
	size_t skip;
	size_t len;
	size_t done;
	bool more;
	bool trunc;
	bool stop;
	bool over;
};

static void looked(struct look *l, size_t n)
{
	l->len -= n;
	l->done += n;
}

/* Part of a piece of @size bytes: how much, after @at bytes of it. */
static size_t part(struct look *l, u64 size, size_t *at)
{
	*at = min_t(u64, l->skip, size);
	l->skip -= *at;
	return min_t(u64, l->len, size - *at);
}

static int look_skb(struct look *l, struct sk_buff *skb, u32 offset, size_t n)
{
	if (!l->trunc && skb_copy_datagram_msg(skb, offset, l->msg, n))
		return -EFAULT;
	looked(l, n);
	return 0;
}

/* An urgent byte ends a read that has bytes; it is passed over where it is first. */
static void mind_mark(struct look *l, u32 *seq, size_t *n, u64 left)
{
	const struct tcp_sock *tp = tcp_sk(l->sk);
	u32 mark = tp->urg_seq - *seq;

	if (likely(!tp->urg_data) || mark >= *n)
		return;
	if (mark || l->done || l->more) {
		*n = mark;
		l->stop = true;
	} else if (!sock_flag(l->sk, SOCK_URGINLINE)) {
		(*seq)++;
		*n = min_t(u64, l->len, left - 1);
		l->over = true;
	}
}

/* Bytes that have arrived, without the FIN. */
static u32 arrived(const struct sock *sk)
{
	u32 bytes = shim_tcp_unread(sk);

	return bytes && sock_flag(sk, SOCK_DONE) ? bytes - 1 : bytes;
}

/* @size bytes of TCP's queue, which begin @from bytes after what was read. */
static int look_tcp(struct look *l, u32 from, u32 size)
{
	size_t at, n = part(l, size, &at);
	u32 seq = tcp_sk(l->sk)->copied_seq + from + at;
	struct sk_buff *skb;
	int err = 0;

	mind_mark(l, &seq, &n, size - at);
	skb_queue_walk(&l->sk->sk_receive_queue, skb) {
		u32 offset = seq - TCP_SKB_CB(skb)->seq;
		u32 used;

		if (!n || err)
			break;
		if (offset >= skb->len)
			continue;
		used = min_t(size_t, n, skb->len - offset);
		err = look_skb(l, skb, offset, used);
		seq += used;
		n -= used;
	}
	return err;
}

static int look_ring(struct look *l, struct speed_ring *ring, u64 size)
{
	const struct speed_side *side = &ring->role[SPEED_ROLE_RX].side;
	size_t at, n = part(l, size, &at);

	if (!n)
		return 0;
	if (!l->trunc && !speed_copy_out(speed_ring_span(side, at), n, &l->msg->msg_iter))
		return -EFAULT;
	looked(l, n);
	return 0;
}

/* All was looked at, and what comes next is an urgent byte: it was announced. */
static bool mark_next(const struct look *l)
{
	const struct tcp_sock *tp = tcp_sk(l->sk);

	return l->len && (l->done || l->more) && unlikely(tp->urg_data) &&
	       tp->urg_seq == tp->rcv_nxt;
}

/* The socket is locked, and so is the ring's consumer. */
static int look_all(struct look *l, struct speed_ring *ring)
{
	u32 tcp = arrived(l->sk), before = 0;
	s64 live = ring ? speed_rx_ready(ring, speed_ring_size(ring)) : 0;
	int err;

	if (live < 0)
		return live;
	if (live)
		before = shim_tcp_before(ring, l->sk);
	err = look_tcp(l, 0, live ? min(before, tcp) : tcp);
	if (!err && live && tcp >= before && !l->stop)
		err = look_ring(l, ring, live) ?: look_tcp(l, before, tcp - before);
	if (!err && mark_next(l))
		l->stop = true;
	return err;
}

/**
 * shim_peek() - copy bytes and leave them
 * @t: the call
 * @ring: the reader's ring, whose consumer's lock is held, or NULL
 *
 * Context: process; locks the socket.
 * Return: bytes, 0 where there is none now, or an error.
 */
ssize_t shim_peek(struct take *t, struct speed_ring *ring)
{
	struct sock *sk = t->sk;
	struct look l = {
		.sk = sk, .msg = t->msg, .len = t->len - t->done, .trunc = t->flags & MSG_TRUNC,
		.more = t->done,
	};
	int err;

	lock_sock(sk);
	/* TCP itself has passed over it since, where the next one came. */
	if (!l.more || t->over_at != tcp_sk(sk)->copied_seq)
		t->over = 0;
	l.skip = take_peeked(t);
	err = look_all(&l, ring);
	t->over |= l.over;
	t->over_at = tcp_sk(sk)->copied_seq;
	release_sock(sk);
	t->stop = l.stop;
	if (l.done)
		sk_peek_offset_fwd(sk, l.done);
	return l.done ?: err;
}
