// SPDX-License-Identifier: GPL-2.0
/*
 * Sending on a TCP socket: into the ring, or by TCP.
 *
 * A call that the ring does not carry goes by TCP as it came, and the direction
 * with it; a later plain call moves it back. A full ring makes a blocking call
 * wait a little, since most readers read; who does not wait, or has waited in
 * vain, goes on by TCP, so that a connection takes as much unread as TCP does.
 *
 * sendmsg() of TCP may sleep: it is called with no lock, and counted, so that
 * nobody moves to the ring meanwhile.
 */
#include <linux/sched/signal.h>
#include <net/sock.h>

#include "copy.h"
#include "lease.h"
#include "pages.h"
#include "ring.h"
#include "shim.h"
#include "shim_proto.h"
#include "shim_send.h"
#include "tx.h"
#include "wait.h"

/* Of the call, and not taken from the socket. */
static bool calls_own(int err)
{
	return err == -EPIPE || err == -EAGAIN || err == -EINTR || err == -ERESTARTSYS ||
	       err == -EFAULT || err == -EINVAL || err == -ENOBUFS || err == -ENOMEM;
}

/*
 * Bytes by TCP whose failure is not this call's to tell: an error of the socket's, which TCP
 * has taken to tell, is the next call's. None where @pair has been given up.
 */
static int send_quietly(struct shim *shim, struct speed_pair *pair, struct msghdr *msg)
{
	struct sock *sk = shim->sk;
	int n = 0;

	msg->msg_flags |= MSG_NOSIGNAL;
	lock_sock(sk);
	if (!sk->sk_err && shim_pair(shim) == pair)
		n = tcp_sendmsg_locked(sk, msg, msg_data_left(msg));
	if (n < 0 && !calls_own(n) && !sk->sk_err)
		WRITE_ONCE(sk->sk_err, -n);
	release_sock(sk);
	return n;
}

/* What is left of a call that has @sent bytes to @pair, or the whole of one. */
static ssize_t send_tcp(struct shim *shim, struct speed_pair *pair, struct msghdr *msg,
			size_t sent)
{
	int n;

	if (sent)
		n = send_quietly(shim, pair, msg);
	else if (pair && unlikely(shim_pair(shim) != pair))	/* given up meanwhile */
		n = sk_stream_error(shim->sk, msg->msg_flags, -EPIPE);
	else
		n = shim->base->prot->sendmsg(shim->sk, msg, msg_data_left(msg));
	atomic_dec(&shim->inside);
	return n < 0 ? (ssize_t)sent ?: n : sent + n;
}

/* The reader may be waiting for more than TCP alone has. */
static void wake_for_sum(struct speed_ring *ring)
{
	if (speed_ring_live(ring))
		speed_wake_data(ring);
}

/**
 * shim_nobody_reads() - the other end closed while bytes were published
 * @shim: the producer's
 * @ring: its ring
 * @bytes: how many were
 *
 * It counted them and reset the connection, or it did not, and TCP resets it when it gets
 * bytes, whatever they are: the filler's, too. Or it read them all before it closed, while
 * the producer was held up: then there is nothing to reset.
 */
void shim_nobody_reads(struct shim *shim, struct speed_ring *ring, size_t bytes)
{
	struct mutex *lock = &ring->role[SPEED_ROLE_TX].lock;
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT };
	struct kvec vec;

	smp_rmb();	/* closed was seen: so is what was read before, see close_pair() */
	if (!speed_ring_live(ring))
		return;
	vec.iov_len = min_t(u64, bytes, speed_ring_size(ring));
	mutex_lock(lock);
	shim_unfuse(shim, ring, SPEED_TCP_SHUT);
	if (ring->buf) {
		vec.iov_base = ring->buf->addr;
		iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &vec, 1, vec.iov_len);
		send_quietly(shim, ring->pair, &msg);
	}
	mutex_unlock(lock);
}

/* Where TCP has room a message is never torn by another sender's; nor are those not long. */
static size_t whole(const struct speed_ring *ring, size_t len)
{
	return len <= speed_ring_size(ring) / 4 ? len : 1;
}

static bool no_buf(struct shim *shim, struct speed_ring *ring, size_t len)
{
	return !speed_buf_holds(ring->buf, ring->role[SPEED_ROLE_TX].side.own + len) &&
	       (shim->sk->sk_allocation != GFP_KERNEL ||
		speed_ring_need_buf(ring, SPEED_ROLE_TX, len));
}

/* Copy and publish one piece. The producer's lock is held. Return: as tx.c's. */
static ssize_t put_piece(struct shim *shim, struct speed_ring *ring, struct msghdr *msg, u64 least)
{
	struct speed_side *side = &ring->role[SPEED_ROLE_TX].side;
	size_t len = min_t(size_t, msg_data_left(msg), SPEED_PIECE);
	s64 room = speed_prod_free(side, max_t(u64, len, least));
	size_t n;

	if (unlikely(room < 0))
		return speed_pair_lie(ring, shim->sk);
	if ((u64)room < least)
		return 0;
	n = min_t(u64, len, room);
	if (no_buf(shim, ring, n))
		return -ENOBUFS;
	if (!speed_copy_in(speed_ring_span(side, 0), n, &msg->msg_iter))
		return speed_tx_fault(ring);
	speed_tx_publish(ring, n, n);
	return n;
}

/*
 * As much as fits. The producer's lock is held. Return: bytes, or the error;
 * @why says why not all, or is SPEED_TCP_FUSED.
 */
