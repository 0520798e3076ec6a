// SPDX-License-Identifier: GPL-2.0
/*
 * The derived calls. They are copies of TCP's own tables, made before the first
 * use and never changed: a socket points to TCP's or to ours. The owner in them
 * stays TCP's, so that counts of references match; ours are counted by the ULP.
 *
 * A base that is not TCP's own (a sockmap's, MPTCP's) is not known here, and its
 * socket is left alone.
 */
#include <linux/bvec.h>
#include <linux/mutex.h>
#include <linux/sockios.h>
#include <asm/ioctls.h>

#include "compat/compat.h"
#include "shim.h"
#include "shim_map.h"
#include "shim_proto.h"
#include "shim_splice.h"
#include "wait.h"

static DEFINE_MUTEX(learn_lock);
static struct shim_base bases[2];	/* IPv4, IPv6 */

static int shim_recvmsg(struct sock *sk, struct msghdr *msg, size_t len, int flags
			SPEED_RECVMSG_MORE)
{
	return shim_receive(sk, msg, len, flags);
}

#ifdef SPEED_HAS_SENDPAGE
/* splice() and sendfile() to a socket, before they became sendmsg(). */
static int shim_sendpage(struct sock *sk, struct page *page, int offset, size_t size, int flags)
{
	struct bio_vec vec;
	struct msghdr msg = { .msg_flags = flags & ~MSG_SENDPAGE_NOTLAST };

	if (flags & MSG_SENDPAGE_NOTLAST)
		msg.msg_flags |= MSG_MORE;
	bvec_set_page(&vec, page, size, offset);
	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, &vec, 1, size);
	return shim_sendmsg(sk, &msg, size);
}
#endif

/* As TCP under the lock: its numbers move one by one. */
static int unread_now(struct sock *sk, struct shim *shim)
{
	bool slow = lock_sock_fast(sk);
	u64 bytes = shim_inq(shim);

	unlock_sock_fast(sk, slow);
	return min_t(u64, bytes, INT_MAX);
}

static int ioctl_counted(struct sock *sk, struct shim *shim, int cmd, speed_ioctl_arg_t arg)
{
	int err;

	if (sk->sk_state == TCP_LISTEN)
		return shim->base->prot->ioctl(sk, cmd, arg);
	if (cmd == SIOCINQ)
		return speed_compat_ioctl_int(arg, unread_now(sk, shim));
	err = shim->base->prot->ioctl(sk, cmd, arg);
	/* At the mark only when all that was sent before it was read. */
	if (!err && cmd == SIOCATMARK && shim_ring_first(shim))
		err = speed_compat_ioctl_int(arg, 0);
	return err;
}

/* It may sleep, for the socket's lock and, before Linux 6.5, in a copy. */
static int shim_ioctl(struct sock *sk, int cmd, speed_ioctl_arg_t arg)
{
	struct shim *shim = shim_of(sk);
	int err;

	if (!shim)
		return shim_tcp_of(sk)->prot->ioctl(sk, cmd, arg);
	atomic_inc(&shim->calls);
	err = ioctl_counted(sk, shim, cmd, arg);
	atomic_dec(&shim->calls);
	return err;
}

/*
 * Inside accept(), after the file's part was joined to it. What has a file is a
 * program's, if it was MPTCP's before that.
 */
static void accepted(struct sock *sk, struct shim *shim)
{
	shim_swap_ops(sk, shim->base);
	if (sk->sk_socket->file && (READ_ONCE(shim->bars) & BIT(SPEED_TCP_KERNEL)))
		shim_bar(shim, SPEED_TCP_KERNEL, false);
}

static void shim_release_cb(struct sock *sk)
{
	struct shim *shim = shim_of(sk);
	struct speed_pair *pair;

	if (unlikely(!shim)) {
		shim_tcp_of(sk)->prot->release_cb(sk);
		return;
	}
	shim->base->prot->release_cb(sk);
	pair = shim_pair(shim);
	if (pair && unlikely(atomic_read(&pair->tcp.debt[shim->end])))
		shim_give_back(sk, pair, shim->end);
	/* Who has just asked for signals, and may never read before the first. */
	if (pair && unlikely(sock_flag(sk, SOCK_FASYNC)))
		speed_need_data(shim_rx_ring(shim, pair));
	if (unlikely(sk->sk_socket && sk->sk_socket->ops == shim->base->ops))
		accepted(sk, shim);
}

