// SPDX-License-Identifier: GPL-2.0
/*
 * What is next in the stream of a TCP socket whose calls are ours: TCP's bytes
 * or the ring's, in the order in which they were sent (shim.h). TCP's recvmsg()
 * is called for bytes that it has, and for how the stream ended; it is never
 * left to wait, and never given room for more than what is next.
 */
#include <net/sock.h>

#include "compat/compat.h"
#include "copy.h"
#include "lease.h"
#include "ring.h"
#include "rx.h"
#include "shim.h"
#include "shim_proto.h"
#include "shim_take.h"
#include "tx.h"

/*
 * TCP's own, for at most @len bytes and without waiting. It is given a header of
 * its own, so that what it puts beside the bytes is put once, by us.
 */
static ssize_t take_tcp(struct take *t, size_t len)
{
	struct msghdr msg = { .msg_iter = t->msg->msg_iter };
	int flags = (t->flags & ~MSG_WAITALL) | MSG_DONTWAIT;
	int n;

	len = min(len, t->len - t->done);
	n = speed_compat_recvmsg(t->shim->base->prot, t->sk, &msg, len, flags);
	t->msg->msg_iter = msg.msg_iter;
	t->msg->msg_flags |= msg.msg_flags & MSG_OOB;
	return n;
}

/* Copy, or with MSG_TRUNC throw away, one run of the ring. */
static bool take_run(struct take *t, const unsigned char *from, size_t n)
{
	return (t->flags & MSG_TRUNC) || speed_copy_out(from, n, &t->msg->msg_iter);
}

static ssize_t take_ring(struct take *t, struct speed_ring *ring)
{
	const struct speed_side *side = &ring->role[SPEED_ROLE_RX].side;
	size_t left = t->len - t->done, done = 0;
	s64 ready;
	size_t n;

	while (done < left) {
		ready = speed_rx_ready(ring, min_t(u64, left - done, SPEED_PIECE));
		if (ready <= 0)
			return done ?: ready;
		n = min3((u64)(left - done), (u64)ready, (u64)SPEED_PIECE);
		if (!take_run(t, speed_ring_span(side, 0), n))
			return done ?: -EFAULT;
		speed_rx_release(ring, n);
		done += n;
	}
	return done;
}

/*
 * Bytes of TCP that come before the ring's, which is not empty. The consumer's
 * lock is held.
 */
static s32 tcp_first(struct speed_ring *ring, const struct sock *sk)
{
	s32 before;

	if (!READ_ONCE(ring->behind))
		return 0;
	before = READ_ONCE(ring->tcp_seq) - READ_ONCE(tcp_sk(sk)->copied_seq);
	if (before > 0)
		return before;
	WRITE_ONCE(ring->behind, false);
	return 0;
}

/*
 * How the stream ended, as TCP says. Looked at with MSG_PEEK: bytes that come
 * just now are left for another round. Return: 0, an error, or 1 for those.
 */
static ssize_t ask_end(struct take *t)
{
	struct msghdr msg = {};
	char byte;
	struct kvec vec = { .iov_base = &byte, .iov_len = 1 };

	iov_iter_kvec(&msg.msg_iter, ITER_DEST, &vec, 1, 1);
	return speed_compat_recvmsg(t->shim->base->prot, t->sk, &msg, 1, MSG_PEEK | MSG_DONTWAIT);
}

/*
 * What is next, from TCP or from the ring. The consumer's lock is held, if there
 * is a ring. Return: bytes; 0 at the end; -EAGAIN where nothing is next now.
 */
static ssize_t take_now(struct take *t, struct speed_ring *ring)
{
	bool end = shim_ended(t->sk);
	ssize_t n;
	u32 tcp;
	s32 before;

	smp_rmb();	/* an end that is seen comes after all bytes */
	tcp = shim_tcp_unread(t->sk);
	smp_rmb();	/* and these bytes of TCP before what comes to the ring now */
	if (ring && speed_ring_live(ring)) {
		before = tcp_first(ring, t->sk);
		if (!before)
			return take_ring(t, ring);
		return tcp ? take_tcp(t, min_t(u32, before, tcp)) : -EAGAIN;
	}
	if (t->done && shim_at_mark(t->sk))
		return -EAGAIN;
	if (tcp)
		return take_tcp(t, tcp);
	if (!end || t->done)
		return -EAGAIN;
	n = ask_end(t);
	return n > 0 ? -ERESTART : n;
}

static ssize_t take_next(struct take *t, struct speed_ring *ring)
{
	ssize_t n;

	do {
		n = take_now(t, ring);
	} while (unlikely(n == -ERESTART));
	if (n > 0)
		sk_peek_offset_bwd(t->sk, n);
	return n;
}

/* As take_next(), but nothing is taken. */
static ssize_t peek_next(struct take *t, struct speed_ring *ring)
{
	bool end = shim_ended(t->sk);
	ssize_t n;

	smp_rmb();	/* an end that is seen comes after all bytes */
	do {
		n = shim_peek(t->shim, ring, t->msg, t->len - t->done, t->done, t->flags);
		if (n || !end || t->done)
			return n ?: -EAGAIN;
		n = ask_end(t);
	} while (unlikely(n > 0));
	return n;
}

/**
 * shim_take() - take or peek what is next
 * @t: the call
 *
 * Context: process; takes the consumer's lock, and locks the socket.
 * Return: bytes; 0 at the end; -EAGAIN where nothing is next now; or the error.
 */
ssize_t shim_take(struct take *t)
{
	struct speed_pair *pair = shim_pair(t->shim);
	struct speed_ring *ring;
	ssize_t n;

	if (!pair)
		return t->flags & MSG_PEEK ? peek_next(t, NULL) : take_next(t, NULL);
	ring = shim_rx_ring(t->shim, pair);
	if (mutex_lock_killable(&ring->role[SPEED_ROLE_RX].lock))
		return -EINTR;
	speed_role_enter(ring, SPEED_ROLE_RX);
	n = t->flags & MSG_PEEK ? peek_next(t, ring) : take_next(t, ring);
	mutex_unlock(&ring->role[SPEED_ROLE_RX].lock);
	return n;
}
