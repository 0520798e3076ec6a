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
 *		hear of each publication. Only an empty queue leaves it clear,
 *		and one epoll set that asks again (epoll.c).
 *   NEED_SPACE	is set by who found too little space, and cleared by the wake-up:
 *		who is woken and still finds too little sets it again. It serves
 *		the kernel path, too, as SOCK_NOSPACE does elsewhere.
 */
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <net/sock.h>

#include "compat/compat.h"
#include "epoll.h"
#include "family.h"
#include "overflow.h"
#include "ring.h"
#include "tell.h"
#include "trace.h"
#include "wait.h"
#include "yield.h"

bool speed_has_waiters(struct sock *sk)
{
	struct socket_wq *wq;
	bool yes;

	smp_mb();					/* E */
	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	/* After the barrier above, which the caller's store came before. */
	yes = wq && (waitqueue_active(&wq->wait) || wq->fasync_list);
	rcu_read_unlock();
	return yes;
}

/**
 * speed_wake_data() - bytes were published, by the kernel path
 * @ring: the ring
 */
void speed_wake_data(struct speed_ring *ring)
{
	struct sock *sk = speed_ring_reader(ring);

	if (speed_has_waiters(sk)) {
		speed_pair_woken(ring->pair, !ring->end);
		trace_speed_wake(ring->pair->id, ring->end, SPEED_NEED_DATA);
		speed_tell_data(ring->pair, sk);
	}
}

/**
 * speed_wake_mapped_data() - bytes were published, by a mapped producer
 * @ring: the ring
 */
void speed_wake_mapped_data(struct speed_ring *ring)
{
	speed_ring_unflag(ring, SPEED_NEED_DATA);
	if (!speed_has_waiters(speed_ring_reader(ring)))
		return;
	if (!speed_epoll_alone(ring))
		speed_ring_flag(ring, SPEED_NEED_DATA);
	speed_wake_data(ring);
}

/* Worth waking a writer: half of what there is room for, as poll says. */
static bool space_enough(struct speed_ring *ring)
{
	return speed_ring_room(ring) >= speed_ring_limit(ring) / 2;
}

/* The flag was seen: somebody waits for space. See speed_wake_space(). */
void speed_wake_writer(struct speed_ring *ring)
{
	if (!space_enough(ring))
		return;
	speed_ring_unflag(ring, SPEED_NEED_SPACE);
	trace_speed_wake(ring->pair->id, ring->end, SPEED_NEED_SPACE);
	speed_tell_space(ring->pair, speed_ring_writer(ring));
}

/**
 * speed_wake_all() - everybody on both sides looks again
 * @pair: the pair
 */
void speed_wake_all(struct speed_pair *pair)
{
	speed_tell_all(pair, pair->sk[0]);
	speed_tell_all(pair, pair->sk[1]);
}

/* The ring alone has not enough. See speed_data_ready(). */
bool speed_data_or_end(struct speed_ring *ring, u64 want)
{
	struct sock *sk = speed_ring_reader(ring);

	return speed_ring_unread(ring) >= want || READ_ONCE(sk->sk_err) ||
	       (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN);
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

	/* The limit may have become less since the call began. */
	want = min(want, speed_ring_limit(ring));
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
	/* Before the look at where the ring lives, too: who moves it wakes us after. */
	smp_mb();					/* F */
	if (!speed_ring_at_home(ring))
		speed_ring_flag(ring, SPEED_NEED_DATA);
}

static void flag_space(struct speed_ring *ring)
{
	u64 half = speed_ring_limit(ring) / 2, size = speed_ring_size(ring);
	struct speed_ctl *ctl;

	rcu_read_lock();
	ctl = rcu_dereference(ring->ctl);
	WRITE_ONCE(ctl->kern->wake_free, size - min(size - 1, half));
	rcu_read_unlock();
	speed_ring_flag(ring, SPEED_NEED_SPACE);
}

/**
 * speed_need_space() - ask to be woken, or told by SIGIO, when there is space again
 * @ring: the ring
 *
 * What the caller looks at next is not older than the flag (F).
 */
void speed_need_space(struct speed_ring *ring)
{
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, speed_ring_writer(ring));
	flag_space(ring);
}