/* A new socket gets its listener's calls: TCP's own here, ours by accepted() if it has a shim. */
static int shim_accept(struct socket *sock, struct socket *newsock, SPEED_ACCEPT_ARGS)
{
	const struct shim_base *base = shim_tcp_of(sock->sk);
	struct shim *shim = shim_of(sock->sk);
	int err;

	if (READ_ONCE(newsock->ops) == &base->our_ops)
		WRITE_ONCE(newsock->ops, base->ops);
	if (!shim)
		return base->ops->accept(sock, newsock, SPEED_ACCEPT_PASS);
	atomic_inc(&shim->calls);
	err = base->ops->accept(sock, newsock, SPEED_ACCEPT_PASS);
	atomic_dec(&shim->calls);
	return err;
}

static void derive_prot(struct shim_base *base, const struct proto *prot)
{
	struct proto *p = &base->our_prot;

	*p = *prot;
	p->close = shim_close;
	p->disconnect = shim_disconnect;
	p->ioctl = shim_ioctl;
	p->setsockopt = shim_setsockopt;
	p->getsockopt = shim_getsockopt;
	p->sendmsg = shim_sendmsg;
	p->recvmsg = shim_recvmsg;
	p->release_cb = shim_release_cb;
	p->sock_is_readable = shim_is_readable;
#ifdef SPEED_HAS_SENDPAGE
	p->sendpage = shim_sendpage;
#endif
}

static void derive_ops(struct shim_base *base)
{
	struct proto_ops *o = &base->our_ops;

	*o = *base->ops;
	o->accept = shim_accept;
	o->poll = shim_poll;
	o->ioctl = shim_op_ioctl;
	o->mmap = shim_mmap;
#ifdef CONFIG_COMPAT
	o->compat_ioctl = shim_compat_ioctl;
#endif
	o->shutdown = shim_shutdown;
	o->set_rcvlowat = shim_set_rcvlowat;
	if (o->set_peek_off)
		o->set_peek_off = shim_set_peek_off;
	o->splice_read = shim_splice_read;
	o->read_sock = shim_read_sock;
	o->read_skb = shim_read_skb;
	o->peek_len = shim_peek_len;
}

static void learn(struct shim_base *base, int family)
{
	struct socket *sock;

	if (base->prot || sock_create_kern(&init_net, family, SOCK_STREAM, IPPROTO_TCP, &sock))
		return;
	if (sock->sk->sk_prot->sendmsg == tcp_prot.sendmsg) {
		base->ops = sock->ops;
		derive_ops(base);
		derive_prot(base, sock->sk->sk_prot);
		/* Whoever sees the pointer sees the copies; shim_base_of(). */
		smp_store_release(&base->prot, sock->sk->sk_prot);
	}
	sock_release(sock);
}

/**
 * shim_learn_bases() - look at what TCP sockets are made with
 *
 * IPv6 may come later than this module, or never.
 *
 * Context: process.
 */
void shim_learn_bases(void)
{
	mutex_lock(&learn_lock);
	learn(&bases[0], AF_INET);
	learn(&bases[1], AF_INET6);
	mutex_unlock(&learn_lock);
}

/**
 * shim_base_of() - what a socket's calls are, or are derived from
 * @sk: a TCP socket
 *
 * Return: the base, or NULL where they are others than TCP's own.
 */
const struct shim_base *shim_base_of(const struct sock *sk)
{
	const struct proto *prot = READ_ONCE(sk->sk_prot);
	int i;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		/* Matches learn(): the pointer says that the copies are there. */
		const struct proto *own = smp_load_acquire(&bases[i].prot);

		if (own && (prot == own || prot == &bases[i].our_prot))
			return &bases[i];
	}
	return NULL;
}

/**
 * shim_tcp_of() - TCP's own calls for a socket that may have lost ours
 * @sk: a socket that had them when the caller was called
 *
 * Return: the base of its address family.
 */
const struct shim_base *shim_tcp_of(const struct sock *sk)
{
	return &bases[sk->sk_family == AF_INET6];
}

/**
 * shim_swap_ops() - give a socket's file our calls, if it has TCP's own
 * @sk: the socket, locked
 * @base: its base
 */
void shim_swap_ops(struct sock *sk, const struct shim_base *base)
{
	if (sk->sk_socket && READ_ONCE(sk->sk_socket->ops) == base->ops)
		WRITE_ONCE(sk->sk_socket->ops, &base->our_ops);
}
