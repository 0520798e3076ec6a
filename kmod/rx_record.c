// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving a message of a SOCK_SEQPACKET. The record's header is copied, the
 * copy is validated and used: the ring may change under the reader.
 */
#include <net/sock.h>

#include "close.h"
#include "copy.h"
#include "family.h"
#include "lease.h"
#include "overflow.h"
#include "ring.h"
#include "rx.h"
#include "wait.h"

/* A message found: where its bytes are, and what it takes of the ring. */
struct found {
	const unsigned char *data;
	u32 len;
	u64 bytes;
	struct speed_chunk *chunk;
};

/* The record @at bytes after the first, and @ready before the last. Return: whether it is one. */
static bool record_at(const struct speed_ring *ring, u64 at, u64 ready, struct found *f)
{
	const struct speed_side *side = &ring->role[SPEED_ROLE_RX].side;
	struct speed_record rec;

	if (ready < sizeof(rec))
		return false;
	memcpy(&rec, speed_ring_span(side, at), sizeof(rec));
	barrier();
	f->bytes = speed_record_check(&rec, ready);
	f->len = rec.len;
	f->data = speed_ring_span(side, at + sizeof(rec));
	return f->bytes;
}

/* Return: as find(). */
static int find_at(struct speed_ring *ring, u64 at, struct found *f)
{
	s64 ready = speed_rx_ready(ring, at + 1);

	if (ready < 0)
		return ready;
	if (ready <= at)
		return 0;
	return record_at(ring, at, ready - at, f) ? 1
						  : speed_pair_lie(ring, speed_ring_reader(ring));
}

/* A peek has this message behind it. @skip: bytes that are yet to be passed over */
static bool passed(u32 len, u32 *skip)
{
	if (!*skip || *skip < len)
		return false;
	*skip -= len;
	return true;
}

static int find_in_ring(struct speed_ring *ring, u64 *at, u32 *skip, struct found *f)
{
	int n;

	while ((n = find_at(ring, *at, f)) > 0 && passed(f->len, skip)) {
		*at += f->bytes;
		cond_resched();
	}
	return n;
}

/*
 * Return: 1 found, @skip bytes after its beginning, 0 none, or the error. The consumer's
 * lock is held.
 */
static int find(struct speed_ring *ring, u32 *skip, struct found *f)
{
	u64 at = 0;
	int n = find_in_ring(ring, &at, skip, f);

	if (n || !speed_ring_beyond(ring) || READ_ONCE(ring->pair->broken))
		return n;
	smp_rmb();	/* the list was seen: look at the ring after it */
	n = find_in_ring(ring, &at, skip, f);
	if (n)
		return n;
	f->chunk = speed_overflow_first(ring);
	while (f->chunk && passed(f->chunk->len, skip)) {
		f->chunk = speed_overflow_next(ring, f->chunk);
		cond_resched();
	}
	if (!f->chunk)
		return 0;
	f->len = f->chunk->len;
	f->data = f->chunk->data;
	return 1;
}

static void consume(struct speed_ring *ring, struct found *f)
{
	if (f->chunk) {
		speed_overflow_take(ring, f->chunk, f->len);
		speed_wake_space(ring);
	} else {
		speed_rx_release(ring, f->bytes);
	}
}

static ssize_t hand_over(struct sock *sk, struct speed_ring *ring, struct found *f,
			 struct msghdr *msg, size_t len, int flags, u32 skip)
{
	size_t n = min_t(size_t, len, f->len - skip);
	ssize_t ret = flags & MSG_TRUNC ? f->len - skip : n;

	if (n < f->len - skip)
		msg->msg_flags |= MSG_TRUNC;
	if (!speed_copy_out(f->data + skip, n, &msg->msg_iter))
		ret = -EFAULT;
	if (flags & MSG_PEEK) {
		if (ret >= 0)
			sk_peek_offset_fwd(sk, n);
	} else {
		sk_peek_offset_bwd(sk, f->len);
		consume(ring, f);
	}
	return ret;
}

/* Return: bytes, -ENOMSG where there is none, or the error. */
static ssize_t take(struct sock *sk, struct speed_ring *ring, struct msghdr *msg, size_t len,
		    int flags)
{
	u32 skip = max(sk_peek_offset(sk, flags), 0);
	struct found f = {};
	int n;

	speed_role_enter(ring, SPEED_ROLE_RX);
	n = find(ring, &skip, &f);
	if (n <= 0)
		return n ?: -ENOMSG;
	return hand_over(sk, ring, &f, msg, len, flags, skip);
}

