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
 * that the only one there is an epoll set's; its function is remembered, by which
 * sets' entries are known from then on. Other waiters have others, and while there are
 * any the flag stays set. A lie harms those who share the socket with the liar, who
 * could as well take their bytes.
 *
 * A program that takes a socket out of its set and puts it in again for each message
 * would have the flag set each time. So a set that joins a claimed ring's queue to hear of
 * data is told that there is some: it has the socket on its ready list then, asks before
 * it sleeps, and tells nobody what it was told now. Who else joins is woken at once: he
 * looks once more, and sets the flag.
 */
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

/**
 * speed_epoll_claim() - SPEED_IOC_EPOLL
 * @ring: the ring whose reader's queue it is about
 *
 * Context: process.
 * Return: 0, or -EBUSY where not exactly one waits.
 */
int speed_epoll_claim(struct speed_ring *ring)
{
	wait_queue_func_t func = only_func(ring);

	if (!func)
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

/* A set that is alone in the queue has joined it, but for who joins without memory. */
static __poll_t joined_claimed(struct speed_ring *ring)
{
	speed_ring_unflag(ring, SPEED_NEED_DATA);
	if (likely(speed_epoll_alone(ring)))
		return EPOLLIN | EPOLLRDNORM;
	speed_wake_mapped_data(ring);
	return 0;
}

/**
 * speed_poll_flag() - poll(): who waits shall hear of what comes next
 * @ring: the ring that is to be read
 * @wait: wait table, which has been queued, or NULL
 *
 * The flag is set for who joins the queue, whatever there is: it may stay there while
 * a mapped reader drains the ring. Of a claimed ring it is set for who asks, too; so who
 * joins for something else will have it set when that changes.
 *
 * Context: process.
 * Return: what else to say that there is.
 */
__poll_t speed_poll_flag(struct speed_ring *ring, const poll_table *wait)
{
	bool joins = wait && wait->_qproc, claimed = READ_ONCE(ring->epoll_func);

	if (unlikely(claimed && joins)) {
		if (poll_requested_events(wait) & (EPOLLIN | EPOLLRDNORM))
			return joined_claimed(ring);
	} else if (claimed || joins) {
		speed_need_data(ring);
	}
	return 0;
}
