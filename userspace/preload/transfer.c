// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Transfers of several buffers, and messages.
 *
 * Control data is the kernel's, and so is an address to send to. An address that the
 * caller wants to know is too, but that TCP tells none: it sets the length to 0.
 */
#include <limits.h>
#include "iov.h"
#include "transfer.h"

/* Are these buffers with bytes in them, as far as one can see? */
static bool transfer_buffers(const struct iovec *iov, size_t n, size_t *len)
{
	size_t sum = 0;

	if (n - 1 >= IOV_MAX || !transfer_address(iov))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!iov[i].iov_len)
			continue;
		if (!transfer_buffer(iov[i].iov_base, iov[i].iov_len))
			return false;
		sum += iov[i].iov_len;
	}
	*len = sum;
	return sum - 1 < TRANSFER_MAX;
}

/* With a handle. */
static bool recvv(struct call *c, struct slot *h, const struct iovec *iov, size_t n, int flags,
		  ssize_t *ret)
{
	size_t len;

	if (!transfer_buffers(iov, n, &len) || !spd_recv_mapped(&h->s, len, flags))
		return false;
	call_enter(c);
	*ret = n == 1 ? spd_recv_one(&h->s, iov->iov_base, len, flags, 0) :
			speed_recvv(&h->s, iov, (int)n, flags);
	return call_leave(c, *ret);
}

static bool sendv(struct call *c, struct slot *h, const struct iovec *iov, size_t n, int flags,
		  ssize_t *ret)
{
	size_t len;

	if (!transfer_buffers(iov, n, &len) || !spd_send_mapped(&h->s, len, flags))
		return false;
	call_enter(c);
	*ret = n == 1 ? spd_send_one(&h->s, iov->iov_base, len, flags, NULL) :
			speed_sendv(&h->s, iov, (int)n, flags);
	return call_leave(c, *ret);
}

bool transfer_recvv(int fd, const struct iovec *iov, int n, int flags, ssize_t *ret)
{
	struct call c;
	struct slot *h = call_begin(&c, fd);

	return h && n > 0 && recvv(&c, h, iov, (size_t)n, flags, ret);
}

bool transfer_sendv(int fd, const struct iovec *iov, int n, int flags, ssize_t *ret)
{
	struct call c;
	struct slot *h = call_begin(&c, fd);

	return h && n > 0 && sendv(&c, h, iov, (size_t)n, flags, ret);
}

/*
 * A message that is longer than its buffers shows only in its length: ask for that.
 * Return: whether the call was made.
 */
static bool recvmsg_record(struct call *c, struct slot *h, struct msghdr *msg, int flags,
			   ssize_t *ret, int *told)
{
	size_t room;

	if (!transfer_buffers(msg->msg_iov, msg->msg_iovlen, &room) ||
	    !recvv(c, h, msg->msg_iov, msg->msg_iovlen, flags | MSG_TRUNC, ret))
		return false;
	if (*ret > (ssize_t)room) {
		*told = MSG_TRUNC;
		if (!(flags & MSG_TRUNC))
			*ret = (ssize_t)room;
	}
	return true;
}

/* What was read of a handle is of the connection looked for, not of one that has its place. */
static bool transfer_still(const struct call *c, const struct slot *h)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return pool_word_lives(h, c->word);
}

static bool recvmsg_mapped(struct call *c, struct slot *h, struct msghdr *msg, int flags,
			   ssize_t *ret)
{
	int told = 0, type = __atomic_load_n(&h->s.type, __ATOMIC_RELAXED);
	bool made;

	if (!transfer_still(c, h))
		return false;
	if (type == SOCK_SEQPACKET)
		made = recvmsg_record(c, h, msg, flags, ret, &told);
	else
		made = recvv(c, h, msg->msg_iov, msg->msg_iovlen, flags, ret);
	if (!made || *ret < 0)
		return made;
	if (msg->msg_name)
		msg->msg_namelen = 0;
	msg->msg_controllen = 0;
	msg->msg_flags = told | (flags & MSG_CMSG_CLOEXEC);
	return true;
}

bool transfer_recvmsg(int fd, struct msghdr *msg, int flags, ssize_t *ret)
{
	struct call c;
	struct slot *h = call_begin(&c, fd);

	if (!h || !transfer_address(msg) || (msg->msg_control && msg->msg_controllen) ||
	    (msg->msg_name && (!h->inet || (int)msg->msg_namelen < 0)))
		return false;
	return recvmsg_mapped(&c, h, msg, flags, ret);
}

bool transfer_sendmsg(int fd, const struct msghdr *msg, int flags, ssize_t *ret)
{
	struct call c;
	struct slot *h = call_begin(&c, fd);

	if (!h || !transfer_address(msg) || msg->msg_controllen || msg->msg_name)
		return false;
	return sendv(&c, h, msg->msg_iov, msg->msg_iovlen, flags, ret);
}

/* With somewhere to put the peer's address. */
bool transfer_recvfrom(int fd, void *buf, size_t len, int flags, socklen_t *addrlen,
		       ssize_t *ret)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };
	struct call c;
	struct slot *h = call_begin(&c, fd);

	if (!h || !h->inet || !transfer_still(&c, h) || !transfer_address(addrlen) ||
	    (int)*addrlen < 0 || !recvv(&c, h, &iov, 1, flags, ret))
		return false;
	if (*ret >= 0)
		*addrlen = 0;
	return true;
}
