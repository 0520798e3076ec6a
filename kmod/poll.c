// SPDX-License-Identifier: GPL-2.0
/*
 * poll(), select() and epoll. Before anything is reported as not ready the flag
 * is set that makes a mapped peer wake us, and then the ring is looked at again
 * (F), with a wait table or without: epoll looks again without one.
 *
 * Who joins the wait queue has the flags set even if all is ready: an
 * edge-triggered waiter that is added to a ring with bytes in it stays there
 * while a mapped consumer drains it, and never asks again.
 */
#include <net/sock.h>

#include "accept.h"
#include "epoll.h"
#include "family.h"
#include "overflow.h"
#include "poll.h"
#include "ring.h"
#include "wait.h"

#define POLL_READABLE	(EPOLLIN | EPOLLRDNORM)
#define POLL_WRITABLE	(EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND)

static bool readable(struct speed_ring *ring)
{
	return speed_ring_unread(ring);
}

/* Half of the room, as a writer that sleeps is woken at. */
static bool writable(struct speed_ring *ring)
{
	return speed_ring_room(ring) >= speed_ring_limit(ring) / 2;
}

static __poll_t poll_readable(struct speed_ring *ring)
{
	if (!readable(ring)) {
		speed_need_data(ring);
		if (!readable(ring))
			return 0;
	}
	return POLL_READABLE;
}

static __poll_t poll_writable(struct speed_ring *ring)
{
	if (!writable(ring)) {
		speed_need_space(ring);
		if (!writable(ring))
			return 0;
	}
	return POLL_WRITABLE;
}

static __poll_t poll_ends(const struct sock *sk)
{
	u8 shutdown = READ_ONCE(sk->sk_shutdown);
	__poll_t mask = 0;

	smp_rmb();	/* an error that is there is seen with the end that comes after it */
	if (READ_ONCE(sk->sk_err))
		mask |= EPOLLERR;
	if (shutdown == SHUTDOWN_MASK)
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLRDHUP | POLL_READABLE;
	if (shutdown & SEND_SHUTDOWN)
		mask |= POLL_WRITABLE;
	return mask;
}

/**
 * speed_release_cb() - somebody releases the socket's lock
 * @sk: the socket
 *
 * He may have asked for signals, and wants one for the next byte.
 *
 * Context: atomic, with the lock's spinlock.
 */
void speed_release_cb(struct sock *sk)
{
	struct speed_pair *pair = speed_sk_pair(sk);

	if (unlikely(sock_flag(sk, SOCK_FASYNC)) && pair)
		speed_need_data(&pair->ring[!speed_sk(sk)->end]);
}

/**
 * speed_poll() - what could be done without waiting
 * @file: the socket's
 * @sock: the socket
 * @wait: wait table, or NULL
 *
 * Context: process; takes no role's lock.
 * Return: the mask.
 */
__poll_t speed_poll(struct file *file, struct socket *sock, poll_table *wait)
{
	struct sock *sk = sock->sk;
	struct speed_pair *pair = speed_sk_pair(sk);
	u64 ticket = 0;
	__poll_t mask;
	u8 end;

	if (pair)
		ticket = speed_poll_begin(&pair->ring[!speed_sk(sk)->end], wait);
	sock_poll_wait(file, sock, wait);
	mask = poll_ends(sk);
	if (READ_ONCE(sk->sk_state) == TCP_LISTEN)
		return (mask & ~POLL_WRITABLE) | (speed_queue_empty(sk) ? 0 : POLL_READABLE);
	if (!pair)
		return mask | POLL_WRITABLE | EPOLLHUP;
	end = speed_sk(sk)->end;
	if (speed_poll_joins(wait))
		speed_need_space(&pair->ring[end]);
	if (!(mask & EPOLLIN))
		mask |= poll_readable(&pair->ring[!end]);
	if (!(mask & EPOLLOUT))
		mask |= poll_writable(&pair->ring[end]);
	return mask | speed_poll_flag(&pair->ring[!end], file, wait, ticket);
}
