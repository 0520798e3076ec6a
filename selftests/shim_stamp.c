// SPDX-License-Identifier: GPL-2.0
/* Time stamps of packets: who asks for them gets them, as on plain TCP. */
#define _GNU_SOURCE
#include <time.h>

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <sys/uio.h>
#include <unistd.h>

#include "mapped.h"
#include "stress.h"
#include "tcp_pair.h"

#define LATE_MS	20000

/* The first control message of a receive, or 0; the bytes must be there. */
static int control_of(int fd, int flags, int *level)
{
	char buf[64], control[512];
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;

	if (recvmsg(fd, &m, flags) < 0)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	*level = c ? c->cmsg_level : 0;
	return c ? c->cmsg_type : 0;
}

static int stamp_after(const char *who, const int fd[2], int name, int value)
{
	long until = now_ms() + LATE_MS;
	int level, type;

	WANT_OK(set_int(fd[1], SOL_SOCKET, name, value), "ask");
	/* The first one who asks has them switched on a moment later. */
	do {
		sleep_ms(100);
		WANT(send(fd[0], "stamped", 7, 0), 7, 0, "send");
		type = control_of(fd[1], 0, &level);
	} while (!type && now_ms() < until);
	WANT(level, SOL_SOCKET, 0, "%s: a control message", who);
	return type;
}

static void received(const struct transport *t)
{
	static const struct {
		int name, value;
	} asks[] = {
		{ SO_TIMESTAMP, 1 }, { SO_TIMESTAMPNS, 1 },
		{ SO_TIMESTAMPING, SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE },
	};
	long not = stat_number("tcp_not_stamp");
	int fd[2], plain[2], type;
	size_t i;

	(void)t;
	tcp_own_net();
	for (i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		tcp_shim_set(0);
		tcp_pair(plain);
		tcp_shim_set(1);
		tcp_fused_pair(fd);
		type = stamp_after("plain", plain, asks[i].name, asks[i].value);
		WANT(stamp_after("fused", fd, asks[i].name, asks[i].value), type, 0,
		     "as on plain TCP");
		WANT(tcp_reason(fd[0]), SPEED_TCP_STAMP, 0, "the reason");
		WANT_OK(set_int(fd[1], SOL_SOCKET, asks[i].name, 0), "no more");
		WANT_TRUE(tcp_fuses(fd), "fused again");
		tcp_close(plain);
		tcp_close(fd);
	}
	WANT(stat_number("tcp_not_stamp") - not, i, 0, "tcp_not_stamp");
}

/* Bytes that lie in the ring have none; those after them do. */
static void in_the_stream(const struct transport *t)
{
	int fd[2], other[2], level;
	char buf[64];

	(void)t;
	tcp_shim_net();
	/* The first who asks on a machine makes it begin to stamp, a moment later. */
	tcp_pair(other);
	WANT(stamp_after("another", other, SO_TIMESTAMP, 1), SO_TIMESTAMP, 0, "another's");
	tcp_fused_pair(fd);
	WANT_TRUE(tcp_put(fd[0], 30, 0), "by the ring");
	WANT_OK(set_int(fd[1], SOL_SOCKET, SO_TIMESTAMP, 1), "ask");
	WANT_TRUE(mapped_left(fd[0], SPEED_ROLE_TX), "nobody maps it any more");
	WANT_TRUE(tcp_put(fd[0], 30, 30), "by TCP");
	WANT(recv(fd[1], buf, 30, 0), 30, 0, "recv");
	WANT_TRUE(stream_check(buf, 30, 0), "the bytes");
	WANT(control_of(fd[1], MSG_PEEK, &level), SO_TIMESTAMP, 0, "peek at a stamp");
	WANT(control_of(fd[1], 0, &level), SO_TIMESTAMP, 0, "a stamp");
	tcp_close(other);
	tcp_close(fd);
}

static int error_type(int fd)
{
	int level;

	poll_wait(fd, 0, 5000);
	return control_of(fd, MSG_ERRQUEUE, &level);
}

static void sent(const struct transport *t)
{
	int ask = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_TX_ACK |
		  SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_ID;
	int fd[2], level, i;

	(void)t;
	tcp_shim_net();
	tcp_fused_pair(fd);
	for (i = 0; i < 2; i++) {
		WANT_OK(set_int(fd[i], SOL_SOCKET, SO_TIMESTAMPING, ask), "ask");
		WANT(send(fd[i], "x", 1, 0), 1, 0, "send");
		WANT_TRUE(!(tcp_flags(fd[i]) & SPEED_FUSION_TX), "by TCP");
		WANT(tcp_reason(fd[i]), SPEED_TCP_STAMP, 0, "the reason");
		WANT(error_type(fd[i]), SO_TIMESTAMPING, 0, "when it was sent");
		WANT(control_of(fd[!i], 0, &level), 0, 0, "recv");
		WANT(error_type(fd[i]), SO_TIMESTAMPING, 0, "when it was acknowledged");
		WANT_OK(set_int(fd[i], SOL_SOCKET, SO_TIMESTAMPING, 0), "no more");
		WANT_TRUE(tcp_fuses(fd), "fused again");
	}
	tcp_close(fd);
}

static const struct test_case cases[] = {
	{ "received", received, CASE_STREAM | CASE_SPEED },
	{ "in_the_stream", in_the_stream, CASE_STREAM | CASE_SPEED },
	{ "sent", sent, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
