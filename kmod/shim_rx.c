// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving on a TCP socket whose calls are ours: how much a call waits for, and
 * what it tells beside the bytes. Which bytes are next: shim_take.c.
 */
#include <linux/sched/signal.h>
#include <net/sock.h>

#include "compat/compat.h"
#include "once.h"
#include "ring.h"
#include "shim.h"
#include "shim_proto.h"
#include "shim_take.h"
#include "tx.h"
#include "wait.h"

#define FAST_FLAGS	(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_CMSG_CLOEXEC)

/* A read that has bytes stops before an urgent one; a peek may have passed it long ago. */
static bool at_mark(const struct take *t)
{
	return t->flags & MSG_PEEK ? t->stop : shim_at_mark(t->sk);
}

/* Readable bytes without which there is nothing new. */
static u64 wanted(const struct take *t)
{
	u64 peeked = take_peeked(t);

	return (peeked ? shim_place(t->shim, peeked) : 0) + 1;
}

/* As TCP: what was copied is returned rather than waited with. */
static bool stop_here(struct take *t, long timeo)
{
	struct sock *sk = t->sk;

	return !timeo || READ_ONCE(sk->sk_err) || READ_ONCE(sk->sk_state) == TCP_CLOSE ||
	       (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN) || signal_pending(current) ||
	       at_mark(t);
}

/* Nothing to be had, and not worth a holder's lease to find out. */
static bool hopeless(const struct take *t, long timeo)
{
	struct speed_pair *pair = shim_pair(t->shim);

	return pair && !t->done && speed_rx_hopeless(shim_rx_ring(t->shim, pair), timeo);
}

/*
 * Nothing, and the call does not wait. Who relies on an edge or a signal from here
 * on shall see it, also where the producer makes no system call.
 */
static bool came_after_all(const struct take *t)
{
	struct speed_pair *pair = shim_pair(t->shim);
	struct speed_ring *ring;

	if (!pair || t->done)
		return false;
	ring = shim_rx_ring(t->shim, pair);
	if (speed_ring_at_home(ring))
		return false;
	speed_need_data(ring);
	return speed_data_ready(ring, 1) && !(t->flags & MSG_PEEK);
}

/* Some, and the end, or an error: bytes that came before it may have come after the look. */
static bool ended_since(const struct take *t)
{
	bool end = shim_ended(t->sk) && !at_mark(t);

	smp_rmb();	/* the bytes after the end */
	return end;
}

static ssize_t receive_all(struct take *t)
{
	size_t target = sock_rcvlowat(t->sk, t->flags & MSG_WAITALL, t->len);
	long timeo = sock_rcvtimeo(t->sk, t->flags & MSG_DONTWAIT);
	bool looked = false;
	ssize_t n = 0;

	do {
		n = unlikely(hopeless(t, timeo)) ? -EAGAIN : shim_take(t);
		if (n > 0) {
			t->done += n;
			continue;
		}
		if (n != -EAGAIN || t->done >= target)
			break;
		if (t->done ? stop_here(t, timeo) : !timeo) {
			if (looked || !(t->done ? ended_since(t) : came_after_all(t)))
				break;
			looked = true;
			n = 1;
			continue;
		}
		if (!t->done && signal_pending(current)) {
			n = sock_intr_errno(timeo);
			break;
		}
		n = shim_wait(t->shim, wanted(t), t->begun, &timeo);
		if (n)
			break;
		n = 1;
	} while (n > 0 && t->done < t->len);
	return t->done ?: n;
}

/* Room for no byte: TCP waits for something, once, and is content with anything. */
static ssize_t receive_nothing(struct take *t)
{
	long timeo = sock_rcvtimeo(t->sk, t->flags & MSG_DONTWAIT);
	bool end = shim_ended(t->sk);

	smp_rmb();	/* an end that is seen comes after all bytes */
	if (shim_unread(t->shim) > take_peeked(t))
		return 0;
	if (end)
		return speed_compat_recvmsg(t->shim->base->prot, t->sk, t->msg, 0,
					    t->flags | MSG_DONTWAIT);
	if (!timeo)
		return -EAGAIN;
	if (signal_pending(current))
		return sock_intr_errno(timeo);
	shim_wait(t->shim, 1, t->begun, &timeo);
	return 0;
}

/* How much is left; after the end something, so that it is read. */
static int bytes_left(struct shim *shim)
{
	int inq = min_t(u64, shim_unread(shim), INT_MAX);

	return inq ?: sock_flag(shim->sk, SOCK_DONE);
}

/* TCP has told, and is right: of a ring's bytes it does not know. */
static bool told_all(const struct take *t, int inq)
{
	return t->told && (inq == shim_tcp_unread(t->sk) || (t->sk->sk_flags & SHIM_RX_STAMPS));
}

/* TCP_INQ, and io_uring's own question. */
static void tell_inq(struct take *t)
{
	int inq = bytes_left(t->shim);

	if (t->msg->msg_get_inq)
		t->msg->msg_inq = inq;
	if (!tcp_sk(t->sk)->recvmsg_inq || told_all(t, inq))
		return;
	if (unlikely(t->stamps)) {
		/* Bytes of TCP's that it has told of may have come before. */
		t->msg->msg_control = t->control;
		t->msg->msg_controllen = t->controllen;
	}
	put_cmsg(t->msg, SOL_TCP, TCP_CM_INQ, sizeof(inq), &inq);
}

