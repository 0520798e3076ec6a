// SPDX-License-Identifier: GPL-2.0
/*
 * Telling those who sleep, poll or want signals on a socket.
 *
 * AF_SPEED's sockets have callbacks for that, the socket layer's own. A TCP socket's may
 * be another's by now: kTLS, and others in the kernel, read from the socket in theirs and
 * rely on it that the socket is locked, which whoever publishes cannot do to its peer's.
 * What is in a ring concerns none of them: they are never called, and the queue is woken
 * here, as the socket layer would.
 *
 * TCP's own readers take what there is whenever they are woken, and TCP wakes them for
 * something. Our other wake-ups must not make them take fewer than SO_RCVLOWAT bytes: it
 * tells nobody of the rest, which is fewer as well. So ours wake all tasks and the socket
 * layer's only those that may be interrupted, by which speed_woken() knows them apart;
 * of bytes in a ring a reader is told as by TCP.
 */
#include <net/sock.h>

#include "pair.h"
#include "tell.h"

static bool by_callback(const struct speed_pair *pair)
{
	return !pair->door->callbacks_locked;
}

/**
 * speed_woken() - how a struct speed_sleeper is woken
 * @entry: its entry
 * @mode: the states of tasks that are to wake
 * @sync: whether the waker is about to sleep
 * @key: what it tells pollers
 *
 * Return: as woken_wake_function(), of which TCP's own sleepers are told apart by this.
 */
int speed_woken(struct wait_queue_entry *entry, unsigned int mode, int sync, void *key)
{
	if (!(mode & TASK_UNINTERRUPTIBLE))
		WRITE_ONCE(container_of(entry, struct speed_sleeper, entry)->told, true);
	return woken_wake_function(entry, mode, sync, key);
}

/**
 * speed_told() - was a sleeper woken by its socket?
 * @sleeper: the caller
 * @sk: a TCP socket
 *
 * To be asked before the look. TCP's readers look with the socket locked, and it may wake
 * them before all that it wakes them for can be seen.
 *
 * Context: process; locks the socket.
 * Return: whether it was, since it asked last.
 */
bool speed_told(struct speed_sleeper *sleeper, struct sock *sk)
{
	if (!xchg(&sleeper->told, false))
		return false;
	lock_sock(sk);
	release_sock(sk);
	return true;
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
		wake_up_poll(&wq->wait, EPOLLIN | EPOLLRDNORM);
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
		wake_up_poll(&wq->wait, EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND);
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
		wake_up_all(&wq->wait);
	rcu_read_unlock();
}
