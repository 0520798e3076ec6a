// SPDX-License-Identifier: GPL-2.0
/*
 * Random programs of socket operations, the same on AF_UNIX and on AF_SPEED: what each
 * call returns, to the last byte, errno, poll mask and signal, must agree, by every path.
 * No call waits, and as little is under way as fits any buffer. (TCP and fused TCP have
 * differential.c, whose programs also fill buffers and wait.)
 *
 *	SPEED_SEED=n	other programs
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "stress.h"

#define PROGRAMS	60
#define STEPS		40
#define AFTER		8	/* steps with one end closed */
#define MOST		1500	/* bytes of a call */
#define UNREAD		12000	/* and of what is under way */
#define PARTS		4

/**
 * struct program - one that runs
 * @name: its number, for the lines
 * @closed: the end that is no more, or -1
 * @sent: bytes by each end: those to come are those of stream_fill()
 */
struct program {
	struct chance c;
	struct end e[2];
	int name, closed;
	size_t sent[2];
};

static unsigned int below(struct program *p, unsigned int n)
{
	return chance_below(&p->c, n);
}

static int one_of(struct program *p, const int *flags, int n)
{
	return flags[below(p, n)];
}

/* The end that the step is of: the one that is open, or any. */
static int some_end(struct program *p)
{
	int side = below(p, 2);

	return p->closed < 0 ? side : !p->closed;
}

static size_t unread(struct program *p, int side)
{
	int n = 0;

	return p->closed >= 0 || ioctl(p->e[!side].fd, FIONREAD, &n) ? 0 : n;
}

static size_t some_bytes(struct program *p, int side, unsigned char *buf)
{
	size_t len = below(p, 4) ? below(p, 100) : below(p, MOST);

	if (unread(p, side) + len > UNREAD)
		len = 0;
	stream_fill(buf, len, p->sent[side]);
	return len;
}

static void count_sent(struct program *p, int side, ssize_t n)
{
	p->sent[side] += n > 0 ? n : 0;
}

static const int send_flags[] = { 0, 0, 0, MSG_NOSIGNAL, MSG_DONTWAIT, MSG_EOR, MSG_MORE };
static const int recv_flags[] = { 0, 0, 0, MSG_PEEK, MSG_TRUNC, MSG_WAITALL, MSG_PEEK | MSG_TRUNC,
				  MSG_CMSG_CLOEXEC };

#define OF(array)	array, sizeof(array) / sizeof((array)[0])

static void do_send(struct program *p, int side)
{
	unsigned char buf[MOST];
	size_t len = some_bytes(p, side, buf);
	int flags = one_of(p, OF(send_flags));
	long n;

	errno = 0;
	n = end_send(&p->e[side], buf, len, flags);
	trace_ret(n, errno, "%d: send by %d, %zu, %#x", p->name, side, len, flags);
	count_sent(p, side, n);
}

/* In parts, some of them empty. */
static int split(struct program *p, struct iovec *iov, unsigned char *buf, size_t len)
{
	int n = 1 + below(p, PARTS), i;

	for (i = 0; i < n; i++) {
		size_t part = i + 1 < n ? below(p, len + 1) : len;

		iov[i] = (struct iovec){ buf, part };
		buf += part;
		len -= part;
	}
	return n;
}

static void do_sendv(struct program *p, int side)
{
	int parts, flags = one_of(p, OF(send_flags));
	unsigned char buf[MOST];
	struct iovec iov[PARTS];
	size_t len = some_bytes(p, side, buf);
	long n;

	parts = split(p, iov, buf, len);
	errno = 0;
	n = end_sendv(&p->e[side], iov, parts, flags);
	trace_ret(n, errno, "%d: sendmsg by %d, %zu in %d, %#x", p->name, side, len, parts, flags);
	count_sent(p, side, n);
}

/* By the descriptor, whoever has it mapped. */
static void do_write(struct program *p, int side)
{
	unsigned char buf[MOST];
	size_t len = some_bytes(p, side, buf);
	int fd = dup(p->e[side].fd);
	long n;

	MUST(fd >= 0);
	errno = 0;
	n = write(fd, buf, len);
	trace_ret(n, errno, "%d: write by %d, %zu", p->name, side, len);
	count_sent(p, side, n);
	close(fd);
}