static ssize_t put_all(struct shim *shim, struct speed_ring *ring, struct msghdr *msg,
		       size_t least, u32 *why)
{
	size_t sent = 0;
	ssize_t n;

	while (msg_data_left(msg)) {
		*why = shim_why(ring);
		if (!*why && !ring->fused)
			*why = shim_fuse(shim, ring, msg_data_left(msg));
		if (*why)
			break;
		speed_role_enter(ring, SPEED_ROLE_TX);
		/* A lie that a lease left behind: TCP tells of it. */
		if (unlikely(READ_ONCE(ring->pair->broken))) {
			*why = SPEED_TCP_SHUT;
			break;
		}
		n = put_piece(shim, ring, msg, sent ? 1 : least);
		if (n < 0 && n != -ENOBUFS)
			return sent ?: n;
		if (n <= 0) {
			*why = n ? SPEED_TCP_MEMORY : SPEED_TCP_FULL;
			break;
		}
		sent += n;
		speed_wake_data(ring);
	}
	if (sent)
		WRITE_ONCE(ring->used, jiffies);
	return sent;
}

/* The ring is full: is there reason to wait, and was there space after it? @left: jiffies */
static bool space_came(struct speed_ring *ring, size_t least, long *left)
{
	long before = min_t(long, *left, SPEED_PATIENCE), timeo = before;
	bool came = timeo && !speed_wait_space(ring, least, &timeo);

	if (*left != MAX_SCHEDULE_TIMEOUT)
		*left -= before - timeo;
	return came;
}

/* Under the lock: bytes into the ring, or the decision for TCP. */
static ssize_t ring_round(struct shim *shim, struct speed_ring *ring, struct msghdr *msg,
			  size_t least, bool patient, u32 *why)
{
	struct mutex *lock = &ring->role[SPEED_ROLE_TX].lock;
	ssize_t n;

	if (mutex_lock_killable(lock))
		return -EINTR;
	n = put_all(shim, ring, msg, least, why);
	if (n >= 0 && *why && !(patient && *why == SPEED_TCP_FULL)) {
		shim_unfuse(shim, ring, *why);
		/* It may have taken the socket's calls, and ask for TCP's queue alone. */
		if (*why == SPEED_TCP_KERNEL)
			shim_bring_reader(ring);
		atomic_inc(&shim->inside);
	}
	mutex_unlock(lock);
	return n;
}

static ssize_t send_ring(struct shim *shim, struct speed_ring *ring, struct msghdr *msg)
{
	long left = sock_sndtimeo(shim->sk, msg->msg_flags & MSG_DONTWAIT);
	bool patient = left;
	size_t sent = 0, least;
	ssize_t n;
	u32 why;

	do {
		why = SPEED_TCP_FUSED;
		least = sent ? 1 : whole(ring, msg_data_left(msg));
		n = ring_round(shim, ring, msg, least, patient, &why);
		if (n < 0)
			return sent ?: n;
		sent += n;
		if (n && unlikely(READ_ONCE(ring->pair->closed[!ring->end])))
			shim_nobody_reads(shim, ring, n);
		if (why && !(patient && why == SPEED_TCP_FULL)) {
			/* TCP does not wait as long again. */
			msg->msg_flags |= left ? 0 : MSG_DONTWAIT;
			n = send_tcp(shim, ring->pair, msg, sent);
			if (n > 0)
				wake_for_sum(ring);
			return n;
		}
		if (why)
			patient = space_came(ring, least, &left);
		/* TCP may have room, and knows what a signal means. */
		if (why && signal_pending(current))
			patient = false;
	} while (msg_data_left(msg));
	return sent;
}

/* Nothing of it is for the ring. */
static ssize_t send_odd(struct shim *shim, struct speed_ring *ring, struct msghdr *msg)
{
	struct mutex *lock = &ring->role[SPEED_ROLE_TX].lock;
	ssize_t n;

	if (mutex_lock_killable(lock))
		return -EINTR;
	shim_unfuse(shim, ring, SPEED_TCP_ODD);
	if (msg->msg_flags & MSG_OOB)
		shim_bring_reader(ring);
	atomic_inc(&shim->inside);
	mutex_unlock(lock);
	n = send_tcp(shim, ring->pair, msg, 0);
	if (n > 0)
		wake_for_sum(ring);
	return n;
}

static ssize_t send_counted(struct sock *sk, struct shim *shim, struct msghdr *msg)
{
	struct speed_pair *pair;

	/* Nothing to carry: TCP says whether it could. */
	if (!msg_data_left(msg))
		return shim->base->prot->sendmsg(sk, msg, 0);
	if (!shim_pair(shim))
		shim_join_late(shim);
	if (!shim_pair(shim))
		shim_find_late(shim);
	/* Counted before the look at the pair, so that nobody moves to its ring. */
	atomic_inc(&shim->inside);
	smp_mb__after_atomic();	/* who makes the pair looks at the count after */
	pair = shim_pair(shim);
	if (!pair)
		return send_tcp(shim, NULL, msg, 0);
	atomic_dec(&shim->inside);
	if ((msg->msg_flags & SHIM_ODD_FLAGS) || msg->msg_controllen)
		return send_odd(shim, shim_tx_ring(shim, pair), msg);
	return send_ring(shim, shim_tx_ring(shim, pair), msg);
}

/**
 * shim_send_slow() - send() that is more than one copy into the ring
 * @sk: the socket
 * @shim: its part
 * @msg: what and how
 *
 * Return: bytes accepted, or TCP's error.
 */
ssize_t shim_send_slow(struct sock *sk, struct shim *shim, struct msghdr *msg)
{
	ssize_t n;

	atomic_inc(&shim->calls);
	n = send_counted(sk, shim, msg);
	atomic_dec(&shim->calls);
	return n;
}
