// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving a stream: from the ring, then from the overflow, which begins where
 * the ring ends.
 */
#include <linux/sched/signal.h>
#include <linux/uio.h>
#include <net/sock.h>

#include "close.h"
#include "copy.h"
#include "family.h"
#include "lease.h"
#include "once.h"
#include "overflow.h"
#include "pages.h"
#include "ring.h"
#include "rx.h"
#include "tx.h"
#include "wait.h"

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

static int peek_ring(struct take *t)
{
	const struct speed_side *side = &t->ring->role[SPEED_ROLE_RX].side;
	/* A fresh look: the list goes on where the ring ends now. */
	s64 ready = speed_rx_ready(t->ring, speed_ring_size(t->ring));
	size_t skip, n;

	if (ready <= 0)
		return ready;
	skip = min_t(u64, t->skip, ready);
	n = min_t(u64, t->len, ready - skip);
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

static int peek_overflow(struct take *t)
{
	struct speed_chunk *chunk = speed_overflow_first(t->ring);
	int err = 0;

	for (; !err && chunk && t->len; chunk = speed_overflow_next(t->ring, chunk)) {
		err = take_chunk(t, chunk);
		cond_resched();
	}
	return err;
}

/* One round through ring and list. Return: 1 if another may find more, 0, or the error. */
static int take_round(struct take *t)
{
	bool more = speed_ring_beyond(t->ring);
	struct speed_chunk *chunk;
	int err;

	/*
	 * While the list is not empty the ring's head stands still: look at the
	 * ring after the list, and again after each chunk, since an empty list
	 * reopens the ring.
	 */
	smp_rmb();
	err = t->peek ? peek_ring(t) : take_ring(t);
	if (err || !t->len || !more || READ_ONCE(t->ring->pair->broken))
		return err;
	if (t->peek)
		return peek_overflow(t);
	chunk = speed_overflow_first(t->ring);
	return chunk ? take_chunk(t, chunk) ?: 1 : 0;
}

/* The consumer's lock is held. */
static ssize_t take(struct take *t)
{
	int again;

	speed_role_enter(t->ring, SPEED_ROLE_RX);
	do {
		again = take_round(t);
	} while (again > 0 && t->len);
	return t->done ?: min(again, 0);
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
 * Too little is there: the end, an error, or a reason to sleep? Where there is @some, the
 * call has that to return, and an error is the next one's.
 * Return: 1 to look again, 0 at the end or with that, or the error.
 */
static int pause_or_end(struct sock *sk, struct speed_ring *ring, u64 skip, bool some,
			long *timeo)
{
	bool end = READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN;

	if (!end && !READ_ONCE(sk->sk_err)) {
		if (some && (!*timeo || signal_pending(current)))
			return 0;
		return speed_rx_pause(ring, skip + 1, timeo) ?: 1;
	}
	smp_rmb();	/* bytes that came before them count before them */
	if (!READ_ONCE(ring->pair->broken) && speed_ring_unread(ring) > skip)
		return 1;
	if (some)
		return 0;
	/* Another may have taken the error, and there was no end yet. */
	return speed_sock_error(sk) ?: !end;
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
		if (flags & MSG_PEEK)
			skip += n;
		if (copied >= target || (!len && speed_ring_unread(ring)))
			break;
		n = pause_or_end(sk, ring, skip, copied, &timeo);
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
	if (likely(!rx->epoch && ring->buf && !READ_ONCE(ring->pair->broken)))
		n = speed_cons_ready(&rx->side, len);
	if (likely(n > 0))
		n = speed_take_once(ring, to, min_t(u64, n, len));
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
