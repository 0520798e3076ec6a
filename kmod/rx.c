// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving a stream: from the ring, then from the overflow, which begins where
 * the ring ends.
 */
#include <linux/sched/signal.h>
#include <linux/uio.h>
#include <net/sock.h>

#include "copy.h"
#include "family.h"
#include "lease.h"
#include "overflow.h"
#include "pages.h"
#include "pair.h"
#include "rx.h"
#include "tx.h"
#include "wait.h"

/**
 * speed_rx_ready() - bytes that the consumer can take from the ring
 * @ring: the ring; its consumer's lock is held, no lease in force
 * @want: bytes worth a look at the producer's index
 *
 * Return: bytes, zero after the connection broke, or -ECONNRESET if it breaks
 * now.
 */
s64 speed_rx_ready(struct speed_ring *ring, u64 want)
{
	struct speed_side *side = &ring->role[SPEED_ROLE_RX].side;
	s64 ready;

	if (unlikely(READ_ONCE(ring->pair->broken)))
		return 0;
	ready = speed_cons_ready(side, want);
	if (unlikely(ready < 0)) {
		speed_pair_break(ring->pair, ring);
		return sock_error(speed_ring_reader(ring)) ?: -ECONNRESET;
	}
	if (ready)
		side->data = ring->buf->addr;
	return ready;
}

/**
 * speed_rx_release() - the consumer is done with bytes of the ring
 * @ring: the ring; its consumer's lock is held
 * @bytes: how many
 */
void speed_rx_release(struct speed_ring *ring, u64 bytes)
{
	speed_ring_publish(&ring->role[SPEED_ROLE_RX].side, bytes);
	speed_wake_space(ring);
}

/**
 * speed_rx_hopeless() - is there nothing to be had at once?
 * @ring: the ring
 * @timeo: the caller's patience
 *
 * Asked before a lease is ended for nothing. A poller that relies on the flag
 * has it set.
 *
 * Return: whether -EAGAIN is the answer.
 */
bool speed_rx_hopeless(struct speed_ring *ring, long timeo)
{
	if (timeo || !READ_ONCE(ring->role[SPEED_ROLE_RX].epoch))
		return false;
	speed_need_data(ring);
	return !speed_data_ready(ring, 1);
}

/* What one pass over ring and overflow works with. */
struct take {
	struct speed_ring *ring;
	struct iov_iter *to;
	size_t len;		/* bytes still wanted */
	size_t skip;		/* bytes still to pass over, when peeking */
	size_t done;
	bool peek;
};

/* Copy one contiguous run; false where the user's memory ends. */
static bool take_run(struct take *t, const unsigned char *from, size_t n)
{
	if (unlikely(!speed_copy_out(from, n, t->to)))
		return false;
	t->len -= n;
	t->done += n;
	return true;
}

static int take_ring_peeking(struct take *t, s64 ready)
{
	const struct speed_side *side = &t->ring->role[SPEED_ROLE_RX].side;
	size_t skip = min_t(u64, t->skip, ready);
	size_t n = min_t(u64, t->len, ready - skip);

	t->skip -= skip;
	return n && !take_run(t, speed_ring_span(side, skip), n) ? -EFAULT : 0;
}

static int take_ring(struct take *t)
{
	const struct speed_side *side = &t->ring->role[SPEED_ROLE_RX].side;
	s64 ready;
	size_t n;

	do {
		ready = speed_rx_ready(t->ring, min_t(u64, t->len, SPEED_PIECE));
		if (ready <= 0)
			return ready;
		if (t->peek)
			return take_ring_peeking(t, ready);
		n = min3((u64)t->len, (u64)ready, (u64)SPEED_PIECE);
		if (n && !take_run(t, speed_ring_span(side, 0), n))
			return -EFAULT;
		speed_rx_release(t->ring, n);
	} while (t->len);
	return 0;
}

static int take_chunk(struct take *t, struct speed_chunk *chunk)
{
	size_t left = chunk->len - chunk->taken;
	size_t skip = min(t->skip, left);
	size_t n = min(t->len, left - skip);

	t->skip -= skip;
	if (n && !take_run(t, chunk->data + chunk->taken + skip, n))
		return -EFAULT;
	if (!t->peek && n) {
		speed_overflow_take(t->ring, chunk, n);
		speed_wake_space(t->ring);
	}
	return 0;
}

static int take_overflow(struct take *t)
{
	struct speed_chunk *chunk = speed_overflow_first(t->ring);
	int err = 0;

	while (!err && chunk && t->len) {
		err = take_chunk(t, chunk);
		chunk = t->peek ? speed_overflow_next(t->ring, chunk)
				: speed_overflow_first(t->ring);
	}
	return err;
}

/*
 * The consumer's lock is held. The list is looked at only when the ring, looked
 * at after it was seen not to be empty, is drained: until then its bytes come
 * first.
 */
static ssize_t take(struct take *t)
{
	int err;

	speed_role_enter(t->ring, SPEED_ROLE_RX);
	err = take_ring(t);
	if (!err && t->len && READ_ONCE(t->ring->overflow_bytes)) {
		smp_rmb();
		err = t->peek ? 0 : take_ring(t);
		if (!err)
			err = take_overflow(t);
	}
	return t->done ?: err;
}

