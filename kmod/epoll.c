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
 * that the only one there is an epoll set's; it is remembered with its function, for
 * memory is used again. Other waiters have others, and while there are any the flag
 * stays set. A lie harms those who share the socket with the liar, who could as well
 * take their bytes.
 */
#include <linux/wait.h>
#include <net/sock.h>

#include "epoll.h"
#include "wait.h"

/* The queue's lock is held. */
static struct wait_queue_entry *only_waiter(struct socket_wq *wq)
{
	if (!list_is_singular(&wq->wait.head) || wq->fasync_list)
		return NULL;
	return list_first_entry(&wq->wait.head, struct wait_queue_entry, entry);
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
	struct wait_queue_entry *only = NULL;
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(speed_ring_reader(ring)->sk_wq);
	if (wq) {
		spin_lock_irq(&wq->wait.lock);
		only = only_waiter(wq);
		if (only) {
			WRITE_ONCE(ring->epoll_func, only->func);
			WRITE_ONCE(ring->epoll, only);
		}
		spin_unlock_irq(&wq->wait.lock);
	}
	rcu_read_unlock();
	return only ? 0 : -EBUSY;
}

/**
 * speed_epoll_alone() - will who is woken ask before it sleeps?
 * @ring: the ring
 *
 * NEED_DATA was cleared before: who joins the queue later sets it.
 *
 * Context: any.
 * Return: whether the one that speed_epoll_claim() found is alone in the queue.
 */
bool speed_epoll_alone(struct speed_ring *ring)
{
	struct wait_queue_entry *only;
	struct socket_wq *wq;
	unsigned long flags;
	bool yes = false;

	if (!READ_ONCE(ring->epoll))
		return false;
	rcu_read_lock();
	wq = rcu_dereference(speed_ring_reader(ring)->sk_wq);
	if (wq) {
		spin_lock_irqsave(&wq->wait.lock, flags);
		only = only_waiter(wq);
		yes = only && only == ring->epoll && only->func == ring->epoll_func;
		spin_unlock_irqrestore(&wq->wait.lock, flags);
	}
	rcu_read_unlock();
	return yes;
}