/* TCP tells them beside its bytes; a ring's have none. */
static bool wants_stamps(const struct sock *sk)
{
	return sock_flag(sk, SOCK_RCVTSTAMP) || READ_ONCE(sk->sk_tsflags);
}

static ssize_t receive_counted(struct shim *shim, struct msghdr *msg, size_t len, int flags,
			       u32 begun)
{
	struct take t = {
		.shim = shim, .sk = shim->sk, .msg = msg, .len = len, .flags = flags,
		.begun = begun,
	};
	const struct tcp_sock *tp = tcp_sk(t.sk);
	ssize_t n;

	/* Not of the stream; or nothing to wait for but what TCP says. */
	if ((flags & MSG_ERRQUEUE) || t.sk->sk_state == TCP_LISTEN)
		return speed_compat_recvmsg(shim->base->prot, t.sk, msg, len, flags);
	/* As TCP; which is not asked, since it might be over before it looks. */
	if (unlikely(tp->repair) && !(flags & (MSG_PEEK | MSG_OOB)))
		return -EPERM;
	t.stamps = (flags & MSG_OOB) || wants_stamps(t.sk);
	if (unlikely(t.stamps)) {
		t.control = msg->msg_control;
		t.controllen = msg->msg_controllen;
	}
	/* The urgent byte is TCP's, and what TCP tells beside it is not all that is left. */
	if (unlikely(flags & MSG_OOB))
		n = speed_compat_recvmsg(shim->base->prot, t.sk, msg, len, flags);
	else
		n = len ? receive_all(&t) : receive_nothing(&t);
	if (unlikely(tp->recvmsg_inq || msg->msg_get_inq) && n >= 0)
		tell_inq(&t);
	return n;
}

static noinline ssize_t receive_slow(struct shim *shim, struct msghdr *msg, size_t len, int flags,
				     u32 begun)
{
	ssize_t n;

	atomic_inc(&shim->calls);
	n = receive_counted(shim, msg, len, flags, begun);
	atomic_dec(&shim->calls);
	return n;
}

/* Return: bytes, -EFAULT, or 0 where the slow path must find out more. */
static ssize_t receive_fast(struct speed_ring *ring, struct iov_iter *to, size_t len)
{
	struct speed_role *rx = &ring->role[SPEED_ROLE_RX];
	s64 n = 0;

	if (!mutex_trylock(&rx->lock))
		return 0;
	if (likely(!rx->epoch && ring->buf && !READ_ONCE(ring->pair->broken)))
		n = speed_cons_ready(&rx->side, len);
	/* After the bytes were seen: it is set before they are published. */
	if (unlikely(n > 0 && READ_ONCE(ring->behind)))
		n = 0;
	/* Less than is wanted, and TCP has more: it belongs to the same call. */
	if (unlikely(n > 0 && n < len && shim_tcp_unread(speed_ring_reader(ring))))
		n = 0;
	if (likely(n > 0))
		n = speed_take_once(ring, to, min_t(u64, n, len));
	mutex_unlock(&rx->lock);
	return n >= 0 || n == -EFAULT ? n : 0;
}

/* Nothing there, and a call that waits. */
static bool must_wait(const struct shim *shim, struct speed_ring *ring, int flags)
{
	return !(flags & MSG_DONTWAIT) && shim->sk->sk_rcvtimeo == MAX_SCHEDULE_TIMEOUT &&
	       !speed_ring_live(ring) && !shim_tcp_unread(shim->sk) && !tcp_sk(shim->sk)->repair;
}

/* Wait before the lock is taken. Errors are found later. */
static ssize_t receive_later(struct shim *shim, struct speed_ring *ring, struct iov_iter *to,
			     size_t len, u32 begun)
{
	long timeo = MAX_SCHEDULE_TIMEOUT;
	ssize_t n;

	atomic_inc(&shim->calls);
	n = shim_wait(shim, 1, begun, &timeo) ?: receive_fast(ring, to, len);
	atomic_dec(&shim->calls);
	return n;
}

/**
 * shim_receive() - recv() on a TCP socket whose calls are ours
 * @sk: the socket
 * @msg: where to
 * @len: bytes wanted
 * @flags: MSG_*
 *
 * Context: process; takes the consumer's lock.
 * Return: bytes, 0 at the end, or TCP's error.
 */
ssize_t shim_receive(struct sock *sk, struct msghdr *msg, size_t len, int flags)
{
	struct shim *shim = shim_of(sk);
	struct speed_pair *pair;
	struct speed_ring *ring;
	u32 begun;
	ssize_t n;

	if (unlikely(!shim))
		return speed_compat_recvmsg(shim_tcp_of(sk)->prot, sk, msg, len, flags);
	begun = shim_begun(shim);
	pair = shim_pair(shim);
	if (unlikely(!pair || (flags & ~FAST_FLAGS) || len - 1 >= SPEED_PIECE ||
		     sk->sk_rcvlowat != 1 || READ_ONCE(sk->sk_peek_off) >= 0 ||
		     tcp_sk(sk)->recvmsg_inq))
		return receive_slow(shim, msg, len, flags, begun);
	ring = shim_rx_ring(shim, pair);
	if (must_wait(shim, ring, flags))
		n = receive_later(shim, ring, &msg->msg_iter, len, begun);
	else
		n = receive_fast(ring, &msg->msg_iter, len);
	if (unlikely(!n))
		return receive_slow(shim, msg, len, flags, begun);
	if (unlikely(msg->msg_get_inq) && n > 0)
		msg->msg_inq = bytes_left(shim);
	return n;
}
