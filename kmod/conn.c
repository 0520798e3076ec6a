// SPDX-License-Identifier: GPL-2.0
/*
 * Connecting. There is no handshake: connect() makes the other endpoint, joins
 * the two and puts it into the listener's queue; accept() takes it out.
 *
 * The connecting socket is locked (lock_sock), the listener is not: its
 * queue_lock covers its queue and its leaving the listening state, so that
 * nothing is put into the queue of a socket that goes.
 */
#include <linux/sched/signal.h>
#include <net/sock.h>

#include "addr.h"
#include "charge.h"
#include "conn.h"
#include "family.h"
#include "pair.h"
#include "peercred.h"
#include "trace.h"

static bool queue_full(const struct sock *listener)
{
	return READ_ONCE(speed_sk(listener)->queued) > READ_ONCE(listener->sk_max_ack_backlog);
}

/* Return: 0, or -EAGAIN where the queue is full, or why there is no way. */
static int may_queue(struct sock *sk, struct sock *listener)
{
	if (listener->sk_state != TCP_LISTEN || (listener->sk_shutdown & RCV_SHUTDOWN))
		return -ECONNREFUSED;
	if (listener->sk_type != sk->sk_type)
		return -EPROTOTYPE;
	return queue_full(listener) ? -EAGAIN : 0;
}

static struct sock *payer(const struct speed_ring *ring)
{
	return ring->reader_pays ? speed_ring_reader(ring) : speed_ring_writer(ring);
}

static int charge_payer(struct speed_ring *ring, size_t bytes)
{
	return speed_charge(payer(ring), bytes);
}

static void uncharge_payer(struct speed_ring *ring, size_t bytes)
{
	speed_uncharge(payer(ring), bytes);
}

static struct speed_user *user_of(struct speed_pair *pair, int end)
{
	return speed_sk(pair->sk[end])->user;
}

static const struct speed_door speed_door = {
	.charge		= charge_payer,
	.uncharge	= uncharge_payer,
	.user		= user_of,
};

/* From here on both are connected; nothing may fail any more. */
static void join(struct speed_pair *pair)
{
	int end;

	for (end = 1; end >= 0; end--) {
		struct sock *sk = pair->sk[end];

		speed_sk(sk)->end = end;
		WRITE_ONCE(sk->sk_state, TCP_ESTABLISHED);
		smp_store_release(&speed_sk(sk)->pair, pair);	/* speed_sk_pair() */
	}
}

/* A pair that nobody ever saw. */
static void pair_discard(struct speed_pair *pair)
{
	speed_pair_put(pair);
	speed_pair_put(pair);
}

static int enqueue(struct sock *sk, struct sock *listener, struct sock *child,
		   struct speed_pair *pair)
{
	struct speed_sock *ls = speed_sk(listener);
	int err;

	spin_lock(&ls->queue_lock);
	err = may_queue(sk, listener);
	if (!err) {
		join(pair);
		list_add_tail(&speed_sk(child)->queue_node, &ls->queue);
		WRITE_ONCE(ls->queued, ls->queued + 1);
	}
	spin_unlock(&ls->queue_lock);
	return err;
}

static void inherit(struct sock *child, struct sock *listener)
{
	const int locks = SOCK_SNDBUF_LOCK | SOCK_RCVBUF_LOCK;

	speed_peercred_init(child);
	speed_sk(child)->addr = speed_addr_get(speed_sk(listener)->addr);
	child->sk_userlocks |= listener->sk_userlocks & locks;
	WRITE_ONCE(child->sk_sndbuf, READ_ONCE(listener->sk_sndbuf));
	WRITE_ONCE(child->sk_rcvbuf, READ_ONCE(listener->sk_rcvbuf));
}

