// SPDX-License-Identifier: GPL-2.0
/*
 * Sending on a TCP socket whose calls are ours: the plain case, one copy into a
 * ring that has room. Everything else: shim_send.c.
 */
#include <net/sock.h>

#include "once.h"
#include "shim.h"
#include "shim_proto.h"
#include "shim_send.h"
#include "tx.h"
#include "wait.h"

static inline void published(struct shim *shim, struct speed_ring *ring, size_t bytes)
{
	speed_wake_data(ring);				/* E */
	if (unlikely(READ_ONCE(ring->pair->closed[!ring->end]))) {
		atomic_inc(&shim->calls);
		shim_nobody_reads(shim, ring, bytes);
		atomic_dec(&shim->calls);
	}
}

/* Nothing but a copy is to be done. The producer's lock is held. */
static inline bool plain(struct speed_ring *ring, size_t len)
{
	struct speed_role *tx = &ring->role[SPEED_ROLE_TX];

	return ring->fused && !tx->epoch && !shim_why(ring) &&
	       speed_buf_holds(ring->buf, tx->side.own + len) &&
	       speed_prod_free(&tx->side, len) >= (s64)len;
}

/* Return: @len, -EFAULT, or 0 where the slow path must find out more. */
static ssize_t send_fast(struct speed_ring *ring, struct msghdr *msg, size_t len)
{
	struct speed_role *tx = &ring->role[SPEED_ROLE_TX];
	ssize_t n = 0;

	if (!mutex_trylock(&tx->lock))
		return 0;
	if (likely(plain(ring, len)))
		n = speed_put_once(ring, msg, len);
	mutex_unlock(&tx->lock);
	return n;
}

/**
 * shim_sendmsg() - send() on a TCP socket whose calls are ours
 * @sk: the socket
 * @msg: what and how
 * @len: bytes
 *
 * Context: process; takes the producer's lock.
 * Return: bytes accepted, or TCP's error.
 */
int shim_sendmsg(struct sock *sk, struct msghdr *msg, size_t len)
{
	struct shim *shim = shim_of(sk);
	struct speed_pair *pair;
	struct speed_ring *ring;
	ssize_t n = 0;

	if (unlikely(!shim))
		return shim_tcp_of(sk)->prot->sendmsg(sk, msg, len);
	pair = shim_pair(shim);
	if (unlikely(!pair || len - 1 >= SPEED_PIECE || (msg->msg_flags & SHIM_ODD_FLAGS) ||
		     msg->msg_controllen))
		return shim_send_slow(sk, shim, msg);
	ring = shim_tx_ring(shim, pair);
	n = send_fast(ring, msg, len);
	if (unlikely(n <= 0))
		return n ?: shim_send_slow(sk, shim, msg);
	published(shim, ring, n);
	return n;
}
