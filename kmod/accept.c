// SPDX-License-Identifier: GPL-2.0
/*
 * Listening and accepting. queue_lock covers the queue of endpoints that nobody
 * has accepted yet, and the listener's leaving that state.
 */
#include <linux/sched/signal.h>
#include <net/sock.h>

#include "accept.h"
#include "addr.h"
#include "family.h"
#include "pair.h"
#include "peercred.h"
#include "trace.h"

/**
 * speed_listen() - listen() on a bound socket
 * @sock: the socket
 * @backlog: connections that may wait for accept(), and one more
 *
 * Return: 0 or -EINVAL.
 */
int speed_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	int err = -EINVAL;

	lock_sock(sk);
	if (!speed_sk(sk)->addr ||
	    (sk->sk_state != TCP_CLOSE && sk->sk_state != TCP_LISTEN))
		goto unlock;
	speed_peercred_init(sk);
	WRITE_ONCE(sk->sk_max_ack_backlog, backlog);
	WRITE_ONCE(sk->sk_state, TCP_LISTEN);
	wake_up_interruptible_all(&speed_sk(sk)->room);
	err = 0;
unlock:
	release_sock(sk);
	return err;
}

static struct sock *dequeue(struct sock *listener)
{
	struct speed_sock *ls = speed_sk(listener);
	struct speed_sock *child;

	spin_lock(&ls->queue_lock);
	child = list_first_entry_or_null(&ls->queue, struct speed_sock, queue_node);
	if (child) {
		list_del_init(&child->queue_node);
		WRITE_ONCE(ls->queued, ls->queued - 1);
	}
	spin_unlock(&ls->queue_lock);
	return child ? &child->sk : NULL;
}

/* Return: the first of the queue, or an error. */
static struct sock *wait_for_child(struct sock *sk, long timeo)
{
	struct sock *child;
	DEFINE_WAIT(wait);
	int err = 0;

	for (;;) {
		prepare_to_wait_exclusive(sk_sleep(sk), &wait, TASK_INTERRUPTIBLE);
		child = dequeue(sk);
		if (child)
			break;
		if (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN)
			err = -EINVAL;
		else if (!timeo)
			err = -EAGAIN;
		else if (signal_pending(current))
			err = sock_intr_errno(timeo);
		if (err)
			break;
		timeo = schedule_timeout(timeo);
	}
	finish_wait(sk_sleep(sk), &wait);
	/* Who came before the end, or woke us and nobody else. */
	if (!child)
		child = dequeue(sk);
	return child ?: ERR_PTR(err);
}

/**
 * speed_accept_from() - accept()
 * @sock: the listener
 * @newsock: gets the accepted endpoint
 * @nowait: whether an empty queue is -EAGAIN at once
 *
 * Return: 0 or the error.
 */
int speed_accept_from(struct socket *sock, struct socket *newsock, bool nowait)
{
	struct sock *sk = sock->sk, *child;

	if (READ_ONCE(sk->sk_state) != TCP_LISTEN)
		return -EINVAL;
	child = dequeue(sk);
	if (!child)
		child = wait_for_child(sk, sock_rcvtimeo(sk, nowait));
	if (IS_ERR(child))
		return PTR_ERR(child);
	if (wq_has_sleeper(&speed_sk(sk)->room))
		wake_up_interruptible(&speed_sk(sk)->room);
	sock_graft(child, newsock);
	newsock->state = SS_CONNECTED;
	trace_speed_accept(speed_sk(child)->pair->id, speed_sk(child)->addr->number);
	return 0;
}

/**
 * speed_queue_empty() - would accept() find nobody?
 * @sk: a listener
 *
 * Return: whether the queue is empty.
 */
bool speed_queue_empty(struct sock *sk)
{
	return !READ_ONCE(speed_sk(sk)->queued);
}

/**
 * speed_queue_purge() - a listener goes: reset whom nobody accepted
 * @sk: the listener
 *
 * Context: may sleep.
 */
void speed_queue_purge(struct sock *sk)
{
	struct sock *child;

	spin_lock(&speed_sk(sk)->queue_lock);
	WRITE_ONCE(sk->sk_state, TCP_CLOSE);
	spin_unlock(&speed_sk(sk)->queue_lock);
	wake_up_interruptible_all(&speed_sk(sk)->room);
	while ((child = dequeue(sk))) {
		speed_sock_close(child, true);
		cond_resched();
	}
}
