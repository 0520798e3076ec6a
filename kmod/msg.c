// SPDX-License-Identifier: GPL-2.0
/*
 * sendmsg() and recvmsg() as they arrive: control messages, addresses and
 * states are dealt with here, bytes in tx and rx.
 */
#include <linux/sched/signal.h>
#include <net/sock.h>

#include "addr.h"
#include "conn.h"
#include "family.h"
#include "msg.h"
#include "rx.h"
#include "tx.h"

/* Descriptors cannot travel in a ring. Anything else is not known here. */
static int refuse_cmsg(struct msghdr *msg)
{
	struct cmsghdr *cmsg;

	for_each_cmsghdr(cmsg, msg) {
		if (!CMSG_OK(msg, cmsg))
			return -EINVAL;
		if (cmsg->cmsg_level != SOL_SOCKET)
			continue;
		return cmsg->cmsg_type == SCM_RIGHTS ? -EOPNOTSUPP : -EINVAL;
	}
	return 0;
}

/* sendto() with an address on a fresh socket connects it first. */
static int implied_connect(struct socket *sock, struct msghdr *msg)
{
	if (speed_sk_pair(sock->sk))
		return sock->type == SOCK_STREAM ? -EISCONN : 0;
	return speed_connect_to(sock, msg->msg_name, msg->msg_namelen,
				msg->msg_flags & MSG_DONTWAIT);
}

static noinline int before_odd_send(struct socket *sock, struct msghdr *msg)
{
	int err = 0;

	if (msg->msg_controllen)
		err = refuse_cmsg(msg);
	if (!err && (msg->msg_flags & MSG_OOB))
		err = -EOPNOTSUPP;
	if (!err && msg->msg_namelen)
		err = implied_connect(sock, msg);
	return err;
}

static inline int before_send(struct socket *sock, struct msghdr *msg)
{
	int err = 0;

	if (unlikely(msg->msg_controllen || msg->msg_namelen || (msg->msg_flags & MSG_OOB)))
		err = before_odd_send(sock, msg);
	if (!err && !speed_sk_pair(sock->sk))
		err = -ENOTCONN;
	return err;
}

int speed_stream_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	ssize_t n = before_send(sock, msg);

	if (unlikely(n))
		return n;
	n = speed_tx_stream(sock->sk, msg, min_t(size_t, len, INT_MAX));
	if (unlikely(n == -EPIPE) && !(msg->msg_flags & MSG_NOSIGNAL))
		send_sig(SIGPIPE, current, 0);
	return n;
}

int speed_record_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	int err = before_send(sock, msg) ?: sock_error(sock->sk);

	return err ?: speed_tx_record(sock->sk, msg, len);
}

static void tell_source(struct sock *sk, struct msghdr *msg)
{
	struct speed_addr *addr;

	if (!msg->msg_name)
		return;
	addr = speed_sk_addr(speed_sk(sk)->pair->sk[!speed_sk(sk)->end]);
	msg->msg_namelen = addr ? speed_addr_tell(addr, msg->msg_name) : 0;
}

int speed_stream_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	ssize_t n;

	if (!speed_sk_pair(sock->sk))
		return -EINVAL;
	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	n = speed_rx_stream(sock->sk, &msg->msg_iter, min_t(size_t, len, INT_MAX), flags);
	if (n > 0)
		tell_source(sock->sk, msg);
	return n;
}

int speed_record_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	ssize_t n;

	if (!speed_sk_pair(sock->sk))
		return -ENOTCONN;
	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	n = speed_rx_record(sock->sk, msg, len, flags);
	if (n >= 0)
		tell_source(sock->sk, msg);
	return n;
}
