// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What lies outside the ring of a socket's handle: system calls on the
 * descriptor.
 */
#include <fcntl.h>
#include <poll.h>
#include <time.h>
#include "role.h"
#include "sys.h"

static ssize_t socket_send(struct speed *s, const struct iovec *iov, int n, int flags)
{
	struct msghdr msg = { .msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)n };

	if (n == 1)
		return spd_sys_sendto(spd_fd(s), iov->iov_base, iov->iov_len, flags);
	return spd_sys_sendmsg(spd_fd(s), &msg, flags);
}

static ssize_t socket_recv(struct speed *s, const struct iovec *iov, int n, int flags)
{
	struct msghdr msg = { .msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)n };

	if (n == 1)
		return spd_sys_recvfrom(spd_fd(s), iov->iov_base, iov->iov_len, flags);
	return spd_sys_recvmsg(spd_fd(s), &msg, flags);
}

static int socket_settle(struct speed *s, int role, __u64 *index)
{
	struct speed_settle settle = {
		.role = (__u32)role,
		.epoch = s->role[role].epoch,
		.cookie = spd_cookie(s),
	};
	socklen_t len = sizeof(settle);

	if (spd_sys_getsockopt(spd_fd(s), SOL_SPEED, SPEED_SETTLE, &settle, &len))
		return -1;
	*index = settle.index;
	return 0;
}

static void socket_wake(struct speed *s, unsigned int which)
{
	spd_sys_ioctl(spd_fd(s), SPEED_IOC_WAKE, which);
}

static int socket_wait(struct speed *s, int role, unsigned int wake, __u64 want)
{
	struct speed_wait wait = {
		.flags = wake | (role == SPEED_ROLE_TX ? SPEED_WAIT_SPACE : SPEED_WAIT_DATA),
		.want = want,
	};

	return spd_sys_ioctl(spd_fd(s), SPEED_IOC_WAIT, (uintptr_t)&wait);
}

/* A poll that finds nothing sets the flag, and unlike a recv it ends no lease. */
static void socket_ask(struct speed *s)
{
	struct pollfd pfd = { .fd = spd_fd(s), .events = POLLIN };
	struct timespec now = { 0 };

	spd_syscall(SYS_ppoll, &pfd, 1, &now, NULL, 0);
}

static bool socket_nonblock(struct speed *s)
{
	long flags = spd_syscall(SYS_fcntl, spd_fd(s), F_GETFL);

	return flags >= 0 && (flags & O_NONBLOCK);
}

static int socket_error(struct speed *s)
{
	socklen_t len = sizeof(int);
	int err = 0;

	return spd_sys_getsockopt(spd_fd(s), SOL_SOCKET, SO_ERROR, &err, &len) ? 0 : err;
}

static void socket_detach(struct speed *s)
{
	for (int i = 0; i < SPEED_ROLES; i++) {
		struct spd_role *r = &s->role[i];
		__u32 which = (__u32)i;

		if (speed_ring_counts(&r->side, i, r->epoch))
			spd_sys_setsockopt(spd_fd(s), SOL_SPEED, SPEED_UNLEASE, &which, sizeof(which));
		spd_map_drop(s, i);
	}
}

const struct spd_ops spd_socket_ops = {
	.send = socket_send,
	.recv = socket_recv,
	.lease = spd_socket_lease,
	.settle = socket_settle,
	.wake = socket_wake,
	.wait = socket_wait,
	.ask = socket_ask,
	.nonblock = socket_nonblock,
	.error = socket_error,
	.detach = socket_detach,
};
