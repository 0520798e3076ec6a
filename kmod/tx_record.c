// SPDX-License-Identifier: GPL-2.0
/*
 * Sending a message of a SOCK_SEQPACKET: a record in the ring, published as
 * one, or a chunk of the overflow where the ring has no place for it.
 */
#include <net/sock.h>

#include "copy.h"
#include "family.h"
#include "lease.h"
#include "overflow.h"
#include "ring.h"
#include "trace.h"
#include "tx.h"
#include "wait.h"

static int put_ring(struct speed_ring *ring, struct msghdr *msg, size_t len)
{
	struct speed_side *side = &ring->role[SPEED_ROLE_TX].side;
	struct speed_record *rec = (void *)speed_ring_span(side, 0);
	u64 bytes = SPEED_RECORD_BYTES(len);
	s64 free;

	if (bytes > speed_ring_size(ring))
		return -ENOSPC;
	free = speed_prod_free(side, bytes);
	if (unlikely(free < 0))
		return speed_pair_lie(ring, speed_ring_writer(ring));
	if (free < bytes)
		return -ENOSPC;
	if (!speed_copy_in(rec + 1, len, &msg->msg_iter))
		return speed_tx_fault(ring);
	rec->len = len;
	rec->reserved = 0;
	speed_tx_publish(ring, bytes, len);
	return 0;
}

static int put_overflow(struct sock *sk, struct speed_ring *ring, struct msghdr *msg, size_t len)
{
	struct speed_chunk *chunk;

	if (unlikely(speed_ring_live(ring) > speed_ring_size(ring)))
		return speed_pair_lie(ring, speed_ring_writer(ring));
	/* Where all was read there is room for one, whatever the limit has become. */
	if (speed_ring_room(ring) < SPEED_RECORD_BYTES(len) && speed_ring_unread(ring))
		return -ENOSPC;
	chunk = speed_chunk_new(ring, len);
	if (!chunk)
		return -ENOBUFS;
	if (!speed_copy_in(chunk->data, len, &msg->msg_iter)) {
		speed_chunk_free(sk, chunk);
		return -EFAULT;
	}
	trace_speed_publish(ring->pair->id, ring->end, len);
	speed_overflow_add(ring, chunk);
	return 0;
}

/* The producer's lock is held. */
static int put(struct sock *sk, struct speed_ring *ring, struct msghdr *msg, size_t len)
{
	int err;

	speed_role_enter(ring, SPEED_ROLE_TX);
	err = speed_tx_error(sk) ?:
	      speed_ring_need_buf(ring, SPEED_ROLE_TX, SPEED_RECORD_BYTES(len));
	if (err)
		return err;
	err = -ENOSPC;
	if (!speed_ring_beyond(ring))
		err = put_ring(ring, msg, len);
	if (err == -ENOSPC)
		err = put_overflow(sk, ring, msg, len);
	if (err)
		return err;
	WRITE_ONCE(ring->used, jiffies);
	speed_tx_tell(ring);
	return 0;
}

/* What AF_UNIX takes: its send buffer, less 32. */
static u64 len_max(const struct sock *sk, struct speed_ring *ring)
{
	u64 limit = speed_ring_limit(ring);

	return min_t(u64, max_t(int, READ_ONCE(sk->sk_sndbuf) - 32, 0), limit - 16);
}

/**
 * speed_tx_record() - send() on a SOCK_SEQPACKET
 * @sk: a connected socket
 * @msg: what and how
 * @len: bytes of the message
 *
 * Context: process; takes the producer's lock.
 * Return: @len, or the error.
 */
ssize_t speed_tx_record(struct sock *sk, struct msghdr *msg, size_t len)
{
	struct speed_ring *ring = &speed_sk(sk)->pair->ring[speed_sk(sk)->end];
	struct mutex *lock = &ring->role[SPEED_ROLE_TX].lock;
	long timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	int err;

	if (len > len_max(sk, ring))
		return -EMSGSIZE;
	do {
		if (mutex_lock_killable(lock))
			return -EINTR;
		err = put(sk, ring, msg, len);
		mutex_unlock(lock);
		if (err != -ENOSPC)
			return err ?: len;
		err = speed_tx_pause(sk, ring, SPEED_RECORD_BYTES(len), &timeo);
	} while (!err);
	return err;
}
