// SPDX-License-Identifier: GPL-2.0
/*
 * splice() from a TCP socket whose calls are ours: TCP's bytes as TCP splices
 * them, the ring's copied. And the calls by which other parts of the kernel read
 * a socket: they get TCP's queue, to which all bytes are brought.
 */
#include <linux/fs.h>
#include <linux/pipe_fs_i.h>
#include <linux/sched/signal.h>
#include <net/sock.h>

#include "lease.h"
#include "ring.h"
#include "shim.h"
#include "shim_proto.h"
#include "shim_splice.h"
#include "shim_take.h"
#include "splice.h"

static ssize_t fill(struct sock *sk, struct msghdr *msg, size_t len)
{
	int off = READ_ONCE(sk->sk_peek_off);
	ssize_t n = shim_receive(sk, msg, len, MSG_DONTWAIT);

	/* As TCP, whose splice() takes bytes and leaves the place of the next peek. */
	if (unlikely(off > 0 && n > 0))
		cmpxchg(&sk->sk_peek_off, max_t(s32, off - n, 0), off);
	return n;
}

/* Of TCP's bytes as many as are next. Return: as TCP's. */
static ssize_t splice_tcp(struct shim *shim, struct socket *sock, loff_t *ppos,
			  struct pipe_inode_info *pipe, size_t len, unsigned int flags)
{
	struct speed_pair *pair = shim_alone_begin(shim);
	struct speed_ring *ring = pair ? shim_rx_ring(shim, pair) : NULL;
	ssize_t n = -EAGAIN;
	u32 next;

	if (ring && mutex_lock_killable(&ring->role[SPEED_ROLE_RX].lock))
		return -EINTR;
	if (ring)
		speed_role_enter(ring, SPEED_ROLE_RX);
	/* Given up while it was waited for: what there is now is another connection's. */
	if (ring && unlikely(shim_pair(shim) != pair)) {
		mutex_unlock(&ring->role[SPEED_ROLE_RX].lock);
		return -EPIPE;
	}
	next = shim_tcp_unread(shim->sk);
	smp_rmb();	/* these bytes of TCP come before what comes to the ring now */
	if (ring && speed_ring_live(ring))
		next = min(next, shim_tcp_before(ring, shim->sk));
	if (next)
		n = shim->base->ops->splice_read(sock, ppos, pipe, min_t(size_t, len, next), flags);
	if (ring)
		mutex_unlock(&ring->role[SPEED_ROLE_RX].lock);
	else
		shim_alone_end(shim);
	return n;
}

static ssize_t splice_some(struct shim *shim, struct socket *sock, loff_t *ppos,
			   struct pipe_inode_info *pipe, size_t len, unsigned int flags)
{
	if (shim_ring_first(shim))
		return speed_splice_copy(shim->sk, pipe, len, fill);
	return splice_tcp(shim, sock, ppos, pipe, len, flags);
}

static ssize_t splice_next(struct shim *shim, struct socket *sock, loff_t *ppos,
			   struct pipe_inode_info *pipe, size_t len, unsigned int flags)
{
	struct sock *sk = sock->sk;
	long timeo = sock_rcvtimeo(sk, sock->file->f_flags & O_NONBLOCK);
	u32 begun = shim_begun(shim);
	ssize_t n;

	for (;;) {
		bool end = shim_ended(sk);

		smp_rmb();	/* an end that is seen comes after all bytes */
		if (end && !shim_unread(shim)) {
			n = shim_ask_end(sk);
			if (n != -EAGAIN)
				return n;
		}
		n = splice_some(shim, sock, ppos, pipe, len, flags);
		/* Bytes that are there now may have come since, and are next time's. */
		if (n != -EAGAIN || !timeo ||
		    pipe_full(pipe->head, pipe->tail, pipe->max_usage))
			return n;
		n = shim_wait(shim, 1, begun, &timeo);
		if (n)
			return n;
		/* As TCP, whatever has come. */
		if (signal_pending(current))
			return sock_intr_errno(timeo);
	}
}

/**
 * shim_splice_read() - splice() from a socket into a pipe
 * @sock: the socket
 * @ppos: must be zero
 * @pipe: where to
 * @len: bytes wanted
 * @flags: SPLICE_F_*
 *
 * Context: process; the pipe is locked.
 * Return: bytes, 0 at the end, or TCP's error.
 */
ssize_t shim_splice_read(struct socket *sock, loff_t *ppos, struct pipe_inode_info *pipe,
			 size_t len, unsigned int flags)
{
	struct shim *shim = shim_of(sock->sk);
	ssize_t n;

	if (!shim)
		return shim_tcp_of(sock->sk)->ops->splice_read(sock, ppos, pipe, len, flags);
	atomic_inc(&shim->calls);
	if (unlikely(*ppos) || !len)
		n = shim->base->ops->splice_read(sock, ppos, pipe, len, flags);
	else
		n = splice_next(shim, sock, ppos, pipe, len, flags);
	atomic_dec(&shim->calls);
	return n;
}

/*
 * The socket is locked: who would have to wait for a lock comes again, and who is in softirq,
 * where nothing can be brought, too.
 */
static bool brought_home(struct sock *sk)
{
	struct shim *shim = shim_of(sk);

	return !shim || (sock_owned_by_user(sk) &&
			 !shim_bring_home_locked(shim, SPEED_TCP_KERNEL));
}

int shim_read_sock(struct sock *sk, read_descriptor_t *desc, sk_read_actor_t actor)
{
	if (brought_home(sk))
		return shim_tcp_of(sk)->ops->read_sock(sk, desc, actor);
	/*
	 * A parser of streams comes again by itself, from a work queue: not at once, where
	 * the other end may hold it up.
	 */
	if (sock_owned_by_user(sk))
		schedule_timeout_uninterruptible(1);
	desc->error = -ENOMEM;
	return 0;
}

int shim_read_skb(struct sock *sk, skb_read_actor_t actor)
{
	return brought_home(sk) ? shim_tcp_of(sk)->ops->read_skb(sk, actor) : 0;
}

int shim_peek_len(struct socket *sock)
{
	struct shim *shim = shim_of(sock->sk);

	if (!shim)
		return shim_tcp_of(sock->sk)->ops->peek_len(sock);
	return min_t(u64, shim_inq(shim), INT_MAX);
}
