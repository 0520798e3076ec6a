// SPDX-License-Identifier: GPL-2.0
/*
 * Sleeping and waking. No lock but the wait queues'; the indices are looked at
 * under RCU. Everybody who waits on an endpoint, in recv, send, poll or epoll,
 * is in the queue of its struct sock.
 *
 * A kernel-path publisher wakes whoever is in the queue, as sockets do. A
 * mapped one enters the kernel only if a flag in the kernel page tells it to:
 *
 *   NEED_DATA	is set by who is about to sleep, after it joined the queue and
 *		before it looks at the indices for the last time. A wake-up by a
 *		mapped publisher clears it, looks at the queue, and sets it
 *		again if somebody is there: edge-triggered, exclusive and
 *		multishot waiters stay in the queue, look no more, and are to
 *		hear of each publication. Only an empty queue leaves it clear.
 *   NEED_SPACE	is set by who found too little space, and cleared by the wake-up:
 *		who is woken and still finds too little sets it again. It serves
 *		the kernel path, too, as SOCK_NOSPACE does elsewhere.
 */
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <net/sock.h>

#include "family.h"
#include "pair.h"
#include "trace.h"
#include "wait.h"

/**
 * speed_wake_data() - bytes were published, by the kernel path
 * @ring: the ring
 *
 * The barrier (E) is in the look at the wait queue.
 */
void speed_wake_data(struct speed_ring *ring)
{
	struct sock *sk = speed_ring_reader(ring);

	READ_ONCE(sk->sk_data_ready)(sk);
}

static bool has_listeners(struct sock *sk)
{
	struct socket_wq *wq;
	bool yes;

	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	yes = wq && (waitqueue_active(&wq->wait) || wq->fasync_list);
	rcu_read_unlock();
	return yes;
}

static u32 flags_of(struct speed_ring *ring)
{
	u32 flags;

	rcu_read_lock();
	flags = READ_ONCE(rcu_dereference(ring->ctl)->kern->flags);
	rcu_read_unlock();
	return flags;
}

/**
 * speed_wake_mapped_data() - bytes were published, by a mapped producer
 * @ring: the ring
 */
void speed_wake_mapped_data(struct speed_ring *ring)
{
	speed_ring_unflag(ring, SPEED_NEED_DATA);
	if (!has_listeners(speed_ring_reader(ring)))
		return;
	speed_ring_flag(ring, SPEED_NEED_DATA);
	trace_speed_wake(ring->pair->id, ring->end, SPEED_NEED_DATA);
	speed_wake_data(ring);
}

/* Worth waking a writer: half of what there is room for, as poll says. */
static bool space_enough(struct speed_ring *ring)
{
	return speed_ring_room(ring) >= speed_ring_limit(ring) / 2;
}

/**
 * speed_wake_space() - bytes were released
 * @ring: the ring
 */
void speed_wake_space(struct speed_ring *ring)
{
	struct sock *sk;

	smp_mb();					/* E */
	if (!(flags_of(ring) & SPEED_NEED_SPACE) || !space_enough(ring))
		return;
	speed_ring_unflag(ring, SPEED_NEED_SPACE);
	sk = speed_ring_writer(ring);
	trace_speed_wake(ring->pair->id, ring->end, SPEED_NEED_SPACE);
	READ_ONCE(sk->sk_write_space)(sk);
}

/**
 * speed_wake_all() - everybody on both sides looks again
 * @pair: the pair
 */
void speed_wake_all(struct speed_pair *pair)
{
	pair->sk[0]->sk_state_change(pair->sk[0]);
	pair->sk[1]->sk_state_change(pair->sk[1]);
}

/**
 * speed_data_ready() - would a reader have something to do?
 * @ring: the ring
 * @want: bytes it waits for
 *
 * Return: whether there are bytes enough, an end, an error or a lie.
 */
bool speed_data_ready(struct speed_ring *ring, u64 want)
{
	struct sock *sk = speed_ring_reader(ring);
	u64 live = speed_ring_live(ring);

	return live > ring->size || live + READ_ONCE(ring->overflow_bytes) >= want ||
	       READ_ONCE(sk->sk_err) || (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN);
}

/**
 * speed_space_ready() - would a writer have something to do?
 * @ring: the ring
 * @want: bytes it waits for
 *
 * Return: whether there is space enough, an end, an error or a lie.
 */
bool speed_space_ready(struct speed_ring *ring, u64 want)
{
	struct sock *sk = speed_ring_writer(ring);

	return speed_ring_room(ring) >= want || READ_ONCE(sk->sk_err) ||
	       (READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN);
}

/**
 * speed_need_data() - ask mapped producers to wake us
 * @ring: the ring
 *
 * A ring that nobody maps needs no flag: before it is mapped all waiters are
 * made to look again. What the caller looks at next is not older than the flag,
 * or than its place in the wait queue (F).
 */
void speed_need_data(struct speed_ring *ring)
{
	bool shared;

	rcu_read_lock();
	shared = rcu_dereference(ring->ctl)->shared;
	rcu_read_unlock();
	if (shared)
		speed_ring_flag(ring, SPEED_NEED_DATA);
	else
		smp_mb();				/* F */
}

/**
 * speed_need_space() - ask to be woken when there is space again
 * @ring: the ring
 *
 * What the caller looks at next is not older than the flag (F).
 */
void speed_need_space(struct speed_ring *ring)
{
	u64 half = speed_ring_limit(ring) / 2;
	struct speed_ctl *ctl;

	rcu_read_lock();
	ctl = rcu_dereference(ring->ctl);
	WRITE_ONCE(ctl->kern->wake_free, ring->size - min(ring->size - 1, half));
	rcu_read_unlock();
	speed_ring_flag(ring, SPEED_NEED_SPACE);
}

static bool still_waiting(struct speed_ring *ring, u64 want, u32 need)
{
	if (need == SPEED_NEED_DATA) {
		speed_need_data(ring);
		return !speed_data_ready(ring, want);
	}
	speed_need_space(ring);
	return !speed_space_ready(ring, want);
}

static int wait_for(struct sock *sk, struct speed_ring *ring, u64 want, u32 need, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err = 0;

	trace_speed_sleep(ring->pair->id, ring->end, need);
	add_wait_queue(sk_sleep(sk), &wait);
	while (still_waiting(ring, want, need)) {
		if (!*timeo)
			err = -EAGAIN;
		else if (signal_pending(current))
			err = sock_intr_errno(*timeo);
		if (err)
			break;
		*timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, *timeo);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return err;
}

/**
 * speed_wait_data() - sleep until a reader has something to do
 * @ring: the ring
 * @want: bytes to wait for
 * @timeo: jiffies left, in and out
 *
 * Context: process; no role's lock may be held.
 * Return: 0, -EAGAIN when the time is over, or what a signal makes of it.
 */
int speed_wait_data(struct speed_ring *ring, u64 want, long *timeo)
{
	return wait_for(speed_ring_reader(ring), ring, want, SPEED_NEED_DATA, timeo);
}

/**
 * speed_wait_space() - sleep until a writer has something to do
 * @ring: the ring
 * @want: bytes to wait for
 * @timeo: jiffies left, in and out
 *
 * Context: process; no role's lock may be held.
 * Return: 0, -EAGAIN when the time is over, or what a signal makes of it.
 */
int speed_wait_space(struct speed_ring *ring, u64 want, long *timeo)
{
	return wait_for(speed_ring_writer(ring), ring, want, SPEED_NEED_SPACE, timeo);
}