static ssize_t take_locked(struct sock *sk, struct speed_ring *ring, struct msghdr *msg,
			   size_t len, int flags, long timeo)
{
	struct mutex *lock = &ring->role[SPEED_ROLE_RX].lock;
	ssize_t n;

	if (speed_rx_hopeless(ring, timeo))
		return -ENOMSG;
	if (mutex_lock_killable(lock))
		return -EINTR;
	n = take(sk, ring, msg, len, flags);
	mutex_unlock(lock);
	return n;
}

/*
 * Bytes that wait; a peek by offset may find nothing among them. Read before the look
 * for a message: one that comes after it is more than these.
 */
static u64 waiting(struct sock *sk, struct speed_ring *ring, int flags)
{
	u64 bytes = 0;

	if (unlikely(sk_peek_offset(sk, flags) > 0))
		bytes = speed_ring_unread(ring);
	smp_rmb();	/* the rest: above */
	return bytes;
}

/* @seen: what waiting() said. Return: 1 to look again, 0 at the end, or the error. */
static int pause_or_end(struct sock *sk, struct speed_ring *ring, u64 seen, long *timeo)
{
	bool end = READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN;

	smp_rmb();	/* an error or bytes that came before the end count before it */
	if (READ_ONCE(sk->sk_err))
		return 1;
	if (end)
		return !READ_ONCE(ring->pair->broken) && speed_ring_unread(ring) > seen;
	return speed_rx_pause(ring, seen + 1, timeo) ?: 1;
}

/**
 * speed_rx_record() - recv() on a SOCK_SEQPACKET
 * @sk: a connected socket
 * @msg: where to; MSG_TRUNC is set in its flags where a message is cut
 * @len: bytes there is room for
 * @flags: MSG_DONTWAIT, MSG_PEEK, MSG_TRUNC
 *
 * Context: process; takes the consumer's lock.
 * Return: bytes of one message, 0 at the end, or the error.
 */
ssize_t speed_rx_record(struct sock *sk, struct msghdr *msg, size_t len, int flags)
{
	struct speed_ring *ring = &speed_sk(sk)->pair->ring[!speed_sk(sk)->end];
	long timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	ssize_t n;
	u64 seen;

	do {
		n = speed_sock_error(sk);
		if (n)
			break;
		seen = waiting(sk, ring, flags);
		n = take_locked(sk, ring, msg, len, flags, timeo);
		if (n != -ENOMSG)
			break;
		n = pause_or_end(sk, ring, seen, &timeo);
	} while (n > 0);
	return n;
}

/* Walk the records; a lie ends the walk and is left for recv() to find. */
static u64 ring_payload(struct speed_ring *ring)
{
	s64 ready = speed_rx_ready(ring, speed_ring_size(ring));
	u64 at = 0, sum = 0;
	struct found f;

	while (ready > 0 && record_at(ring, at, ready - at, &f)) {
		sum += f.len;
		at += f.bytes;
		cond_resched();
	}
	return sum;
}

static u64 overflow_payload(struct speed_ring *ring)
{
	struct speed_chunk *chunk = speed_overflow_first(ring);
	u64 sum = 0;

	for (; chunk; chunk = speed_overflow_next(ring, chunk)) {
		sum += chunk->len;
		cond_resched();
	}
	return sum;
}

/**
 * speed_rx_payload() - bytes of all messages that wait, for FIONREAD
 * @sk: a connected socket
 *
 * Context: process; takes the consumer's lock.
 * Return: bytes or -EINTR.
 */
int speed_rx_payload(struct sock *sk)
{
	struct speed_ring *ring = &speed_sk(sk)->pair->ring[!speed_sk(sk)->end];
	struct mutex *lock = &ring->role[SPEED_ROLE_RX].lock;
	u64 sum;

	if (mutex_lock_killable(lock))
		return -EINTR;
	speed_role_enter(ring, SPEED_ROLE_RX);
	sum = ring_payload(ring) + overflow_payload(ring);
	mutex_unlock(lock);
	return min_t(u64, sum, INT_MAX);
}
