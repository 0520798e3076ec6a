// SPDX-License-Identifier: GPL-2.0
/*
 * What is told of a fused connection: TCP_INFO's counters of bytes, what is
 * unread and unsent, and its line in /proc/net/speed_tcp.
 */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "stress.h"
#include "tcp_pair.h"
#include "uring.h"

static struct tcp_info info_of(int fd)
{
	struct tcp_info i = { 0 };
	socklen_t len = sizeof(i);

	MUST(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &len) == 0);
	return i;
}

/* What it sent again, because an acknowledgement was late, is its own affair. */
static __u64 sent_once(const struct tcp_info *i)
{
	return i->tcpi_bytes_sent - i->tcpi_bytes_retrans;
}

/* Bytes and acknowledgements of TCP may be late, on either. */
static void want_same_info(int got, int want, const char *when)
{
	long until = now_ms() + 3000;
	struct tcp_info g, w;

	for (;;) {
		w = info_of(want);
		g = info_of(got);
		if ((w.tcpi_bytes_acked >= sent_once(&w) && g.tcpi_bytes_acked >= sent_once(&g) &&
		     w.tcpi_bytes_received == g.tcpi_bytes_received) || now_ms() > until)
			break;
		sleep_ms(10);
	}
	WANT(sent_once(&g), sent_once(&w), 0, "%s: bytes sent", when);
	WANT(g.tcpi_bytes_acked, w.tcpi_bytes_acked, 0, "%s: bytes acknowledged", when);
	WANT(g.tcpi_bytes_received, w.tcpi_bytes_received, 0, "%s: bytes received", when);
	WANT(g.tcpi_notsent_bytes, w.tcpi_notsent_bytes, 0, "%s: bytes not sent", when);
	WANT(g.tcpi_unacked, w.tcpi_unacked, 0, "%s: segments under way", when);
	WANT(g.tcpi_state, w.tcpi_state, 0, "%s: state", when);
}

/* The same on plain TCP and fused: a connection of each, fd[0] and fd[1]. */
static void two_kinds(int plain[2], int fused[2])
{
	tcp_own_net();
	tcp_pair(plain);
	MUST(tcp_exchange(plain));
	tcp_shim_set(1);
	tcp_fused_pair(fused);
}

static void counters(const struct transport *t)
{
	int kind[2][2], i;

	(void)t;
	two_kinds(kind[0], kind[1]);
	want_same_info(kind[1][0], kind[0][0], "after an exchange");
	want_same_info(kind[1][1], kind[0][1], "the other end");
	for (i = 0; i < 2; i++)
		WANT_TRUE(tcp_put(kind[i][0], 5000, 0), "put");
	want_same_info(kind[1][0], kind[0][0], "unread, the sender");
	want_same_info(kind[1][1], kind[0][1], "unread, the receiver");
	for (i = 0; i < 2; i++)
		WANT_TRUE(tcp_get(kind[i][1], 4000, 0), "get some");
	want_same_info(kind[1][1], kind[0][1], "some of it read");
	MUST(tcp_set_fuse(kind[1][0], 0) == 0);
	for (i = 0; i < 2; i++)
		WANT_TRUE(tcp_put(kind[i][0], 300, 5000) && tcp_put(kind[i][1], 200, 0), "by TCP");
	want_same_info(kind[1][0], kind[0][0], "some by TCP");
	MUST(tcp_set_fuse(kind[1][0], 1) == 0);
	for (i = 0; i < 2; i++) {
		WANT_TRUE(tcp_get(kind[i][1], 1300, 4000) && tcp_get(kind[i][0], 200, 0), "get");
		WANT_TRUE(tcp_exchange(kind[i]), "exchange");
		WANT_TRUE(tcp_pump(kind[i][0], kind[i][1], 700000), "bulk");
	}
	WANT_TRUE(tcp_fused(kind[1]), "fused again");
	want_same_info(kind[1][0], kind[0][0], "after all");
	want_same_info(kind[1][1], kind[0][1], "after all, the other end");
	WANT_TRUE(info_of(kind[1][0]).tcpi_bytes_sent > 700000, "they are counted");
}

