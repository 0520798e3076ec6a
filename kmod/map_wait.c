// SPDX-License-Identifier: GPL-2.0
/*
 * The slow path of mapped roles: ioctls that wake the peer and wait while the caller
 * keeps its lease. No lock: whose a lease is, is compared without; its own transfers are
 * one at a time.
 */
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <net/sock.h>

#include "epoll.h"
#include "lease.h"
#include "map.h"
#include "ring.h"
#include "sockopt.h"
#include "wait.h"

#define WAKE_FLAGS	(SPEED_WAKE_READER | SPEED_WAKE_WRITER)
#define WAIT_FLAGS	(SPEED_WAIT_DATA | SPEED_WAIT_SPACE)
#define PAST_FLAGS	(SPEED_WAIT_MOVED | SPEED_WAIT_AGAIN)

static inline void wake(struct speed_pair *pair, int end, u32 flags)
{
	speed_pair_seen(pair, end);
	speed_lease_user(pair, end);	/* who holds a lease may have become another user */
	if (flags & SPEED_WAKE_READER)
		speed_wake_mapped_data(&pair->ring[end]);
	if (flags & SPEED_WAKE_WRITER)
		speed_wake_space(&pair->ring[!end]);
}

/* The role's lease, if it is the caller's, or NULL. */
static struct speed_term *mine(const struct speed_ring *ring, int role)
{
	struct speed_map *map = speed_pair_map(ring->pair, speed_role_end(ring, role));

	return map && READ_ONCE(map->term[role].mm) == current->mm ? &map->term[role] : NULL;
}

static int wait_data(struct speed_ring *ring, u64 want, long *timeo)
{
	const struct speed_door *door = ring->pair->door;

	return door->wait_data ? door->wait_data(ring, want, timeo)
			       : speed_wait_data(ring, want, timeo);
}

/* How long the ring has been full for its producer: signals restart the wait. Jiffies. */
static unsigned long full_for(struct speed_ring *ring)
{
	struct speed_term *term = speed_term(ring, SPEED_ROLE_TX);
	u64 at = speed_ring_index(ring, SPEED_ROLE_TX);

	if (READ_ONCE(term->full_at) != at) {
		WRITE_ONCE(term->full_at, at);
		WRITE_ONCE(term->full_since, jiffies);
	}
	return jiffies - READ_ONCE(term->full_since);
}

/* What the ring cannot take in a while goes beyond it, by the plain call. */
static int wait_patiently(struct speed_ring *ring, u64 want, long *timeo)
{
	unsigned long full = full_for(ring);
	long patience, left;
	int err;

	if (full >= SPEED_PATIENCE)
		return -ENOBUFS;
	patience = min_t(long, *timeo, SPEED_PATIENCE - full);
	left = patience;
	err = speed_wait_space(ring, want, &left);
	/* A signal means what it means to the call as a whole. */
	if (err == -EINTR)
		err = sock_intr_errno(*timeo);
	if (*timeo != MAX_SCHEDULE_TIMEOUT)
		*timeo -= patience - left;
	/* Given up meanwhile: the plain call would be another connection's. */
	if (READ_ONCE(ring->pair->closed[ring->end]))
		return -EPIPE;
	return err == -EAGAIN ? -ENOBUFS : err;
}

static int wait_space(struct speed_ring *ring, u64 want, long *timeo)
{
	if (speed_ring_live(ring) <= speed_ring_size(ring) - want)
		return 0;
	if (ring->pair->door->ring_alone)
		return wait_patiently(ring, want, timeo);
	if (speed_ring_limit(ring) > speed_ring_size(ring) && speed_ring_room(ring))
		return -ENOBUFS;
	return speed_wait_space(ring, want, timeo);
}

static int wait_role(struct speed_ring *ring, int role, u64 want, long *timeo)
{
	return role == SPEED_ROLE_RX ? wait_data(ring, want, timeo) : wait_space(ring, want, timeo);
}

/* What other waits of the transfer have left of @timeo counts. */
static int wait_limited(struct speed_ring *ring, struct speed_term *term,
			const struct speed_wait *w, int role, long timeo)
{
	long before = timeo - min_t(unsigned long, timeo, READ_ONCE(term->waited));
	long left = before;
	int err;

	err = wait_role(ring, role, w->want, &left);
	WRITE_ONCE(term->waited, READ_ONCE(term->waited) + before - left);
	/* The plain call would begin anew. */
	if (err == -ENOBUFS && timeo && !left && w->flags & SPEED_WAIT_AGAIN)
		err = -EAGAIN;
	return err;
}