static bool ready(struct speed_ring *ring, u64 want, u32 need)
{
	return need == SPEED_NEED_DATA ? speed_data_ready(ring, want)
				       : speed_space_ready(ring, want);
}

static bool still_waiting(struct speed_ring *ring, u64 want, u32 need, long timeo,
			  struct speed_sleeper *sleeper)
{
	if (need == SPEED_NEED_DATA) {
		speed_need_data(ring);
	} else if (timeo || ring->pair->door->ring_alone) {
		/* As elsewhere who sleeps is not told by SIGIO; nor who goes on beyond. */
		sk_clear_bit(SOCKWQ_ASYNC_NOSPACE, speed_ring_writer(ring));
		flag_space(ring);
	} else {
		speed_need_space(ring);
	}
	return need == SPEED_NEED_DATA ? !speed_data_wakes(ring, want, sleeper)
				       : !speed_space_ready(ring, want);
}

static inline bool yield_first(struct speed_ring *ring, u64 want, u32 need, long *timeo)
{
	struct speed_pair *pair = ring->pair;
	int end = need == SPEED_NEED_DATA ? !ring->end : ring->end;
	unsigned long ticks;
	bool came;

	if (READ_ONCE(pair->cpu[!end]) != raw_smp_processor_id() + 1 ||
	    !speed_yield_may(&pair->shy[end]))
		return false;
	ticks = speed_yield(timeo);
	came = ready(ring, want, need);
	speed_yield_learn(&pair->shy[end], came && !ticks, SPEED_SHY_MAX);
	return came;
}

static noinline int wait_for(struct sock *sk, struct speed_ring *ring, u64 want, u32 need,
			     long *timeo)
{
	struct speed_sleeper sleeper;
	int err = 0;

	speed_sleeper_init(&sleeper);
	speed_pair_asleep(ring->pair, need == SPEED_NEED_DATA ? !ring->end : ring->end);
	trace_speed_sleep(ring->pair->id, ring->end, need);
	add_wait_queue(sk_sleep(sk), &sleeper.entry);
	while (still_waiting(ring, want, need, *timeo, &sleeper)) {
		if (!*timeo)
			err = -EAGAIN;
		else if (signal_pending(current))
			err = sock_intr_errno(*timeo);
		if (err)
			break;
		*timeo = wait_woken(&sleeper.entry, TASK_INTERRUPTIBLE, *timeo);
	}
	remove_wait_queue(sk_sleep(sk), &sleeper.entry);
	speed_pair_seen(ring->pair, need == SPEED_NEED_DATA ? !ring->end : ring->end);
	return err;
}

/**
 * speed_waits_no_more() - from now on SIGIO tells a reader of what comes
 * @sk: the reader
 * @tcp: TCP's bytes come by the same socket: it looks whether somebody waits with the
 *	socket locked, after it has woken who does
 *
 * Context: process; the socket is not locked.
 */
void speed_waits_no_more(struct sock *sk, bool tcp)
{
	if (likely(!sock_flag(sk, SOCK_FASYNC)))
		return;
	if (tcp)
		lock_sock(sk);
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	if (tcp)
		release_sock(sk);
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
	struct sock *sk = speed_ring_reader(ring);
	bool stream = sk->sk_type == SOCK_STREAM;
	int err = 0;

	/* As with other streams: who sleeps is not told by SIGIO as well. */
	if (stream)
		sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	/* Who wants more than a byte may wait for more than one send. */
	if (!*timeo || READ_ONCE(sk->sk_rcvlowat) > 1 ||
	    !yield_first(ring, want, SPEED_NEED_DATA, timeo))
		err = wait_for(sk, ring, want, SPEED_NEED_DATA, timeo);
	if (stream)
		speed_waits_no_more(sk, ring->pair->door->callbacks_locked);
	if (!stream || !err)
		return err;
	smp_mb();	/* who publishes looks after: no signal told of what came */
	return speed_data_ready(ring, want) ? 0 : err;
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
	if (*timeo && yield_first(ring, want, SPEED_NEED_SPACE, timeo))
		return 0;
	return wait_for(speed_ring_writer(ring), ring, want, SPEED_NEED_SPACE, timeo);
}
