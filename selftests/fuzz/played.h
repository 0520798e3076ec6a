/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel behind libspeed, as the fuzzer plays it: leases come and go, plain
 * calls and waits end in any way in which they may end.
 */
#ifndef PLAYED_H
#define PLAYED_H

#include <errno.h>

#include "arena.h"
#include "../../userspace/lib/iov.h"
#include "../../userspace/lib/role.h"

static struct arena arenas[SPEED_ROLES];

/* Read each byte, so that a wrong address is found. */
static void look_at(const unsigned char *p, size_t len)
{
	volatile unsigned char byte;

	while (len--)
		byte = *p++;
	(void)byte;
}

static int end_with(int err)
{
	errno = err;
	return -1;
}

/* A plain call or a wait ends with one of these. */
static int some_errno(void)
{
	static const int errs[] = { EAGAIN, EINTR, ESTALE, ENOBUFS, ENOTCONN, EPIPE, ECONNRESET };

	return end_with(errs[take8() % (sizeof(errs) / sizeof(*errs))]);
}

/* The hostile process while the honest one is in the kernel. */
static void meanwhile(void)
{
	uint8_t what = take8();

	if (what & 0x80)
		return;
	arena = &arenas[what >> 6];
	hostile_write(what);
}

/* A plain call that moves some of the bytes, by touching the buffers. */
static ssize_t plain(const struct iovec *iov, int n, int fill)
{
	size_t left = take(2), most = spd_iov_bytes(iov, n), len;
	int i;

	meanwhile();
	if (!(left % 5))
		return some_errno();
	left = left < most ? left : most;
	most = left;
	for (i = 0; i < n && left; i++) {
		len = iov[i].iov_len < left ? iov[i].iov_len : left;
		if (!fill)
			look_at(iov[i].iov_base, len);
		else if (len)
			memset(iov[i].iov_base, 'k', len);
		left -= len;
	}
	return most;
}

static ssize_t op_send(struct speed *s, const struct iovec *iov, int n, int flags)
{
	return plain(iov, n, 0);
}

static ssize_t op_recv(struct speed *s, const struct iovec *iov, int n, int flags)
{
	ssize_t got = plain(iov, n, 1);

	/* A message may be longer than the buffer, and the peek is told so. */
	if (got > 0 && (flags & MSG_TRUNC) && s->type == SOCK_SEQPACKET)
		got += take(2) * 2;
	return got;
}

static int op_lease(struct speed *s, int role)
{
	struct spd_role *r = &s->role[role];
	struct arena *a = &arenas[role];
	uint8_t how = take8();

	if (how % 4 == 1) {
		r->countdown = how / 64;
		return end_with(EAGAIN);
	}
	if (how % 4 == 2)
		a->hostile->own->index += take(2);
	r->side = a->side;
	a->live = &r->side;
	spd_side_start(r, a->hostile->own->index, role);
	spd_spin_setup(r, 0);
	if (s->type == SOCK_SEQPACKET)
		r->record_max = SIZE - sizeof(struct speed_record);
	r->epoch = how / 16 + 1;
	a->hostile->kern->epoch[role] = r->epoch;
	a->hostile->kern->flags = 0;
	r->leases++;
	return 0;
}

static int op_settle(struct speed *s, int role, __u64 *index)
{
	uint8_t how = take8();

	if (how == 255)
		return some_errno();
	*index = s->role[role].side.own - (how & 1 ? take(2) : 0);
	return 0;
}

static void op_wake(struct speed *s, unsigned int which)
{
	must(which && !(which & ~(SPEED_WAKE_READER | SPEED_WAKE_WRITER)));
	meanwhile();
}

static int op_wait(struct speed *s, int role, unsigned int wake, __u64 want)
{
	unsigned int past = SPEED_WAIT_MOVED | SPEED_WAIT_AGAIN;

	must(want >= 1 && want <= SIZE);
	must(!(wake & ~(SPEED_WAKE_READER | SPEED_WAKE_WRITER | past)));
	/* A module that does not know one, or either: it is asked again. */
	if (wake & (take8() & 1 ? past : SPEED_WAIT_AGAIN))
		return end_with(EINVAL);
	meanwhile();
	if (take8() % 8)
		return 0;
	return some_errno();
}

static void op_ask(struct speed *s)
{
	meanwhile();
}

static bool op_nonblock(struct speed *s)
{
	return take8() & 1;
}

static int op_error(struct speed *s)
{
	return take8() & 1 ? ECONNRESET : 0;
}

static bool op_unseen(void)
{
	return take8() & 1;
}

static bool op_gone(void)
{
	return take8() % 4 == 3;
}

static void op_detach(struct speed *s)
{
}

static const struct spd_ops ops = {
	.send = op_send,
	.recv = op_recv,
	.lease = op_lease,
	.settle = op_settle,
	.wake = op_wake,
	.wait = op_wait,
	.ask = op_ask,
	.nonblock = op_nonblock,
	.error = op_error,
	.unseen = op_unseen,
	.gone = op_gone,
	.detach = op_detach,
};

/*
 * An operation that is new in the library and missing here must not go unseen, nor be
 * taken for what a variant without its checks is found by.
 */
static void all_played(void)
{
	void (*op[sizeof(ops) / sizeof(void (*)(void))])(void);
	size_t i;

	memcpy(op, &ops, sizeof(ops));
	for (i = 0; i < sizeof(op) / sizeof(*op); i++) {
		if (op[i])
			continue;
		fprintf(stderr, "operation %zu of spd_ops is not played\n", i);
		abort();
	}
}

#endif /* PLAYED_H */
