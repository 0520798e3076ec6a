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

static int tcp_flags(const struct take *t)
{
	return (t->flags & ~MSG_WAITALL) | MSG_DONTWAIT;
}

/* With time stamps: of several calls of TCP's, the last one's are told. */
static ssize_t take_stamped(struct take *t, size_t len)
{
	int n;

	t->msg->msg_control = t->control;
	t->msg->msg_controllen = t->controllen;
	n = speed_compat_recvmsg(t->shim->base->prot, t->sk, t->msg, len, tcp_flags(t));
	t->told |= n >= 0;
	return n;
}

/*
 * TCP's own, for at most @len bytes and without waiting. It is given a header of
 * its own, so that what it puts beside the bytes is put once, by us.
 */
static ssize_t take_tcp(struct take *t, size_t len)
{
	struct msghdr msg = { .msg_iter = t->msg->msg_iter };
	u32 seq;
	int n;

	len = min(len, t->len - t->done);
	if (unlikely(t->stamps))
		return take_stamped(t, len);
	seq = READ_ONCE(tcp_sk(t->sk)->copied_seq);
	n = speed_compat_recvmsg(t->shim->base->prot, t->sk, &msg, len, tcp_flags(t));
	t->msg->msg_iter = msg.msg_iter;
	/* An urgent byte was passed over; there may be more behind it. */
	if (unlikely(n == -EAGAIN && seq != READ_ONCE(tcp_sk(t->sk)->copied_seq)))
		return -ERESTART;
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
		/* Less than there was: it broke, or who maps it plays with us. */
		if (ready <= 0)
			return done ?: ready ?: -EAGAIN;
		/* Drained, and moved to again: bytes of TCP came between. */
		if (unlikely(READ_ONCE(ring->behind)))
			return done ?: -ERESTART;
		n = min3((u64)(left - done), (u64)ready, (u64)SPEED_PIECE);
		if (!take_run(t, speed_ring_span(side, 0), n))
			return done ?: -EFAULT;
		t->told = false;
		speed_rx_release(ring, n);
		sk_peek_offset_bwd(t->sk, n);
		done += n;
	}
	return done;
}

/*
 * Bytes of TCP that come before the ring's, which is not empty. The consumer's
 * lock is held.
 */
static u32 tcp_first(struct speed_ring *ring, const struct sock *sk)
{
	u32 before = shim_tcp_before(ring, sk);

	if (!before && READ_ONCE(ring->behind))
		WRITE_ONCE(ring->behind, false);
	return before;
}

/* How the stream ended, as TCP says it; -EAGAIN where it did not. */
static ssize_t end_locked(struct sock *sk)
{
	if (sock_flag(sk, SOCK_DONE))
		return 0;
	if (READ_ONCE(sk->sk_err))
		return sock_error(sk);
	if (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN)
		return 0;
	/* It may have been given up, and listen by now. */
	return (1 << READ_ONCE(sk->sk_state)) & (TCPF_CLOSE | TCPF_LISTEN) ? -ENOTCONN : -EAGAIN;
}

/**
 * shim_ask_end() - how the stream ended
 * @sk: the socket; shim_ended() has said so, and nothing is left to read
 *
 * A reset sets the error, then the state, then the end, with the socket locked; and an
 * error may have been taken by another thread meanwhile.
 *
 * Context: process.
 * Return: as TCP says it: 0 or an error; -EAGAIN where it did not end.
 */
ssize_t shim_ask_end(struct sock *sk)
{
	ssize_t n;

	lock_sock(sk);
	n = end_locked(sk);
	release_sock(sk);
	return n;
}

/*
 * What is next, from TCP or from the ring. The consumer's lock is held, if there
 * is a ring. Return: bytes; 0 at the end; -EAGAIN where nothing is next now.
 */
static ssize_t take_now(struct take *t, struct speed_ring *ring)
{
	bool end = shim_ended(t->sk);
	u32 tcp, before;

	smp_rmb();	/* an end that is seen comes after all bytes */
	tcp = shim_tcp_unread(t->sk);
	smp_rmb();	/* and these bytes of TCP before what comes to the ring now */
	if (ring && speed_ring_live(ring)) {
		before = tcp_first(ring, t->sk);
		if (!before)
			return take_ring(t, ring);
		if (t->done && shim_at_mark(t->sk))
			return -EAGAIN;
		if (tcp)
			return take_tcp(t, min_t(u32, before, tcp));
	} else if (t->done && shim_at_mark(t->sk)) {
		return -EAGAIN;
	} else if (tcp) {
		return take_tcp(t, tcp);
	}
	if (!end || t->done)
		return -EAGAIN;
	return shim_ask_end(t->sk);
}

