// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Interposed: messages. Descriptors that come with one are new.
 */
#include <limits.h>
#include "crew.h"
#include "export.h"
#include "iov.h"
#include "real.h"
#include "transfer.h"

static void msg_descriptors(struct msghdr *msg)
{
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg);

	for (; cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		const int *fds = (const int *)CMSG_DATA(cmsg);

		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; CMSG_LEN((i + 1) * sizeof(*fds)) <= cmsg->cmsg_len; i++)
			table_new(fds[i]);
	}
}

static ssize_t msg_recv(int fd, struct msghdr *msg, int flags)
{
	ssize_t ret;

	if (transfer_recvmsg(fd, msg, flags, &ret))
		return ret;
	ret = REAL(recvmsg)(fd, msg, flags);
	if (ret >= 0 && msg->msg_control)
		msg_descriptors(msg);
	return ret;
}

/* Are there descriptors in a message that is to be sent? */
static bool msg_gives(const struct msghdr *msg)
{
	struct cmsghdr *cmsg;

	if (!msg->msg_controllen || !transfer_address(msg->msg_control))
		return false;
	/* CMSG_NXTHDR() is not declared for what is only read. */
	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR((struct msghdr *)msg, cmsg))
		if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS)
			return true;
	return false;
}

/* Whoever gets a set may change it. */
static void msg_shares(const struct msghdr *msg)
{
	if (crew_any_own() && transfer_address(msg) && msg_gives(msg))
		crew_shared();
}

static ssize_t msg_send(int fd, const struct msghdr *msg, int flags)
{
	ssize_t ret;

	if (transfer_sendmsg(fd, msg, flags, &ret))
		return ret;
	msg_shares(msg);
	return REAL(sendmsg)(fd, msg, flags);
}

PRE_CALL(ssize_t, recvmsg, int fd, struct msghdr *msg, int flags)
{
	return msg_recv(fd, msg, flags);
}

PRE_CALL(ssize_t, sendmsg, int fd, const struct msghdr *msg, int flags)
{
	return msg_send(fd, msg, flags);
}

/* Is the number a handle's, so that messages go one by one? It costs no transfer. */
static bool msg_has_handle(int fd)
{
	return table_has(fd) &&
	       pool_word_is_handle(__atomic_load_n(&table.at[fd].word, __ATOMIC_RELAXED));
}

static void msg_count(int fd)
{
	struct call c;

	call_begin(&c, fd);
}

/*
 * As the kernel does it: what came before an error is told, the error is not; and what
 * was sent in part is the last.
 */
PRE_CALL(int, sendmmsg, int fd, struct mmsghdr *v, unsigned int n, int flags)
{
	unsigned int done;
	ssize_t ret;

	if (!msg_has_handle(fd) || !transfer_address(v)) {
		msg_count(fd);
		for (done = 0; transfer_address(v) && done < n && done < IOV_MAX; done++)
			msg_shares(&v[done].msg_hdr);
		return REAL(sendmmsg)(fd, v, n, flags);
	}
	for (done = 0; done < n && done < IOV_MAX; done++) {
		ret = msg_send(fd, &v[done].msg_hdr, flags);
		if (ret < 0)
			return done ? (int)done : -1;
		v[done].msg_len = (unsigned int)ret;
		if (ret < spd_iov_bytes(v[done].msg_hdr.msg_iov, (int)v[done].msg_hdr.msg_iovlen))
			return (int)done + 1;
	}
	return (int)done;
}

static int msg_recv_one(int fd, struct mmsghdr *v, int flags)
{
	ssize_t ret = msg_recv(fd, &v->msg_hdr, flags & ~MSG_WAITFORONE);

	if (ret < 0)
		return -1;
	v->msg_len = (unsigned int)ret;
	return 1;
}

/* Of several, an error that comes after the first is left with the socket: the kernel's. */
PRE_CALL(int, recvmmsg, int fd, struct mmsghdr *v, unsigned int n, int flags,
	 struct timespec *timeout)
{
	int ret;

	if (n == 1 && !timeout && msg_has_handle(fd) && transfer_address(v))
		return msg_recv_one(fd, v, flags);
	msg_count(fd);
	ret = REAL(recvmmsg)(fd, v, n, flags, timeout);
	for (int i = 0; i < ret; i++)
		if (v[i].msg_hdr.msg_control)
			msg_descriptors(&v[i].msg_hdr);
	return ret;
}
