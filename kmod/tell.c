// SPDX-License-Identifier: GPL-2.0
/*
 * Telling those who sleep, poll or want signals on a socket.
 *
 * AF_SPEED's sockets have callbacks for that, the socket layer's own. A TCP socket's may
 * be another's by now: kTLS, and others in the kernel, read from the socket in theirs and
 * rely on it that the socket is locked, which whoever publishes cannot do to its peer's.
 * What is in a ring concerns none of them: they are never called, and the queue is woken
 * here, as the socket layer would.
 */
#include <net/sock.h>

#include "pair.h"
#include "tell.h"

static bool by_callback(const struct speed_pair *pair)
{
	return !pair->door->callbacks_locked;
}

/* Signals are for who does not wait in a call. */
static bool wants_signal(const struct socket_wq *wq)
{
	return !test_bit(SOCKWQ_ASYNC_WAITDATA, &wq->flags);
}

/**
 * speed_tell_data() - an endpoint has something to receive
 * @pair: its pair
 * @sk: the endpoint
 *
 * Context: any but hard interrupt.
 */
void speed_tell_data(const struct speed_pair *pair, struct sock *sk)
{
	struct socket_wq *wq;
	bool signal;

	if (by_callback(pair)) {
		sk->sk_data_ready(sk);
		return;
	}
	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (wq) {	/* the caller has looked whether somebody waits */
		/* Before who waits is woken, and waits no more: TCP has the socket locked. */
		signal = wants_signal(wq);
		wake_up_interruptible_sync_poll(&wq->wait, EPOLLIN | EPOLLPRI | EPOLLRDNORM |
						EPOLLRDBAND);
		if (signal)
			sk_wake_async(sk, SOCK_WAKE_WAITD, POLL_IN);
	}
	rcu_read_unlock();
}

/**
 * speed_tell_again() - who waits at an endpoint, or polls it, looks again
 * @sk: the endpoint
 *
 * Context: any but hard interrupt.
 */
void speed_tell_again(struct sock *sk)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_poll(&wq->wait, EPOLLIN | EPOLLRDNORM);
	rcu_read_unlock();
}

/**
 * speed_tell_space() - an endpoint has room to send
 * @pair: its pair
 * @sk: the endpoint
 *
 * Context: any but hard interrupt.
 */
void speed_tell_space(const struct speed_pair *pair, struct sock *sk)
{
	struct socket_wq *wq;

	if (by_callback(pair)) {
		sk->sk_write_space(sk);
		return;
	}
	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_poll(&wq->wait, EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND);
	if (!(READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN))
		sk_wake_async(sk, SOCK_WAKE_SPACE, POLL_OUT);
	rcu_read_unlock();
}

/**
 * speed_tell_all() - everybody looks again at an endpoint
 * @pair: its pair
 * @sk: the endpoint
 *
 * Context: any but hard interrupt.
 */
void speed_tell_all(const struct speed_pair *pair, struct sock *sk)
{
	struct socket_wq *wq;

	if (by_callback(pair)) {
		sk->sk_state_change(sk);
		return;
	}
	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_all(&wq->wait);
	rcu_read_unlock();
}