static int asked(int fd, unsigned long what)
{
	int n = -1;

	return ioctl(fd, what, &n) ? -1 : n;
}

/* What TCP_INQ tells beside the bytes; -1 where it does not. */
static int inq_of(int fd, size_t len, int flags)
{
	char buf[8192], control[64];
	struct iovec iov = { buf, len };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;
	int n = -1;

	MUST(recvmsg(fd, &m, flags) >= 0);
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == IPPROTO_TCP && c->cmsg_type == TCP_CM_INQ)
		memcpy(&n, CMSG_DATA(c), sizeof(n));
	return n;
}

/* Written down for both kinds, line against line. */
static void queues_of(const int fd[2], bool fused, char *story, size_t size)
{
	size_t at = 0;

#define TELL(what)	at += snprintf(story + at, size - at, " %d", what)
	MUST(set_int(fd[1], IPPROTO_TCP, TCP_INQ, 1) == 0);
	TELL(asked(fd[1], SIOCINQ));
	TELL(asked(fd[0], SIOCOUTQ));
	MUST(tcp_put(fd[0], 3000, 0));
	tcp_settled(fd[0]);
	TELL(asked(fd[1], SIOCINQ));
	TELL(asked(fd[0], SIOCOUTQ));
	TELL(asked(fd[0], SIOCOUTQNSD));
	TELL(inq_of(fd[1], 1000, 0));
	TELL(inq_of(fd[1], 500, MSG_PEEK));
	TELL(asked(fd[1], SIOCINQ));
	if (fused)
		MUST(tcp_set_fuse(fd[0], 0) == 0);
	MUST(tcp_put(fd[0], 1000, 3000));
	tcp_settled(fd[0]);
	TELL(asked(fd[1], SIOCINQ));
	TELL(inq_of(fd[1], 500, 0));
	TELL(inq_of(fd[1], 2000, 0));
	TELL(asked(fd[1], SIOCINQ));
	TELL(asked(fd[1], SIOCATMARK));
	if (fused)
		MUST(tcp_set_fuse(fd[0], 1) == 0);
	MUST(shutdown(fd[0], SHUT_WR) == 0);
	poll_wait(fd[1], POLLRDHUP, 5000);
	TELL(asked(fd[1], SIOCINQ));
	TELL(inq_of(fd[1], 8000, 0));
	TELL(asked(fd[1], SIOCINQ));
	TELL(inq_of(fd[1], 1, 0));
#undef TELL
}

static void queues(const struct transport *t)
{
	char want[512] = "", got[512] = "";
	int plain[2], fused[2];

	(void)t;
	two_kinds(plain, fused);
	queues_of(plain, false, want, sizeof(want));
	queues_of(fused, true, got, sizeof(got));
	WANT_TRUE(!strcmp(want, got), "plain%s, fused%s", want, got);
}

/* Its own stamps of what it sends are no reason not to be told. */
static void inq_with_stamps(const struct transport *t)
{
	int ask = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
	int kind[2][2], i;

	(void)t;
	two_kinds(kind[0], kind[1]);
	for (i = 0; i < 2; i++) {
		MUST(set_int(kind[i][1], SOL_SOCKET, SO_TIMESTAMPING, ask) == 0);
		MUST(set_int(kind[i][1], IPPROTO_TCP, TCP_INQ, 1) == 0);
		MUST(tcp_put(kind[i][0], 100, 0));
		tcp_settled(kind[i][0]);
		WANT(inq_of(kind[i][1], 30, MSG_PEEK), 100, 0, "%d: peek", i);
		WANT(inq_of(kind[i][1], 30, 0), 70, 0, "%d: recv", i);
		WANT(inq_of(kind[i][1], 70, 0), 0, 0, "%d: the rest", i);
		/* By TCP, and then by the ring. */
		MUST(tcp_send_odd(kind[i][0], "0123456789", 10, 0) == 10);
		tcp_settled(kind[i][0]);
		MUST(tcp_put(kind[i][0], 50, 0));
		tcp_settled(kind[i][0]);
		WANT(inq_of(kind[i][1], 10, 0), 50, 0, "%d: recv of TCP's", i);
		WANT(inq_of(kind[i][1], 50, 0), 0, 0, "%d: recv of the ring's", i);
		tcp_close(kind[i]);
	}
}