static ssize_t take_next(struct take *t, struct speed_ring *ring)
{
	ssize_t n;

	do {
		n = take_now(t, ring);
	} while (unlikely(n == -ERESTART));
	return n;
}

/* TCP alone has bytes, and something to tell of them beside, or its own rules. */
static bool tcp_peeks(const struct take *t, struct speed_ring *ring)
{
	const struct tcp_sock *tp = tcp_sk(t->sk);

	return (t->stamps || tp->repair) && !t->done && !(ring && speed_ring_live(ring));
}

/* Of @tcp bytes that TCP had when the ring was empty: what came since may be behind it. */
static size_t peek_bound(const struct take *t, u32 tcp)
{
	u32 off = max(sk_peek_offset(t->sk, t->flags), 0);

	/* Which says how much there is of another queue. */
	if (tcp_sk(t->sk)->repair)
		return t->len;
	return tcp > off ? tcp - off : 0;
}

/* The place where TCP's peek begins is an urgent byte's that is not in line. */
static bool passes_over(const struct take *t)
{
	const struct tcp_sock *tp = tcp_sk(t->sk);
	u32 off = max(sk_peek_offset(t->sk, t->flags), 0);

	return unlikely(READ_ONCE(tp->urg_data)) &&
	       READ_ONCE(tp->urg_seq) == READ_ONCE(tp->copied_seq) + off &&
	       !sock_flag(t->sk, SOCK_URGINLINE);
}

/* As take_now(), but nothing is taken. */
static ssize_t peek_now(struct take *t, struct speed_ring *ring)
{
	bool end = shim_ended(t->sk);
	size_t bound;
	ssize_t n;
	u32 tcp;

	smp_rmb();	/* an end that is seen comes after all bytes */
	tcp = shim_tcp_unread(t->sk);
	smp_rmb();	/* and these bytes of TCP before what comes to the ring now */
	bound = unlikely(tcp_peeks(t, ring)) ? peek_bound(t, tcp) : 0;
	if (unlikely(bound)) {
		t->over_at = READ_ONCE(tcp_sk(t->sk)->copied_seq);
		t->over = passes_over(t);
		return take_tcp(t, bound);
	}
	n = shim_peek(t, ring);
	t->told &= n <= 0;
	if (n || !end || t->done)
		return n ?: -EAGAIN;
	return shim_ask_end(t->sk);
}

static ssize_t peek_next(struct take *t, struct speed_ring *ring)
{
	ssize_t n;

	do {
		n = peek_now(t, ring);
	} while (unlikely(n == -ERESTART));
	return n;
}

static ssize_t take_or_peek(struct take *t, struct speed_ring *ring)
{
	return t->flags & MSG_PEEK ? peek_next(t, ring) : take_next(t, ring);
}

static ssize_t take_paired(struct take *t, struct speed_pair *pair)
{
	struct speed_ring *ring = shim_rx_ring(t->shim, pair);
	struct mutex *lock = &ring->role[SPEED_ROLE_RX].lock;	/* the consumer's */
	ssize_t n;

	if (mutex_lock_killable(lock))
		return -EINTR;
	speed_role_enter(ring, SPEED_ROLE_RX);
	/* Given up while the lock was waited for: what TCP has now is another connection's. */
	if (unlikely(shim_pair(t->shim) != pair))
		n = -EPIPE;
	else	/* What is in a ring that lied is nobody's; the socket tells how it ended. */
		n = take_or_peek(t, unlikely(READ_ONCE(pair->broken)) ? NULL : ring);
	mutex_unlock(lock);
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
	struct speed_pair *pair = shim_alone_begin(t->shim);
	ssize_t n;

	if (pair)
		return take_paired(t, pair);
	n = take_or_peek(t, NULL);
	shim_alone_end(t->shim);
	return n;
}