/* Wait for a role that is leased to the caller, for at most @timeo jiffies. */
static int wait_mine(struct speed_ring *ring, const struct speed_wait *w, int role, long timeo)
{
	struct speed_term *term = mine(ring, role);

	if (!term)
		return -ESTALE;
	if (!(w->flags & SPEED_WAIT_AGAIN))
		WRITE_ONCE(term->waited, 0);
	if (timeo != MAX_SCHEDULE_TIMEOUT)
		return wait_limited(ring, term, w, role, timeo);
	return wait_role(ring, role, w->want, &timeo);
}

static int wait_valid(const struct speed_wait *w, u64 size)
{
	u32 how = w->flags & WAIT_FLAGS;

	if (w->flags & ~(WAKE_FLAGS | WAIT_FLAGS | PAST_FLAGS) || w->reserved ||
	    how == WAIT_FLAGS || (!how && w->flags & PAST_FLAGS))
		return -EINVAL;
	if (how ? !w->want || w->want > size : w->want)
		return -EINVAL;
	return 0;
}

/*
 * A transfer that has bytes to return is ended by a signal, not restarted. One that has
 * all it waits for is not ended at all, and who waits for any is restarted to find them.
 */
static int wait_ended(struct speed_ring *ring, const struct speed_wait *w, int err)
{
	bool data = w->flags & SPEED_WAIT_DATA;

	if (err != -ERESTARTSYS)
		return err;
	if (data && speed_data_ready(ring, w->want))
		return 0;
	if (w->flags & SPEED_WAIT_MOVED || (data && w->want > 1 && speed_ring_fill(ring)))
		return -EINTR;
	return err;
}

/* Return: 0 or -EFAULT. In line, for who waits often asks with each message. */
static inline int get_wait(struct speed_wait *w, const struct speed_wait __user *arg)
{
	if (!user_read_access_begin(arg, sizeof(*arg)))
		return -EFAULT;
	unsafe_get_user(w->flags, &arg->flags, fault);
	unsafe_get_user(w->reserved, &arg->reserved, fault);
	unsafe_get_user(w->want, &arg->want, fault);
	user_read_access_end();
	return 0;
fault:
	user_read_access_end();
	return -EFAULT;
}

static int ioc_wait(struct socket *sock, struct speed_pair *pair, int end,
		    const struct speed_wait __user *arg)
{
	bool nowait = sock->file->f_flags & O_NONBLOCK;
	struct sock *sk = sock->sk;
	struct speed_ring *ring;
	struct speed_wait w;
	int err = 0;

	if (get_wait(&w, arg))
		return -EFAULT;
	ring = &pair->ring[w.flags & SPEED_WAIT_DATA ? !end : end];
	if (wait_valid(&w, speed_ring_size(ring)))
		return -EINVAL;
	wake(pair, end, w.flags);
	if (w.flags & SPEED_WAIT_DATA)
		err = wait_mine(ring, &w, SPEED_ROLE_RX, sock_rcvtimeo(sk, nowait));
	else if (w.flags & SPEED_WAIT_SPACE)
		err = wait_mine(ring, &w, SPEED_ROLE_TX, sock_sndtimeo(sk, nowait));
	return wait_ended(ring, &w, err);
}

static int ioc_wake(struct speed_pair *pair, int end, unsigned long flags)
{
	if (flags & ~(unsigned long)WAKE_FLAGS)
		return -EINVAL;
	wake(pair, end, flags);
	return 0;
}

static int ioc_epoll(struct socket *sock, struct speed_pair *pair, int end, unsigned long arg)
{
	struct speed_ring *ring = &pair->ring[!end];

	if (arg != (unsigned long)pair->id || !mine(ring, SPEED_ROLE_RX))
		return -ESTALE;
	return speed_epoll_claim(ring, sock->file);
}

/**
 * speed_ioctl_mapped() - SPEED_IOC_WAKE, SPEED_IOC_WAIT and SPEED_IOC_EPOLL
 * @sock: the socket
 * @pair: its pair, or NULL
 * @end: which endpoint it is
 * @cmd: one of the three
 * @arg: its argument
 *
 * Return: 0 or the error.
 */
int speed_ioctl_mapped(struct socket *sock, struct speed_pair *pair, int end, unsigned int cmd,
		       unsigned long arg)
{
	if (!pair)
		return -ENOTCONN;
	switch (cmd) {
	case SPEED_IOC_WAKE:
		return ioc_wake(pair, end, arg);
	case SPEED_IOC_EPOLL:
		return ioc_epoll(sock, pair, end, arg);
	default:
		return ioc_wait(sock, pair, end, (void __user *)arg);
	}
}
