// SPDX-License-Identifier: GPL-2.0
/*
 * Shutdown and close. The endpoint's own bits first, so that no lease begins
 * any more; then its leases end, so that what a mapped producer published counts
 * before the end that follows it; then the peer's bits, and the flag that tells
 * mapped peers to ask.
 */
#include <net/sock.h>

#include "close.h"
#include "family.h"
#include "lease.h"
#include "map.h"
#include "overflow.h"
#include "ring.h"
#include "trace.h"

/* Both ends may come at once, each with its own bits; no peer is locked. */
static void shut(struct sock *sk, int how)
{
	u8 old = READ_ONCE(sk->sk_shutdown);

	while (!try_cmpxchg(&sk->sk_shutdown, &old, old | how))
		;
}

static int mirror(int how)
{
	return (how & RCV_SHUTDOWN ? SEND_SHUTDOWN : 0) | (how & SEND_SHUTDOWN ? RCV_SHUTDOWN : 0);
}

static void tell_peer(struct sock *peer, int how)
{
	peer->sk_state_change(peer);
	if (how == SHUTDOWN_MASK)
		sk_wake_async(peer, SOCK_WAKE_WAITD, POLL_HUP);
	else if (how & RCV_SHUTDOWN)
		sk_wake_async(peer, SOCK_WAKE_WAITD, POLL_IN);
}

static void shut_pair(struct speed_pair *pair, int end, int how)
{
	if (how & SEND_SHUTDOWN)
		speed_lease_drop_killable(speed_pair_ring(pair, end, SPEED_ROLE_TX),
					  SPEED_ROLE_TX);
	if (how & RCV_SHUTDOWN)
		speed_lease_drop_killable(speed_pair_ring(pair, end, SPEED_ROLE_RX),
					  SPEED_ROLE_RX);
	shut(pair->sk[!end], mirror(how));
	/* A mapped peer that has seen the end of what we sent cannot send. */
	if (how & RCV_SHUTDOWN)
		speed_ring_flag(&pair->ring[!end], SPEED_CLOSED);
	if (how & SEND_SHUTDOWN)
		speed_ring_flag(&pair->ring[end], SPEED_CLOSED);
	tell_peer(pair->sk[!end], mirror(how));
}

/**
 * speed_shutdown_how() - shutdown()
 * @sk: the socket
 * @how: RCV_SHUTDOWN, SEND_SHUTDOWN or both
 *
 * Context: process.
 * Return: 0.
 */
int speed_shutdown_how(struct sock *sk, int how)
{
	struct speed_pair *pair;

	/* Of a listener: who is being queued comes before it, or not at all. */
	spin_lock(&speed_sk(sk)->queue_lock);
	shut(sk, how);
	spin_unlock(&speed_sk(sk)->queue_lock);
	sk->sk_state_change(sk);
	wake_up_interruptible_all(&speed_sk(sk)->room);
	pair = speed_sk_pair(sk);	/* who connects after this finds it shut */
	if (pair)
		shut_pair(pair, speed_sk(sk)->end, how);
	return 0;
}

/**
 * speed_tell_closed() - an endpoint's peer was closed
 * @pair: the pair
 * @end: the endpoint
 * @lost: whether bytes that it sent will never be read, or it was never accepted
 *
 * The error comes once, and with it the end: speed_sock_error().
 *
 * Context: any but interrupt; takes the endpoint's queue_lock.
 */
void speed_tell_closed(struct speed_pair *pair, int end, bool lost)
{
	struct sock *sk = pair->sk[end];

	spin_lock(&speed_sk(sk)->queue_lock);
	if (lost && !speed_sk(sk)->told && !READ_ONCE(pair->broken)) {
		speed_sk(sk)->told = true;
		WRITE_ONCE(sk->sk_err, ECONNRESET);
	}
	shut(sk, SHUTDOWN_MASK);
	spin_unlock(&speed_sk(sk)->queue_lock);
}

/**
 * speed_disconnect_pair() - an endpoint is closed
 * @sk: the endpoint
 * @embryo: whether it was never accepted
 *
 * The peer gets end-of-file after what was sent, or ECONNRESET where bytes
 * were never read.
 *
 * Context: process; the socket has no user left.
 */
void speed_disconnect_pair(struct sock *sk, bool embryo)
{
	struct speed_pair *pair = speed_sk(sk)->pair;
	int end = speed_sk(sk)->end;
	u64 lost;

	if (!pair) {
		sock_orphan(sk);
		return;
	}
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	speed_lease_leave(pair, end);
	WRITE_ONCE(pair->closed[end], true);
	/* Then what was sent is counted; who is in the middle of it looks here (E). */
	smp_mb();
	/* What a mapped peer publishes from here on it has to say again, and cannot. */
	if (!speed_ring_at_home(&pair->ring[!end]))
		speed_lease_try_drop(&pair->ring[!end], SPEED_ROLE_TX);
	lost = speed_ring_unread(&pair->ring[!end]);
	/* Who sleeps may be woken for another reason at any time. */
	speed_tell_closed(pair, !end, lost || embryo);
	trace_speed_close(pair->id, end, lost);
	/* From here on the reaper takes what was never read. */
	sock_orphan(sk);
	shut_pair(pair, end, SHUTDOWN_MASK);
	speed_lease_unmap(pair, end);
	speed_pair_put(pair);
}
