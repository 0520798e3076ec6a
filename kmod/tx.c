// SPDX-License-Identifier: GPL-2.0
/*
 * Sending a stream: into the ring, from there into the overflow as far as the
 * socket's limits go, and then to sleep, with the producer's lock dropped.
 */
#include <linux/sched/signal.h>
#include <net/sock.h>

#include "close.h"
#include "copy.h"
#include "family.h"
#include "lease.h"
#include "once.h"
#include "overflow.h"
#include "pages.h"
#include "ring.h"
#include "trace.h"
#include "tx.h"
#include "wait.h"

#define CHUNK_MAX	((64u << 10) - sizeof(struct speed_chunk))

/* Either end may have said that nothing more is sent, or the reader's has been closed. */
static inline bool ended(const struct sock *sk, const struct speed_ring *ring)
{
	return (READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN) || speed_ring_unwanted(ring);
}

/**
 * speed_tx_error() - may an endpoint send?
 * @sk: the endpoint
 *
 * Return: 0, -EPIPE, or -ECONNRESET, once, after a lie in a ring.
 */
int speed_tx_error(struct sock *sk)
{
	struct speed_pair *pair = speed_sk(sk)->pair;

	if (likely(!ended(sk, &pair->ring[speed_sk(sk)->end])))
		return 0;
	smp_rmb();	/* sock_reset() */
	if (READ_ONCE(pair->broken))
		return speed_sock_error(sk) ?: -EPIPE;
	return -EPIPE;
}

/* Whoever closed may not have counted what came just now. */
static noinline void sent_late(struct speed_ring *ring)
{
	if (speed_ring_unread(ring))
		speed_tell_closed(ring->pair, ring->end, true);
}

/**
 * speed_tx_tell() - bytes were published: wake who waits for them
 * @ring: the ring
 *
 * A reader that closed meanwhile will not read them. As with AF_UNIX what a call has
 * accepted does not vanish without an error.
 */
void speed_tx_tell(struct speed_ring *ring)
{
	speed_wake_data(ring);				/* E */
	if (unlikely(speed_ring_unwanted(ring)))
		sent_late(ring);
}

/**
 * speed_tx_fault() - a copy into the ring ended early
 * @ring: the ring
 *
 * A bad user address sends nothing of its piece, as in TCP and AF_UNIX. What was
 * copied of it is beyond the head, where nobody clears it by the index.
 *
 * Return: -EFAULT.
 */
int speed_tx_fault(struct speed_ring *ring)
{
	ring->buf->dirty = true;
	return -EFAULT;
}

static ssize_t put_ring(struct speed_ring *ring, struct msghdr *msg, size_t len)
{
	struct speed_side *side = &ring->role[SPEED_ROLE_TX].side;
	s64 free = speed_prod_free(side, min_t(u64, len, SPEED_PIECE));
	size_t n;

	if (unlikely(free < 0))
		return speed_pair_lie(ring, speed_ring_writer(ring));
	n = min3((u64)len, (u64)free, (u64)SPEED_PIECE);
	if (!n)
		return 0;
	if (!speed_copy_in(speed_ring_span(side, 0), n, &msg->msg_iter))
		return speed_tx_fault(ring);
	speed_tx_publish(ring, n, n);
	speed_tx_tell(ring);
	return n;
}

static ssize_t put_overflow(struct sock *sk, struct speed_ring *ring, struct msghdr *msg,
			    size_t len)
{
	struct speed_chunk *chunk;
	u64 room = speed_ring_room(ring);
	size_t n = min3((u64)len, room, (u64)CHUNK_MAX);

	if (unlikely(speed_ring_live(ring) > speed_ring_size(ring)))
		return speed_pair_lie(ring, speed_ring_writer(ring));
	if (!n)
		return 0;
	chunk = speed_chunk_new(ring, n);
	if (!chunk)
		return -ENOBUFS;
	if (!speed_copy_in(chunk->data, n, &msg->msg_iter)) {
		speed_chunk_free(sk, chunk);
		return -EFAULT;
	}
	trace_speed_publish(ring->pair->id, ring->end, n);
	speed_overflow_add(ring, chunk);
	speed_tx_tell(ring);
	return n;
}

static ssize_t put_some(struct sock *sk, struct speed_ring *ring, struct msghdr *msg, size_t len)
{
	ssize_t n = 0;

	if (likely(!speed_ring_beyond(ring)))
		n = put_ring(ring, msg, len);
	return n ?: put_overflow(sk, ring, msg, len);
}