static int connect_once(struct sock *sk, struct sock *listener)
{
	struct speed_pair *pair;
	struct sock *child;
	/* Who may not come in does not wait at the door either. */
	int err = speed_addr_permits(sk, speed_sk(listener)->addr) ?: may_queue(sk, listener);

	if (err)
		return err;
	child = speed_sock_new(sock_net(sk), NULL, sk->sk_type, 0, listener);
	if (IS_ERR(child))
		return PTR_ERR(child);
	inherit(child, listener);
	err = -ENOMEM;
	pair = speed_pair_new(&speed_door, sk, child, sk->sk_type);
	if (!pair)
		goto close;
	err = enqueue(sk, listener, child, pair);
	if (err)
		goto discard;
	speed_peercred_copy(sk, listener);
	trace_speed_connect(pair->id, speed_sk(listener)->addr->number);
	listener->sk_data_ready(listener);
	return 0;
discard:
	pair_discard(pair);
close:
	speed_sock_close(child, true);
	return err;
}

static bool may_wait(const struct sock *listener)
{
	return READ_ONCE(listener->sk_state) == TCP_LISTEN && queue_full(listener) &&
	       !(READ_ONCE(listener->sk_shutdown) & RCV_SHUTDOWN);
}

/* Who gives up may have been woken for a place that another can take. */
static void pass_on(struct sock *listener)
{
	wait_queue_head_t *room = &speed_sk(listener)->room;

	if (!queue_full(listener) && wq_has_sleeper(room))
		wake_up_interruptible(room);
}

/* The listener's queue is full: wait for a place, or for it to go. */
static int wait_for_room(struct sock *listener, long *timeo)
{
	DEFINE_WAIT(wait);

	wait_queue_head_t *room = &speed_sk(listener)->room;
	int err = 0;

	prepare_to_wait_exclusive(room, &wait, TASK_INTERRUPTIBLE);
	if (may_wait(listener) && *timeo && !signal_pending(current))
		*timeo = schedule_timeout(*timeo);
	finish_wait(room, &wait);
	if (signal_pending(current))
		err = sock_intr_errno(*timeo);
	else if (!*timeo)
		err = -EAGAIN;
	if (err)
		pass_on(listener);
	return err;
}

static int state_error(const struct sock *sk)
{
	if (sk->sk_state == TCP_CLOSE && !speed_sk(sk)->pair)
		return 0;
	return sk->sk_state == TCP_ESTABLISHED ? -EISCONN : -EINVAL;
}

static int connect_locked(struct sock *sk, const struct speed_addr *to, long *timeo)
{
	struct sock *listener;
	int err;

	listener = speed_addr_find(sock_net(sk), to);
	if (!listener)
		return -ECONNREFUSED;
	err = state_error(sk) ?: connect_once(sk, listener);
	if (err == -EAGAIN && *timeo) {
		release_sock(sk);
		err = wait_for_room(listener, timeo);
		lock_sock(sk);
		if (!err)
			err = -ERESTART;
	} else if (err) {
		pass_on(listener);
	}
	sock_put(listener);
	return err;
}

/**
 * speed_connect_to() - connect() to a listener, or the sendto() that implies it
 * @sock: the socket
 * @addr: struct speed_sockaddr
 * @len: its length
 * @nowait: whether a full queue is -EAGAIN at once
 *
 * Context: process; locks the socket.
 * Return: 0 or the error.
 */
int speed_connect_to(struct socket *sock, const void *addr, int len, bool nowait)
{
	struct sock *sk = sock->sk;
	long timeo = sock_sndtimeo(sk, nowait);
	struct speed_addr to;
	int err = speed_addr_parse(addr, len, &to);

	if (err)
		return err;
	if (!to.number && !to.len)
		return -EINVAL;
	lock_sock(sk);
	do {
		err = connect_locked(sk, &to, &timeo);
	} while (err == -ERESTART);
	if (!err)
		sock->state = SS_CONNECTED;
	release_sock(sk);
	return err;
}

/**
 * speed_socketpair() - socketpair()
 * @a: endpoint 0, fresh
 * @b: endpoint 1, fresh
 *
 * Return: 0 or -ENOMEM.
 */
int speed_socketpair(struct socket *a, struct socket *b)
{
	struct speed_pair *pair = speed_pair_new(&speed_door, a->sk, b->sk, a->type);

	if (!pair)
		return -ENOMEM;
	speed_peercred_init(a->sk);
	speed_peercred_init(b->sk);
	join(pair);
	a->state = SS_CONNECTED;
	b->state = SS_CONNECTED;
	return 0;
}
