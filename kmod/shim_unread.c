// SPDX-License-Identifier: GPL-2.0
/*
 * What there is to read on a TCP socket whose calls are ours: TCP's bytes, the
 * ring's, and the order of the two. Nothing is locked: what is seen may be more
 * a moment later.
 */
#include <linux/tcp.h>
#include <net/sock.h>

#include "ring.h"
#include "shim.h"
#include "wait.h"

/* All bytes that can be read now, in order. */
static u64 unread(struct speed_ring *ring, const struct sock *sk)
{
	u64 tcp = shim_tcp_unread(sk), live, before;

	smp_rmb();	/* TCP's first: what came to the ring since is not behind it */
	live = speed_ring_live(ring);
	if (!live) {
		smp_rmb();	/* or they are TCP's since: shim_bring_reader() */
		return shim_tcp_unread(sk);
	}
	before = shim_tcp_before(ring, sk);
	if (tcp < before) {	/* or is, being moved: rather too much than too little */
		smp_rmb();
		tcp = shim_tcp_unread(sk);
	}
	/* What is missing of TCP's hides the ring's. */
	return tcp < before ? tcp : tcp + live;
}

/* An urgent byte that is next and not in line is not read, but passed over. */
static bool passed_over(struct speed_ring *ring, const struct sock *sk)
{
	return shim_at_mark(sk) && !sock_flag(sk, SOCK_URGINLINE) &&
	       !(ring && speed_ring_live(ring));
}

/**
 * shim_readable() - bytes that recv() would take, in order
 * @ring: the reader's, or NULL where there is none
 * @sk: the reader
 */
u64 shim_readable(struct speed_ring *ring, const struct sock *sk)
{
	u64 bytes = ring ? unread(ring, sk) : shim_tcp_unread(sk);

	return bytes && passed_over(ring, sk) ? bytes - 1 : bytes;
}

/**
 * shim_place() - of a place in the stream, how many readable bytes are before it
 * @shim: the reader's
 * @place: bytes from the next one to read on; not 0
 */
u64 shim_place(const struct shim *shim, u64 place)
{
	struct speed_pair *pair = shim_pair(shim);

	return place - passed_over(pair ? shim_rx_ring(shim, pair) : NULL, shim->sk);
}

/**
 * shim_ring_first() - is the next byte to read the ring's?
 * @shim: the reader's
 */
bool shim_ring_first(const struct shim *shim)
{
	struct speed_pair *pair = shim_pair(shim);
	struct speed_ring *ring;

	if (!pair)
		return false;
	ring = shim_rx_ring(shim, pair);
	return speed_ring_live(ring) && !shim_tcp_before(ring, shim->sk);
}

/**
 * shim_unread() - bytes that can be read now
 * @shim: the reader's
 *
 * Return: bytes, an unread FIN counted as one.
 */
u64 shim_unread(const struct shim *shim)
{
	struct speed_pair *pair = shim_pair(shim);

	return pair ? unread(shim_rx_ring(shim, pair), shim->sk) : shim_tcp_unread(shim->sk);
}

/**
 * shim_ended() - will TCP bring no more, or an error?
 * @sk: the socket
 *
 * Return: whether its recvmsg() would not wait.
 */
bool shim_ended(const struct sock *sk)
{
	u32 state = READ_ONCE(sk->sk_state);

	return READ_ONCE(sk->sk_err) || (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN) ||
	       sock_flag(sk, SOCK_DONE) || state == TCP_CLOSE || state == TCP_LISTEN;
}

/**
 * shim_inq() - SIOCINQ: bytes that can be read now, up to the urgent one
 * @shim: the reader's
 */
u64 shim_inq(const struct shim *shim)
{
	struct speed_pair *pair = shim_pair(shim);
	u64 tcp = tcp_inq(shim->sk);
	struct speed_ring *ring;

	if (!pair)
		return tcp;
	ring = shim_rx_ring(shim, pair);
	return tcp < shim_tcp_before(ring, shim->sk) ? tcp : tcp + speed_ring_live(ring);
}

/* An end or an error, or its own end was given up. */
static bool no_more(struct speed_ring *ring)
{
	return shim_ended(speed_ring_reader(ring)) ||
	       smp_load_acquire(&ring->pair->closed[!ring->end]);	/* shim_disconnect() */
}

/**
 * shim_data_ready() - would a reader have something to do?
 * @ring: the ring
 * @want: bytes it waits for
 *
 * Return: whether bytes enough can be read in order, or nothing more will come.
 */
bool shim_data_ready(struct speed_ring *ring, u64 want)
{
	const struct sock *sk = speed_ring_reader(ring);

	/* The usual case first: one look at the ring. */
	if (likely(speed_ring_live(ring) >= want && !READ_ONCE(ring->behind)))
		return true;
	return shim_readable(ring, sk) >= want || no_more(ring);
}

/**
 * shim_too_few() - may the bytes that there are be too few for who waits for SO_RCVLOWAT?
 * @ring: the reader's ring; where bytes lie in it the reader was told of them
 *
 * Return: whether it is, and no end has come.
 */
bool shim_too_few(struct speed_ring *ring)
{
	return !speed_ring_live(ring) && !no_more(ring);
}

/**
 * shim_is_readable() - what poll() asks beside TCP's own bytes
 * @sk: the socket
 *
 * Return: whether SO_RCVLOWAT bytes can be read.
 */
bool shim_is_readable(struct sock *sk)
{
	struct shim *shim = shim_of(sk);
	struct speed_pair *pair = shim ? shim_pair(shim) : NULL;
	u64 want = sock_rcvlowat(sk, 0, INT_MAX);

	if (!pair)
		return false;
	if (shim_readable(shim_rx_ring(shim, pair), sk) >= want)
		return true;
	speed_need_data(shim_rx_ring(shim, pair));
	return shim_readable(shim_rx_ring(shim, pair), sk) >= want;
}