/* io_uring asks with each receive whether there is more. */
static void uring_more(const struct transport *t)
{
	struct io_uring_cqe cqe;
	int kind[2][2], i;
	struct uring u;
	char buf[64];

	(void)t;
	need_uring(&u);
	two_kinds(kind[0], kind[1]);
	for (i = 0; i < 2; i++) {
		MUST(tcp_put(kind[i][0], 60, 0));
		tcp_settled(kind[i][0]);
		uring_prepare(&u, IORING_OP_RECV, kind[i][1], buf, 40, 1);
		uring_submit(&u);
		WANT_TRUE(uring_wait(&u, &cqe, URING_SOON_MS) && cqe.res == 40, "%d: recv", i);
		WANT_TRUE(cqe.flags & IORING_CQE_F_SOCK_NONEMPTY, "%d: there is more", i);
		uring_prepare(&u, IORING_OP_RECV, kind[i][1], buf, 20, 2);
		uring_submit(&u);
		WANT_TRUE(uring_wait(&u, &cqe, URING_SOON_MS) && cqe.res == 20, "%d: recv", i);
		WANT_TRUE(!(cqe.flags & IORING_CQE_F_SOCK_NONEMPTY), "%d: there is no more", i);
		tcp_close(kind[i]);
	}
	uring_close(&u);
}

static void listed(const struct transport *t)
{
	char line[512], inode[32], want[3][128], local[64], remote[64], fill[64], ring[64],
		why[32];
	unsigned long number[7];
	struct stat st;
	int fd[2], i, seen = 0;
	FILE *f;

	(void)t;
	tcp_shim_net();
	tcp_fused_pair(fd);
	WANT_TRUE(tcp_put(fd[0], 1000, 0), "put");
	MUST(fstat(fd[0], &st) == 0);
	snprintf(inode, sizeof(inode), "%lu", (unsigned long)st.st_ino);
	for (i = 0; i < 2; i++) {
		struct sockaddr_in in;
		socklen_t len = sizeof(in);

		MUST(getsockname(fd[i], (void *)&in, &len) == 0);
		snprintf(want[i], sizeof(want[i]), LOCAL4 ":%u", ntohs(in.sin_port));
	}
	f = fopen("/proc/net/speed_tcp", "r");
	MUST(f && fgets(line, sizeof(line), f));
	WANT_TRUE(!strcmp(line, "local remote inode uid pair tx rx fill ring fused unfused why\n"),
		  "head");
	while (fgets(line, sizeof(line), f)) {
		MUST(sscanf(line, "%63s %63s %lu %lu %lu %lu %lu %63s %63s %lu %lu %31s", local,
			    remote, &number[0], &number[1], &number[2], &number[3], &number[4], fill,
			    ring, &number[5], &number[6], why) == 12);
		if (number[0] != st.st_ino)
			continue;
		seen++;
		WANT_TRUE(!strcmp(local, want[0]) && !strcmp(remote, want[1]), "the addresses");
		WANT(number[1], geteuid(), 0, "uid");
		WANT_TRUE(number[2] == tcp_fusion(fd[1]).pair, "pair");
		WANT(number[3], 1009, 0, "tx");
		WANT(number[4], 9, 0, "rx");
		WANT(number[5] * 10 + number[6], 10, 0, "fused once");
		WANT_TRUE(!strcmp(why, "fused"), "why: %s", why);
		WANT_TRUE(!strcmp(fill, "1000/0"), "fill: %s", fill);
		WANT_TRUE(atoi(ring) > 0, "ring: %s", ring);
	}
	fclose(f);
	WANT(seen, 1, 0, "lines of this socket");
	tcp_close(fd);
}

static const struct test_case cases[] = {
	{ "counters", counters, CASE_STREAM | CASE_SPEED },
	{ "queues", queues, CASE_STREAM | CASE_SPEED },
	{ "inq_with_stamps", inq_with_stamps, CASE_STREAM | CASE_SPEED },
	{ "uring_more", uring_more, CASE_STREAM | CASE_SPEED },
	{ "listed", listed, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