static ssize_t take_locked(struct sock *sk, struct speed_ring *ring, struct take *t, long timeo)
{
	struct mutex *lock = &ring->role[SPEED_ROLE_RX].lock;
	ssize_t n;

	if (speed_rx_hopeless(ring, timeo))
		return 0;
	if (mutex_lock_killable(lock))
		return -EINTR;
	n = take(t);
	mutex_unlock(lock);
	return n;
}

/*
 * Nothing more is there now: the end, an error, or a reason to sleep?
 * Return: 1 to look again, 0 at the end, or the error.
 */
static int pause_or_end(struct sock *sk, struct speed_ring *ring, u64 want, long *timeo)
{
	int err = sock_error(sk);

	if (err)
		return err;
	if (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN) {
		/* Bytes that came before the end count before it. */
		smp_rmb();
		return !READ_ONCE(ring->pair->broken) &&
		       (speed_ring_live(ring) || READ_ONCE(ring->overflow_bytes));
	}
	if (!*timeo)
		return -EAGAIN;
	return speed_wait_data(ring, want, timeo) ?: 1;
}

static bool stop_here(struct sock *sk, long timeo)
{
	return READ_ONCE(sk->sk_err) || (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN) ||
	       !timeo || signal_pending(current);
}

/* As much as the socket's options ask for. */
static noinline ssize_t rx_slow(struct sock *sk, struct speed_ring *ring, struct iov_iter *to,
				size_t len, int flags)
{
	size_t target = sock_rcvlowat(sk, flags & MSG_WAITALL, len);
	long timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	size_t start = max(sk_peek_offset(sk, flags), 0);
	size_t copied = 0;
	ssize_t n = 1;

	while (n > 0) {
		size_t skip = start + (flags & MSG_PEEK ? copied : 0);
		struct take t = {
			.ring = ring, .to = to, .len = len - copied, .skip = skip,
			.peek = flags & MSG_PEEK,
		};

		n = take_locked(sk, ring, &t, timeo);
		if (n < 0)
			break;
		copied += n;
		if (copied >= target || (copied && stop_here(sk, timeo)))
			break;
		if (n)
			continue;
		if (!len && (speed_ring_live(ring) || READ_ONCE(ring->overflow_bytes)))
			break;
		n = pause_or_end(sk, ring, skip + 1, &timeo);
	}
	if (copied && flags & MSG_PEEK)
		sk_peek_offset_fwd(sk, copied);
	else if (copied)
		sk_peek_offset_bwd(sk, copied);
	return copied ?: n;
}

/* Return: bytes, -EFAULT, or 0 where the slow path must find out more. */
static ssize_t rx_fast(struct speed_ring *ring, struct iov_iter *to, size_t len)
{
	struct speed_role *rx = &ring->role[SPEED_ROLE_RX];
	s64 n = 0;

	if (!mutex_trylock(&rx->lock))
		return 0;
	if (likely(!rx->epoch && !READ_ONCE(ring->pair->broken)))
		n = speed_cons_ready(&rx->side, 1);
	if (likely(n > 0)) {
		n = min_t(u64, n, len);
		rx->side.data = ring->buf->addr;
		speed_role_enter(ring, SPEED_ROLE_RX);
		if (likely(speed_copy_out(speed_ring_span(&rx->side, 0), n, to)))
			speed_rx_release(ring, n);
		else
			n = -EFAULT;
	}
	mutex_unlock(&rx->lock);
	return n >= 0 || n == -EFAULT ? n : 0;
}

/* Nothing there: wait before the lock is taken. Errors are found later. */
static int wait_first(struct sock *sk, struct speed_ring *ring)
{
	long timeo = sk->sk_rcvtimeo;

	if (timeo == MAX_SCHEDULE_TIMEOUT && !speed_data_ready(ring, 1))
		return speed_wait_data(ring, 1, &timeo);
	return 0;
}

/**
 * speed_rx_stream() - recv() on a stream
 * @sk: a connected socket
 * @to: where to
 * @len: bytes wanted
 * @flags: MSG_DONTWAIT, MSG_PEEK, MSG_WAITALL
 *
 * Context: process; takes the consumer's lock.
 * Return: bytes, 0 at the end, or the error.
 */
ssize_t speed_rx_stream(struct sock *sk, struct iov_iter *to, size_t len, int flags)
{
	struct speed_ring *ring = &speed_sk(sk)->pair->ring[!speed_sk(sk)->end];
	ssize_t n = 0;

	if (flags & (MSG_DONTWAIT | MSG_PEEK | MSG_WAITALL) || len - 1 >= SPEED_PIECE ||
	    sk->sk_rcvlowat != 1 || sk_peek_offset(sk, MSG_PEEK) >= 0)
		return rx_slow(sk, ring, to, len, flags);
	n = wait_first(sk, ring) ?: rx_fast(ring, to, len);
	return likely(n) ? n : rx_slow(sk, ring, to, len, flags);
}