/* As much as fits now. The producer's lock is held. */
static ssize_t put_all(struct sock *sk, struct speed_ring *ring, struct msghdr *msg, size_t len)
{
	size_t sent = 0;
	ssize_t n = 0;

	speed_role_enter(ring, SPEED_ROLE_TX);
	while (sent < len) {
		n = speed_tx_error(sk) ?: speed_ring_need_buf(ring, SPEED_ROLE_TX, len - sent);
		if (n)
			break;
		n = put_some(sk, ring, msg, len - sent);
		if (n <= 0)
			break;
		sent += n;
		n = 0;
	}
	WRITE_ONCE(ring->used, jiffies);
	return sent ?: n;
}

/**
 * speed_tx_pause() - there was too little space
 * @sk: the sender
 * @ring: its ring
 * @want: bytes to wait for
 * @timeo: jiffies left, in and out
 *
 * Return: 0 to try again, or the error.
 */
int speed_tx_pause(struct sock *sk, struct speed_ring *ring, u64 want, long *timeo)
{
	int err = 0;

	if (*timeo) {
		err = speed_wait_space(ring, want, timeo);
	} else {
		/* Whoever polls for the edge from here on shall see it. */
		speed_need_space(ring);
		if (!speed_space_ready(ring, want))
			err = -EAGAIN;
	}
	/* A sleeper is told of an error before the end that came with it. */
	smp_rmb();
	return err ?: speed_sock_error(sk);
}

/* Nothing to be had, and not worth a holder's lease to find out. */
static bool hopeless(struct speed_ring *ring, long timeo)
{
	return !timeo && READ_ONCE(ring->role[SPEED_ROLE_TX].epoch) &&
	       !speed_space_ready(ring, 1);
}

static noinline ssize_t tx_slow(struct sock *sk, struct speed_ring *ring, struct msghdr *msg,
				size_t len)
{
	struct mutex *lock = &ring->role[SPEED_ROLE_TX].lock;
	long timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	size_t sent = 0;
	ssize_t n;

	if (!len)
		return speed_tx_error(sk);
	while (sent < len) {
		n = 0;
		if (!hopeless(ring, timeo)) {
			if (mutex_lock_killable(lock))
				return sent ?: -EINTR;
			n = put_all(sk, ring, msg, len - sent);
			mutex_unlock(lock);
		}
		if (n > 0)
			sent += n;
		else if (!n)
			n = speed_tx_pause(sk, ring, 1, &timeo);
		if (n < 0)
			return sent ?: n;
	}
	return sent;
}

/* Nothing but a copy is to be done. The producer's lock is held. */
static bool tx_plain(struct sock *sk, struct speed_ring *ring, size_t len)
{
	struct speed_role *tx = &ring->role[SPEED_ROLE_TX];

	return !tx->epoch && speed_buf_holds(ring->buf, tx->side.own + len) &&
	       !speed_ring_beyond(ring) && !ended(sk, ring) &&
	       speed_prod_free(&tx->side, len) >= (s64)len;
}

/* Return: @len, -EFAULT, or 0 where the slow path must find out more. */
static ssize_t tx_fast(struct sock *sk, struct speed_ring *ring, struct msghdr *msg, size_t len)
{
	struct speed_role *tx = &ring->role[SPEED_ROLE_TX];
	ssize_t n = 0;

	if (len - 1 >= SPEED_PIECE || !mutex_trylock(&tx->lock))
		return 0;
	if (likely(tx_plain(sk, ring, len)))
		n = speed_put_once(ring, msg, len);
	mutex_unlock(&tx->lock);
	return n;
}

/**
 * speed_tx_stream() - send() on a stream
 * @sk: a connected socket
 * @msg: what and how
 * @len: bytes
 *
 * Context: process; takes the producer's lock.
 * Return: bytes accepted, or the error.
 */
ssize_t speed_tx_stream(struct sock *sk, struct msghdr *msg, size_t len)
{
	struct speed_ring *ring = &speed_sk(sk)->pair->ring[speed_sk(sk)->end];
	ssize_t n = tx_fast(sk, ring, msg, len);

	if (unlikely(!n))
		return tx_slow(sk, ring, msg, len);
	if (likely(n > 0))
		speed_tx_tell(ring);
	return n;
}
