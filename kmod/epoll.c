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
 * data, and is alone there, is told that there is some, and the flag stays clear: it has the
 * socket on its ready list then, asks before it sleeps, and tells nobody what it was told
 * now. For who else joins the flag is set, as it is where nothing was claimed. A set that
 * has no memory to join is not in the queue, and another may be, asleep; so the queue has
 * to be empty before, and nobody may have polled since.
 */
#include <linux/fs.h>
#include <linux/wait.h>
#include <net/sock.h>

#include "epoll.h"
#include "ring.h"
#include "wait.h"

/*
 * Return: the function of who is alone in the queue of a ring's reader, or NULL. Threads,
 * poll() and io_uring leave something in their entries, a set does not.
 */
static wait_queue_func_t only_func(struct speed_ring *ring)
{
	wait_queue_func_t func = NULL;
	struct wait_queue_entry *only;
	struct socket_wq *wq;
	unsigned long flags;

	rcu_read_lock();
	wq = rcu_dereference(speed_ring_reader(ring)->sk_wq);
	if (wq) {
		spin_lock_irqsave(&wq->wait.lock, flags);
		only = list_first_entry_or_null(&wq->wait.head, struct wait_queue_entry, entry);
		if (only && list_is_singular(&wq->wait.head) && !only->private &&
		    !wq->fasync_list)
			func = only->func;
		spin_unlock_irqrestore(&wq->wait.lock, flags);
	}
	rcu_read_unlock();
	return func;
}

/* Does an epoll set have the file? */
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
	/* Whoever sees it sees who was in the queue: speed_poll_begin() */
	smp_store_release(&ring->epoll_func, func);
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

static bool joins_for_data(const poll_table *wait)
{
	return speed_poll_joins(wait) && (poll_requested_events(wait) & (EPOLLIN | EPOLLRDNORM));
}

/**
 * speed_poll_begin() - poll(): before who asks joins the queue, looks, or sets the flag
 * @ring: the ring that is to be read
 * @wait: wait table, or NULL
 *
 * Context: process.
 * Return: for speed_poll_flag(): 0, or what counts polls, plus one, where who joins will be
 * the first.
 */
u64 speed_poll_begin(struct speed_ring *ring, const poll_table *wait)
{
	u64 ticket;

	if (likely(!READ_ONCE(ring->epoll_func)))
		return 0;
	/* A full barrier: who has been counted before is in the queue, if anywhere. */
	ticket = (u32)atomic_inc_return(&ring->pair->polls) + 1ull;
	return joins_for_data(wait) && !speed_has_waiters(speed_ring_reader(ring)) ? ticket : 0;
}

/* Who is alone in the queue is who has just joined, and a set. */
static bool alone(struct speed_ring *ring, const struct file *file, u64 ticket)
{
	return speed_epoll_alone(ring) && in_a_set(file) &&
	       (u32)atomic_read(&ring->pair->polls) + 1ull == ticket;
}

/* Return: whether it is told that there is something; then the flag is clear. */
static bool told(struct speed_ring *ring, const struct file *file, u64 ticket)
{
	if (!ticket || !alone(ring, file, ticket))
		return false;
	/* poll() itself has set it; and so does another after he has been counted. */
	speed_ring_unflag(ring, SPEED_NEED_DATA);
	if (likely(alone(ring, file, ticket)))
		return true;
	/* What came while it was clear woke nobody. */
	speed_wake_mapped_data(ring);
	return false;
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

	if (unlikely(claimed && speed_poll_joins(wait))) {
		if (!joins_for_data(wait))
			return 0;
		if (likely(told(ring, file, ticket)))
			return EPOLLIN | EPOLLRDNORM;
	}
	if (claimed || speed_poll_joins(wait))
		speed_need_data(ring);
	return 0;
}
