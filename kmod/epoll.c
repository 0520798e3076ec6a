// SPDX-License-Identifier: GPL-2.0
/*
 * Where an epoll set alone waits for data, one wake-up is enough until the set has
 * asked again.
 *
 * An epoll set stays in the wait queue, and speed_wake_mapped_data() leaves
 * NEED_DATA set for it: a mapped publisher enters the kernel each time. But a
 * wake-up puts the socket on the set's ready list and wakes who sleeps in
 * epoll_wait(); nobody goes to sleep there while there is something on that list,
 * and nothing is taken from it without poll() being called. So the flag may stay
 * clear from the wake-up on if poll() sets it, whatever poll() finds: a program that
 * looks at its mapped rings itself, and asks epoll_wait() when they are empty, costs
 * its peers no system call. (Of several processes in epoll_wait() on a set, one that
 * is killed just when it was woken asks no more: the others hear of what came with
 * the next look of any of them.)
 *
 * The kernel tells nobody what an entry of a wait queue is. SPEED_IOC_EPOLL says
 * that the only one there is an epoll set's, and is believed where a set has the file
 * (f_ep); its function is remembered, by which sets' entries are known from then on.
 * Other waiters have others, and while there are any the flag stays set. A lie harms
 * those who share the socket with the liar, who could as well take their bytes.
 *
 * A program that takes a socket out of its set and puts it in again for each message
 * would have the flag set each time. So a set that joins a claimed ring's queue to hear of
 * data, and is alone there, is told that there is some: it has the socket on its ready list
 * then, asks before it sleeps, and tells nobody what it was told now. Who else joins is
 * woken at once: he looks once more, and sets the flag. A set that has no memory to join is
 * not in the queue, and another may be, asleep; so the queue has to be empty before, and
 * nobody may have asked since.
 */
#include <linux/fs.h>
#include <linux/wait.h>
#include <net/sock.h>

#include "epoll.h"
#include "ring.h"
#include "wait.h"

/* Return: the function of who is alone in the queue of a ring's reader, or NULL. */
static wait_queue_func_t only_func(struct speed_ring *ring)
{
	wait_queue_func_t func = NULL;
	struct socket_wq *wq;
	unsigned long flags;

	rcu_read_lock();
	wq = rcu_dereference(speed_ring_reader(ring)->sk_wq);
	if (wq) {
		spin_lock_irqsave(&wq->wait.lock, flags);
		if (list_is_singular(&wq->wait.head) && !wq->fasync_list)
			func = list_first_entry(&wq->wait.head, struct wait_queue_entry,
						entry)->func;
		spin_unlock_irqrestore(&wq->wait.lock, flags);
	}
	rcu_read_unlock();
	return func;
}

/* Does an epoll set have the file? Looked at after the queue: a set leaves that first. */
static bool in_a_set(const struct file *file)
{
#ifdef CONFIG_EPOLL
	return READ_ONCE(file->f_ep);
#else
	return false;
#endif
}

/**
 * speed_epoll_claim() - SPEED_IOC_EPOLL
 * @ring: the ring whose reader's queue it is about
 * @file: the reader's
 *
 * Context: process.
 * Return: 0, or -EBUSY where not exactly one waits, or that is no epoll set.
 */
int speed_epoll_claim(struct speed_ring *ring, const struct file *file)
{
	wait_queue_func_t func = only_func(ring);

	if (!func || !in_a_set(file))
		return -EBUSY;
	WRITE_ONCE(ring->epoll_func, func);
	return 0;
}

/**
 * speed_epoll_alone() - will who is woken ask before it sleeps?
 * @ring: the ring
 *
 * NEED_DATA was cleared before: who joins the queue later sets it.
 *
 * Context: any.
 * Return: whether an epoll set is alone in the queue.
 */
bool speed_epoll_alone(struct speed_ring *ring)
{
	wait_queue_func_t func = READ_ONCE(ring->epoll_func);

	return func && only_func(ring) == func;
}

static bool joins(const poll_table *wait)
{
	return wait && wait->_qproc;
}

static bool joins_for_data(const poll_table *wait)
{
	return joins(wait) && (poll_requested_events(wait) & (EPOLLIN | EPOLLRDNORM));
}

/**
 * speed_poll_begin() - poll(): before who asks joins the queue
 * @ring: the ring that is to be read
 * @wait: wait table, or NULL
 *
 * Context: process.
 * Return: for speed_poll_flag(): 0, or one more than how often was asked, where who joins
 * will be the first.
 */
u64 speed_poll_begin(struct speed_ring *ring, const poll_table *wait)
{
	struct socket_wq *wq;
	u64 ticket;

	if (likely(!READ_ONCE(ring->epoll_func)) || !joins_for_data(wait))
		return 0;
	ticket = (u32)atomic_read_acquire(&ring->pair->asks) + 1ull;
	rcu_read_lock();
	wq = rcu_dereference(speed_ring_reader(ring)->sk_wq);
	/* After the count: who has been counted is in the queue. */
	if (!wq || waitqueue_active(&wq->wait))
		ticket = 0;
	rcu_read_unlock();
	return ticket;
}

/* Who is alone in the queue is who has just joined: it is a set, and is told so. */
static bool told(struct speed_ring *ring, const struct file *file, u64 ticket)
{
	if (!ticket)
		return false;
	/* Set by poll() itself; then the look: who asks sets it after he has said so. */
	speed_ring_unflag(ring, SPEED_NEED_DATA);
	return speed_epoll_alone(ring) && in_a_set(file) &&
	       (u32)atomic_read(&ring->pair->asks) + 1ull == ticket;
}

/**
 * speed_poll_flag() - poll(): who waits shall hear of what comes next
 * @ring: the ring that is to be read
 * @file: the reader's
 * @wait: wait table, which has been queued, or NULL
 * @ticket: of speed_poll_begin() for this ring, or 0
 *
 * The flag is set for who joins the queue, whatever there is: it may stay there while
 * a mapped reader drains the ring. Of a claimed ring it is set for who asks, too; so who
 * joins for something else will have it set when that changes.
 *
 * Context: process.
 * Return: what else to say that there is.
 */
__poll_t speed_poll_flag(struct speed_ring *ring, const struct file *file,
			 const poll_table *wait, u64 ticket)
{
	bool claimed = READ_ONCE(ring->epoll_func);

	if (unlikely(claimed && joins(wait))) {
		if (!joins_for_data(wait))
			return 0;
		if (likely(told(ring, file, ticket)))
			return EPOLLIN | EPOLLRDNORM;
		speed_wake_mapped_data(ring);
	} else if (claimed || joins(wait)) {
		if (claimed) {
			smp_mb__before_atomic();	/* he is in the queue, if anywhere */
			atomic_inc(&ring->pair->asks);
		}
		speed_need_data(ring);
	}
	return 0;
}