/* With MSG_TRUNC more may have come than there was room for. */
static void told(struct program *p, const unsigned char *buf, size_t len, long n)
{
	if (n > 0)
		trace_bytes(buf, n < (long)len ? (size_t)n : len, "%d: what came", p->name);
}

/* Where the peer has closed AF_UNIX's errors may be lost to MSG_WAITALL: close.unread_waitall. */
static int receiving(struct program *p)
{
	int flags = one_of(p, OF(recv_flags)) | MSG_DONTWAIT;

	return p->closed < 0 ? flags : flags & ~MSG_WAITALL;
}

static void do_recv(struct program *p, int side)
{
	size_t len = below(p, 4) ? below(p, 200) : below(p, MOST);
	int flags = receiving(p);
	unsigned char buf[MOST] = { 0 };
	long n;

	errno = 0;
	n = end_recv(&p->e[side], buf, len, flags);
	trace_ret(n, errno, "%d: recv by %d, %zu, %#x", p->name, side, len, flags);
	told(p, buf, len, n);
}

static void do_recvmsg(struct program *p, int side)
{
	int parts, flags = receiving(p);
	unsigned char buf[MOST] = { 0 };
	char control[64];
	struct iovec iov[PARTS];
	struct msghdr m = { .msg_iov = iov, .msg_control = control, .msg_controllen = 64 };
	size_t len = below(p, MOST);
	long n;

	parts = split(p, iov, buf, len);
	m.msg_iovlen = parts;
	errno = 0;
	n = recvmsg(p->e[side].fd, &m, flags);
	trace_ret(n, errno, "%d: recvmsg by %d, %zu in %d, %#x", p->name, side, len, parts, flags);
	if (n >= 0)
		trace_num(m.msg_flags | (long)m.msg_controllen << 32, "%d: its flags", p->name);
	told(p, buf, len, n);
}

static void do_recvv(struct program *p, int side)
{
	unsigned char buf[MOST] = { 0 };
	struct iovec iov[PARTS];
	size_t len = below(p, MOST);
	int parts = split(p, iov, buf, len);
	long n;

	errno = 0;
	n = end_recvv(&p->e[side], iov, parts, MSG_DONTWAIT);
	trace_ret(n, errno, "%d: recvmsg of the library's by %d, %zu in %d", p->name, side, len,
		  parts);
	told(p, buf, len, n);
}

static void do_look(struct program *p, int side)
{
	int n = -1, err = -1;
	socklen_t len = sizeof(err);

	trace_mask(poll_now(p->e[side].fd, POLL_ALL), "%d: poll of %d", p->name, side);
	NOTE(ioctl(p->e[side].fd, FIONREAD, &n), "%d: FIONREAD", p->name);
	trace_num(n, "%d: it says", p->name);
	if (below(p, 4))
		return;
	NOTE(getsockopt(p->e[side].fd, SOL_SOCKET, SO_ERROR, &err, &len), "%d: SO_ERROR", p->name);
	trace_num(err, "%d: it says", p->name);
}

/* Not often: little works afterwards. */
static void do_shutdown(struct program *p, int side)
{
	int how = below(p, 3);

	if (!below(p, 3))
		NOTE(shutdown(p->e[side].fd, how), "%d: shutdown of %d, %d", p->name, side, how);
}

static void (*const steps[])(struct program *p, int side) = {
	do_send, do_send, do_send, do_sendv, do_sendv, do_write, do_recv, do_recv, do_recv, do_recv,
	do_recvmsg, do_recvmsg, do_recvv, do_look, do_look, do_shutdown,
};

static void run(struct program *p, int n)
{
	for (; n; n--) {
		int side = some_end(p);

		steps[below(p, sizeof(steps) / sizeof(steps[0]))](p, side);
	}
}

static void programs(const struct transport *t)
{
	struct program p = { .c = chance_of(17) };

	for (p.name = 1; p.name <= soak_times(PROGRAMS, 5); p.name++) {
		p.closed = -1;
		p.sent[0] = p.sent[1] = 0;
		tp_pair(t, p.e);
		run(&p, STEPS);
		p.closed = below(&p, 2);
		end_close(&p.e[p.closed]);
		run(&p, AFTER);
		end_close(&p.e[!p.closed]);
	}
}

static const struct test_case cases[] = {
	{ "programs", programs, CASE_BOTH | CASE_PATHS | CASE_LONG },
};

RUN_CASES(cases)
