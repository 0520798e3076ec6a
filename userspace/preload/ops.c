// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Leaving the ring.
 *
 * The plain calls are the C library's functions, which are cancellation points. A
 * transfer that sleeps with a role entered is one, too: there, and only there, a
 * cancellation takes effect at once, and leaves the role.
 *
 * A number that another thread closed while this one slept may be another descriptor
 * by now; the kernel would have gone on with the old one. The transfer ends with EBADF, or
 * with what it has moved. One that has neither slept nor moved anything is as good as one
 * that begins now, with whatever the number is: dup2() leaves it open all the time.
 */
#include <fcntl.h>
#include "call.h"
#include "crew.h"
#include "ops.h"
#include "real.h"
#include "sys.h"

/* Refused for this many operations, a connection is as good as not ours. */
#define OPS_SETTLED	512

struct spd_ops ops_preload;

bool ops_nonblock(int fd)
{
	long flags = spd_syscall(SYS_fcntl, fd, F_GETFL);

	return flags >= 0 && (flags & O_NONBLOCK);
}

/* A number whose handle is another's by now, or has been of no use. */
static void ops_settle_down(const struct call *c, const struct speed *s, int role)
{
	const struct spd_role *r = &s->role[role], *other = &s->role[!role];
	__u32 wait = __atomic_load_n(&r->countdown, __ATOMIC_RELAXED);

	if (!pool_word_lives((const struct slot *)s, c->word))
		table_bare(c->e, c->word, 0, 4 * table.after);
	else if (spd_unlikely(wait >= OPS_SETTLED) &&
		 __atomic_load_n(&r->epoch, __ATOMIC_RELAXED) == SPD_NO_LEASE &&
		 __atomic_load_n(&other->epoch, __ATOMIC_RELAXED) == SPD_NO_LEASE)
		table_bare(c->e, c->word, 0, (__s32)wait);
}

/* Before a plain call. Return: whether to make it. */
static bool ops_before(struct speed *s, int role)
{
	const struct call *c = call_now;

	if (spd_unlikely(call_gone(c))) {
		if (!c->slept)
			return true;
		errno = EBADF;
		return false;
	}
	if (spd_likely(!__atomic_load_n(&s->kept, __ATOMIC_RELAXED)) || !call_still(s))
		ops_settle_down(c, s, role);
	return true;
}

/* What is left of a transfer is the old socket's. */
static bool ops_gone(void)
{
	return call_gone(call_now);
}

static ssize_t ops_send(struct speed *s, const struct iovec *iov, int n, int flags)
{
	struct msghdr msg = { .msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)n };

	if (!ops_before(s, SPEED_ROLE_TX))
		return -1;
	if (n == 1)
		return REAL(send)(call_fd(), iov->iov_base, iov->iov_len, flags);
	return REAL(sendmsg)(call_fd(), &msg, flags);
}

static ssize_t ops_recv(struct speed *s, const struct iovec *iov, int n, int flags)
{
	struct msghdr msg = { .msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)n };

	if (!ops_before(s, SPEED_ROLE_RX))
		return -1;
	if (n == 1)
		return REAL(recv)(call_fd(), iov->iov_base, iov->iov_len, flags);
	return REAL(recvmsg)(call_fd(), &msg, flags);
}

/**
 * struct ops_sleep - what a cancelled sleeper leaves behind
 * @s: the handle
 * @role: the role that is entered
 * @wake: SPEED_WAKE_* that the peer may not have got
 */
struct ops_sleep {
	struct speed	*s;
	int		role;
	unsigned int	wake;
};

static void ops_cancelled(void *arg)
{
	struct ops_sleep *sleep = arg;

	if (sleep->wake)
		spd_sys_ioctl(call_fd(), SPEED_IOC_WAKE, sleep->wake);
	call_now = call_now->outer;
	spd_role_leave(&sleep->s->role[sleep->role]);
}

static int ops_sleep(struct speed_wait *wait)
{
	return spd_sys_ioctl(call_fd(), SPEED_IOC_WAIT, (uintptr_t)wait);
}

static int ops_sleep_cancellable(struct speed *s, int role, struct speed_wait *wait)
{
	struct ops_sleep sleep = {
		.s = s,
		.role = role,
		.wake = wait->flags & (SPEED_WAKE_READER | SPEED_WAKE_WRITER),
	};
	int type, err, ret;

	pthread_cleanup_push(ops_cancelled, &sleep);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	ret = ops_sleep(wait);
	err = errno;
	pthread_setcanceltype(type, NULL);
	errno = err;
	pthread_cleanup_pop(0);
	return ret;
}

static int ops_wait(struct speed *s, int role, unsigned int wake, __u64 want)
{
	struct speed_wait wait = {
		.flags = wake | (role == SPEED_ROLE_TX ? SPEED_WAIT_SPACE : SPEED_WAIT_DATA),
		.want = want,
	};

	if (spd_unlikely(call_gone(call_now))) {
		errno = ESTALE;
		return -1;
	}
	call_now->slept = true;
	return spd_one_thread() ? ops_sleep(&wait) : ops_sleep_cancellable(s, role, &wait);
}

/* An epoll set that alone waits there asks before it sleeps, see crew_look.c. */
static void ops_ask(struct speed *s)
{
	if (!watch_claimed(call_fd(), call_now->word, s->role[SPEED_ROLE_RX].map.pair))
		spd_socket_ops.ask(s);
}

/* A socket's, but for what is different here. */
void ops_start(void)
{
	ops_preload = spd_socket_ops;
	ops_preload.send = ops_send;
	ops_preload.recv = ops_recv;
	ops_preload.gone = ops_gone;
	ops_preload.wait = ops_wait;
	ops_preload.ask = ops_ask;
	ops_preload.unseen = crew_unseen;
}
