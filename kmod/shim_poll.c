// SPDX-License-Identifier: GPL-2.0
/*
 * poll(), select() and epoll on a TCP socket whose calls are ours.
 *
 * TCP's own poll() tells of everything, and asks for the ring's bytes by
 * sk_prot->sock_is_readable(). A program that polls does so several times a message,
 * and mostly of a connection that is established, of which no end is shut, nothing is
 * urgent and nothing failed: that is answered here, from the same fields. Nothing is
 * locked. Who waits is in the queue before the look, as in TCP's.
 *
 * Who waits for the edge in a queue stays there while a mapped reader drains the
 * ring, and looks no more: the flag that makes a mapped producer wake is set even
 * if there is something to read (epoll.c).
 */
#include <linux/poll.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "epoll.h"
#include "ring.h"
#include "shim.h"
#include "shim_proto.h"

/* What it reads from, or NULL. */
static inline struct speed_ring *ring_of(const struct shim *shim)
{
	struct speed_pair *pair = shim ? shim_pair(shim) : NULL;

	return pair ? shim_rx_ring(shim, pair) : NULL;
}

/* As shim_readable(), of one byte where nothing is urgent. */
static inline bool readable(struct sock *sk, struct speed_ring *ring)
{
	if (shim_tcp_unread(sk))
		return true;
	smp_rmb();	/* TCP's first: what came to the ring since is not behind it */
	if (speed_ring_live(ring))
		return likely(!READ_ONCE(ring->behind)) || shim_is_readable(sk);
	smp_rmb();	/* or they are TCP's since: shim_bring_reader() */
	return shim_tcp_unread(sk);
}

/* Nothing is queued, which is little enough but where the sysctl says that nothing is. */
static inline bool writable(const struct sock *sk)
{
	return (likely(!READ_ONCE(sk->sk_wmem_queued)) && tcp_notsent_lowat(tcp_sk(sk))) ||
	       __sk_stream_is_writeable(sk, 1);
}

/* Return: what there is, or 0 where TCP has more to tell or to do, or the ring is mapped. */
static inline __poll_t usual(struct sock *sk, struct speed_ring *ring)
{
	__poll_t mask = EPOLLOUT | EPOLLWRNORM;

	/*
	 * Who asks again, as io_uring, knows how often it was woken before it looks. Who
	 * maps the ring wakes all after it has moved.
	 */
	smp_rmb();
	if (unlikely(!speed_ring_at_home(ring)))
		return 0;
	if (unlikely(inet_sk_state_load(sk) != TCP_ESTABLISHED || READ_ONCE(sk->sk_shutdown) ||
		     READ_ONCE(tcp_sk(sk)->urg_data) || READ_ONCE(sk->sk_rcvlowat) != 1))
		return 0;
	if (readable(sk, ring))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (unlikely(!writable(sk)))
		return 0;
	if (unlikely(READ_ONCE(sk->sk_err) || !skb_queue_empty_lockless(&sk->sk_error_queue)))
		return 0;
	return mask;
}

/* It may sleep when there is no memory, and then a shim may be left: shim_detach(). */
static void join_queue(struct shim *shim, struct file *file, struct socket *sock,
		       poll_table *wait)
{
	if (!speed_poll_joins(wait))
		return;
	if (shim)
		atomic_inc(&shim->calls);
	sock_poll_wait(file, sock, wait);
	if (shim)
		atomic_dec(&shim->calls);
}

/**
 * shim_poll() - what could be done without waiting
 * @file: the socket's
 * @sock: the socket
 * @wait: wait table, or NULL
 *
 * Context: process; takes no role's lock.
 * Return: the mask.
 */
__poll_t shim_poll(struct file *file, struct socket *sock, poll_table *wait)
{
	struct shim *shim = shim_of(sock->sk);
	struct speed_ring *before = ring_of(shim), *ring;
	u64 ticket = 0;
	__poll_t mask;

	if (before && unlikely(!speed_ring_at_home(before)))
		ticket = speed_poll_begin(before, wait);
	join_queue(shim, file, sock, wait);
	/* Anew: it may have slept. */
	ring = ring_of(shim_of(sock->sk));
	mask = likely(ring) ? usual(sock->sk, ring) : 0;
	if (likely(mask))
		return mask;
	mask = shim_tcp_of(sock->sk)->ops->poll(file, sock, NULL);	/* in the queue already */
	if (ring && !speed_ring_at_home(ring))
		mask |= speed_poll_flag(ring, file, wait, ring == before ? ticket : 0);
	return mask;
}
