// SPDX-License-Identifier: GPL-2.0
/*
 * ioctls: how much is there, and the slow path of mapped roles, which wakes the
 * peer and waits while the caller keeps its lease.
 */
#include <linux/compat.h>
#include <linux/file.h>
#include <linux/sockios.h>
#include <linux/uaccess.h>
#include <net/sock.h>

#include <asm/ioctls.h>

#include "epoll.h"
#include "family.h"
#include "lease.h"
#include "map.h"
#include "ring.h"
#include "rx.h"
#include "sockopt.h"
#include "wait.h"

#define WAKE_FLAGS	(SPEED_WAKE_READER | SPEED_WAKE_WRITER)
#define WAIT_FLAGS	(SPEED_WAIT_DATA | SPEED_WAIT_SPACE)
#define PAST_FLAGS	(SPEED_WAIT_MOVED | SPEED_WAIT_AGAIN)

static void wake(struct speed_pair *pair, int end, u32 flags)
{
	speed_pair_seen(pair, end);
	speed_lease_user(pair, end);	/* who holds a lease may have become another user */
	if (flags & SPEED_WAKE_READER)
		speed_wake_mapped_data(&pair->ring[end]);
	if (flags & SPEED_WAKE_WRITER)
		speed_wake_space(&pair->ring[!end]);
}

static bool is_mine(const struct speed_ring *ring, int role)
{
	return speed_pair_map(ring->pair, speed_role_end(ring, role)) &&
	       READ_ONCE(speed_term(ring, role)->mm) == current->mm;
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

/* What the limit @timeo leaves to a transfer. Jiffies. */
static long time_left(struct speed_term *term, u32 flags, long timeo)
{
	if (!(flags & SPEED_WAIT_AGAIN))
		WRITE_ONCE(term->waited, 0);
	if (timeo == MAX_SCHEDULE_TIMEOUT)
		return timeo;
	return timeo - min_t(unsigned long, timeo, READ_ONCE(term->waited));
}

/* Wait for a role that is leased to the caller, for at most @timeo jiffies. */
static int wait_mine(struct speed_ring *ring, const struct speed_wait *w, long timeo)
{
	int role = w->flags & SPEED_WAIT_DATA ? SPEED_ROLE_RX : SPEED_ROLE_TX;
	struct speed_term *term;
	long left, before;
	int err;

	if (!is_mine(ring, role))
		return -ESTALE;
	term = speed_term(ring, role);
	before = time_left(term, w->flags, timeo);
	left = before;
	err = role == SPEED_ROLE_RX ? wait_data(ring, w->want, &left)
				    : wait_space(ring, w->want, &left);
	WRITE_ONCE(term->waited, READ_ONCE(term->waited) + before - left);
	/* The plain call would begin anew. */
	if (err == -ENOBUFS && timeo && !left && w->flags & SPEED_WAIT_AGAIN)
		err = -EAGAIN;
	return err;
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

static int ioc_wait(struct socket *sock, struct speed_pair *pair, int end,
		    const void __user *arg)
{
	bool nowait = sock->file->f_flags & O_NONBLOCK;
	struct sock *sk = sock->sk;
	struct speed_ring *ring;
	struct speed_wait w;
	int err = 0;

	if (copy_from_user(&w, arg, sizeof(w)))
		return -EFAULT;
	ring = &pair->ring[w.flags & SPEED_WAIT_DATA ? !end : end];
	if (wait_valid(&w, speed_ring_size(ring)))
		return -EINVAL;
	wake(pair, end, w.flags);
	if (w.flags & SPEED_WAIT_DATA)
		err = wait_mine(ring, &w, sock_rcvtimeo(sk, nowait));
	else if (w.flags & SPEED_WAIT_SPACE)
		err = wait_mine(ring, &w, sock_sndtimeo(sk, nowait));
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

	if (arg != (unsigned long)pair->id || !is_mine(ring, SPEED_ROLE_RX))
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

/* Bytes to read, of a SOCK_SEQPACKET those of all messages. */
static int readable_bytes(struct sock *sk, struct speed_pair *pair)
{
	if (READ_ONCE(sk->sk_state) == TCP_LISTEN)
		return -EINVAL;
	if (!pair)
		return 0;
	if (sk->sk_type == SOCK_SEQPACKET)
		return speed_rx_payload(sk);
	return min_t(u64, speed_ring_fill(&pair->ring[!speed_sk(sk)->end]), INT_MAX);
}

/* Bytes that the peer has not read. */
static int unread_bytes(struct sock *sk, struct speed_pair *pair)
{
	if (READ_ONCE(sk->sk_state) == TCP_LISTEN)
		return -EINVAL;
	if (!pair)
		return 0;
	return min_t(u64, speed_ring_fill(&pair->ring[speed_sk(sk)->end]), INT_MAX);
}

static int put_count(int n, unsigned long arg)
{
	return n < 0 ? n : put_user(n, (int __user *)arg);
}

/**
 * speed_ioctl() - ioctl()
 * @sock: the socket
 * @cmd: what
 * @arg: its argument
 *
 * Return: 0 or the error; -ENOIOCTLCMD for what is not known here.
 */
int speed_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct sock *sk = sock->sk;
	struct speed_pair *pair = speed_sk_pair(sk);

	switch (cmd) {
	case SPEED_IOC_WAKE:
	case SPEED_IOC_WAIT:
	case SPEED_IOC_EPOLL:
		return speed_ioctl_mapped(sock, pair, speed_sk(sk)->end, cmd, arg);
	case SIOCINQ:
		return put_count(readable_bytes(sk, pair), arg);
	case SIOCOUTQ:
		return put_count(unread_bytes(sk, pair), arg);
	default:
		return -ENOIOCTLCMD;
	}
}

#ifdef CONFIG_COMPAT
/**
 * speed_compat_ioctl() - ioctl() of a 32-bit program
 * @sock: the socket
 * @cmd: what
 * @arg: its argument, a pointer but for SPEED_IOC_WAKE and SPEED_IOC_EPOLL
 *
 * Return: as speed_ioctl().
 */
int speed_compat_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	if (cmd != SPEED_IOC_WAKE && cmd != SPEED_IOC_EPOLL)
		arg = (unsigned long)compat_ptr(arg);
	return speed_ioctl(sock, cmd, arg);
}
#endif
