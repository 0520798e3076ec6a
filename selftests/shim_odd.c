// SPDX-License-Identifier: GPL-2.0
/*
 * Sends that a ring does not carry go by TCP, and the next plain one by the ring
 * again: urgent bytes, MSG_ZEROCOPY with its completions, control messages. And
 * Fast Open, whose first bytes are in the SYN.
 */
#define _GNU_SOURCE
#include <time.h>

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stress.h"
#include "task.h"
#include "tcp_pair.h"

#define SOON_MS	20000

static int at_mark(int fd)
{
	int yes = -1;

	MUST(ioctl(fd, SIOCATMARK, &yes) == 0);
	return yes;
}

/* All that can be told apart of a stream with urgent bytes, as text. */
static void urgent_story(const int fd[2], bool in_line, char *story, size_t size)
{
	char buf[64] = "", urgent = '-';
	size_t at = 0;
	ssize_t n;
	int i;

	MUST(set_int(fd[1], SOL_SOCKET, SO_OOBINLINE, in_line) == 0);
	MUST(send(fd[0], "before", 6, 0) == 6);
	MUST(send(fd[0], "+U", 2, MSG_OOB) == 2);
	MUST(send(fd[0], "after", 5, 0) == 5);
	MUST(tcp_settled(fd[0]));
	at += snprintf(story + at, size - at, "poll %x", poll_wait(fd[1], POLLPRI, SOON_MS));
	for (i = 0; i < 6; i++) {
		at += snprintf(story + at, size - at, ", mark %d", at_mark(fd[1]));
		if (i == 1) {
			n = recv(fd[1], &urgent, 1, MSG_OOB);
			at += snprintf(story + at, size - at, ", urgent %zd %c", n, urgent);
		}
		memset(buf, 0, sizeof(buf));
		poll_wait(fd[1], POLLIN, 100);
		n = recv(fd[1], buf, 4, MSG_DONTWAIT);
		at += snprintf(story + at, size - at, ", %zd \"%s\"", n, buf);
	}
}

static void urgent(const struct transport *t)
{
	char want[512], got[512];
	int fd[2], plain[2], i;

	(void)t;
	tcp_own_net();
	tcp_pair(plain);
	tcp_shim_set(1);
	tcp_fused_pair(fd);
	for (i = 0; i < 4; i++) {
		long odd = stat_number("tcp_not_odd");
		int way[2] = { fd[i / 2], fd[!(i / 2)] };

		urgent_story(plain, i & 1, want, sizeof(want));
		urgent_story(way, i & 1, got, sizeof(got));
		if (strcmp(want, got)) {
			trace_str(want, "plain TCP");
			trace_str(got, "fused TCP");
		}
		WANT_TRUE(!strcmp(want, got), "%d: as on plain TCP", i);
		WANT(stat_number("tcp_not_odd") - odd, 1, 0, "tcp_not_odd");
		WANT_TRUE(tcp_fuses(fd), "fused again");
	}
	tcp_close(plain);
	tcp_close(fd);
}

/* On plain TCP, or fused. */
static void odd_pair(int fd[2], bool fused)
{
	tcp_shim_set(fused);
	tcp_pair(fd);
	WANT_TRUE(!fused || tcp_fuses(fd), "fused");
}

/* A pair whose reader has so little room that its ring keeps its bytes before an urgent one. */
static void pair_little_room(int fd[2], bool fused, bool in_line)
{
	odd_pair(fd, fused);
	WANT_OK(set_int(fd[1], SOL_SOCKET, SO_RCVBUF, 3000), "SO_RCVBUF");
	WANT_OK(set_int(fd[1], SOL_SOCKET, SO_OOBINLINE, in_line), "SO_OOBINLINE");
	WANT(send(fd[0], "xyz", 3, 0), 3, 0, "send");
}

static void urgent_little_room(const struct transport *t)
{
	char buf[100];
	int fd[2], i;

	(void)t;
	tcp_own_net();
	for (i = 0; i < 4; i++) {
		pair_little_room(fd, i & 1, i / 2);
		WANT(send(fd[0], "abU", 3, MSG_OOB), 3, 0, "MSG_OOB");
		poll_wait(fd[1], POLLPRI, SOON_MS);
		WANT(recv(fd[1], buf, 100, MSG_PEEK | MSG_WAITALL), 5, 0, "a peek that waits");
		WANT_TRUE(!memcmp(buf, "xyzab", 5), "in order");
		WANT(recv(fd[1], buf, 100, MSG_WAITALL), 5, 0, "a read that waits");
		WANT_TRUE(!memcmp(buf, "xyzab", 5), "in order");
		WANT(at_mark(fd[1]), 1, 0, "at the mark");
		tcp_close(fd);
	}
}

/* A peek that begins with the urgent byte passes over it, and waits for the next. */
static void urgent_peek_at(const struct transport *t)
{
	char buf[100];
	int fd[2], i;

	(void)t;
	tcp_own_net();
	for (i = 0; i < 2; i++) {
		pair_little_room(fd, i, false);
		/* Linux 6.1: nothing to agree on. */
		if (set_int(fd[1], SOL_SOCKET, SO_PEEK_OFF, 3)) {
			WANT_ERR(set_int(fd[1], SOL_SOCKET, SO_PEEK_OFF, 3), EOPNOTSUPP,
				 "SO_PEEK_OFF");
			tcp_close(fd);
			continue;
		}
		WANT(send(fd[0], "U", 1, MSG_OOB), 1, 0, "MSG_OOB");
		poll_wait(fd[1], POLLPRI, SOON_MS);
		set_timeout(fd[1], SO_RCVTIMEO, 100);
		WANT_ERR(recv(fd[1], buf, 1, MSG_PEEK), EAGAIN, "in time");
		WANT(recv(fd[1], buf, 100, 0), 3, 0, "recv");
		tcp_close(fd);
	}
}

static long peek_all(void *arg)
{
	char buf[10];

	return recv(*(int *)arg, buf, sizeof(buf), MSG_PEEK | MSG_WAITALL);
}

/* A peek that waits ends at the next urgent byte, also where it has passed one over. */
static void urgent_twice(const struct transport *t)
{
	struct task peek;
	int fd[2], i;

	(void)t;
	tcp_own_net();
	for (i = 0; i < 2; i++) {
		odd_pair(fd, i);
		WANT(send(fd[0], "U", 1, MSG_OOB), 1, 0, "MSG_OOB");
		WANT(send(fd[0], "a", 1, 0), 1, 0, "send");
		task_start(&peek, peek_all, &fd[1]);
		WANT_TRUE(task_sleeps(&peek), "a peek that waits");
		WANT(send(fd[0], "V", 1, MSG_OOB), 1, 0, "MSG_OOB");
		WANT_TRUE(task_ends(&peek, SOON_MS), "it ends");
		shutdown(fd[0], SHUT_WR);
		WANT_TRUE(task_join(&peek) > 0, "with what there is");
		tcp_close(fd);
	}
}

/*
 * An urgent byte that was sent before the connection was attached is the next to read. What
 * follows goes to no ring until it was passed: TCP would pass over it to what comes later.
 */
static void urgent_before(const struct transport *t)
{
	long odd = stat_number("tcp_not_odd"), fused = stat_number("tcp_fused");
	char buf[1000];
	int fd[2], i, n = 0;

	(void)t;
	tcp_own_net();
	tcp_shim_set(0);
	tcp_pair(fd);
	WANT_OK(set_int(fd[0], IPPROTO_TCP, TCP_NODELAY, 1), "TCP_NODELAY");
	WANT(send(fd[0], "U", 1, MSG_OOB), 1, 0, "MSG_OOB");
	for (i = 0; i < 2; i++)
		WANT_OK(tcp_set_ulp(fd[i], "speed"), "TCP_ULP");
	/* The calls of before are waited for first. */
	do {
		WANT(send(fd[0], "a", 1, 0), 1, 0, "send");
		sleep_ms(10);
	} while (++n < (int)sizeof(buf) - 1 && stat_number("tcp_not_odd") == odd &&
		 stat_number("tcp_fused") == fused);
	WANT(stat_number("tcp_not_odd"), odd + 1, 0, "tcp_not_odd");
	WANT_OK(tcp_set_fuse(fd[0], 0), "stay out");
	WANT(send(fd[0], "b", 1, 0), 1, 0, "send");
	WANT(recv(fd[1], buf, n + 1, MSG_WAITALL), n + 1, 0, "recv");
	for (i = 0; i < n && buf[i] == 'a'; i++)
		;
	WANT_TRUE(i == n && buf[n] == 'b', "in order");
	WANT_OK(tcp_set_fuse(fd[0], 1), "take part");
	WANT_TRUE(tcp_fuses(fd), "fused once it was passed");
	tcp_close(fd);
}

/* The range of a completion: 0 where there is none. */
static int completed(int fd, uint32_t *from, uint32_t *to)
{
	char control[512];
	struct msghdr m = { .msg_control = control, .msg_controllen = sizeof(control) };
	struct sock_extended_err *err;
	struct cmsghdr *c;

	poll_wait(fd, 0, SOON_MS);
	if (recvmsg(fd, &m, MSG_ERRQUEUE))
		return 0;
	c = CMSG_FIRSTHDR(&m);
	MUST(c);
	err = (void *)CMSG_DATA(c);
	*from = err->ee_info;
	*to = err->ee_data;
	return err->ee_errno == 0 && err->ee_origin == SO_EE_ORIGIN_ZEROCOPY;
}

static void zerocopy(const struct transport *t)
{
	static unsigned char buf[16384];
	uint32_t from, to, next = 0;
	int fd[2], i, asked;

	(void)t;
	tcp_own_net();
	for (asked = 0; asked < 2; asked++) {
		next = 0;
		tcp_shim_set(!asked);
		tcp_pair(fd);
		for (i = 0; asked && i < 2; i++)
			MUST(tcp_set_ulp(fd[i], "speed") == 0);
		WANT_TRUE(tcp_fuses(fd), "fused");
		WANT_OK(set_int(fd[0], SOL_SOCKET, SO_ZEROCOPY, 1), "SO_ZEROCOPY");
		stream_fill(buf, sizeof(buf), 0);
		for (i = 0; i < 5; i++) {
			WANT(send(fd[0], buf, sizeof(buf), MSG_ZEROCOPY), sizeof(buf), 0, "send");
			WANT_TRUE(tcp_get(fd[1], sizeof(buf), 0), "recv");
			WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "plain sends use the ring");
		}
		while (next < 5) {
			WANT(completed(fd[0], &from, &to), 1, 0, "a completion");
			WANT(from, next, 0, "in order");
			if (from != next)
				break;
			next = to + 1;
		}
		WANT(next, 5, 0, "completions");
		tcp_close(fd);
	}
}

static void control(const struct transport *t)
{
	char buf[100], got[300];
	int fd[2], i;

	(void)t;
	tcp_shim_net();
	tcp_fused_pair(fd);
	for (i = 0; i < 20; i++) {
		stream_fill(buf, sizeof(buf), 100);
		WANT_TRUE(tcp_put(fd[i & 1], 100, 0), "plain");
		WANT(tcp_send_odd(fd[i & 1], buf, 100, 0), 100, 0, "with a control message");
		WANT_TRUE(tcp_put(fd[i & 1], 100, 200), "plain");
		WANT(recv(fd[!(i & 1)], got, 300, MSG_WAITALL), 300, 0, "recv");
		WANT_TRUE(stream_check(got, 300, 0), "in order");
	}
	WANT_TRUE(tcp_fuses(fd), "fused again");
	tcp_close(fd);
}

#define ANY_FASTOPEN	"1543"	/* both sides, no cookies, no option of listeners */

/* Bytes in the SYN: by sendto(), or by connect() which waits for the first send. */
static void fastopen(const struct transport *t)
{
	long not = stat_number("tcp_not_fastopen");
	struct address a;
	int listener, fd[2], i;

	(void)t;
	tcp_shim_net();
	if (file_write("/proc/sys/net/ipv4/tcp_fastopen", ANY_FASTOPEN))
		trace_skip("needs net.ipv4.tcp_fastopen");
	for (i = 0; i < 2; i++) {
		listener = tcp_listen_at(LOCAL4, 0, &a);
		WANT_OK(set_int(listener, IPPROTO_TCP, TCP_FASTOPEN, 16), "a listener");
		fd[0] = tcp_socket(&a);
		if (i) {
			WANT_OK(set_int(fd[0], IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1), "ask");
			WANT_OK(connect_to(fd[0], &a), "connect");
			WANT(send(fd[0], "in the SYN", 10, 0), 10, 0, "send");
		} else {
			WANT(sendto(fd[0], "in the SYN", 10, MSG_FASTOPEN, (void *)&a.sa, a.len),
			     10, 0, "sendto");
		}
		fd[1] = tcp_accept(listener);
		WANT(recv(fd[1], (char [16]){ 0 }, 16, 0), 10, 0, "recv");
		WANT_TRUE(tcp_exchange(fd) && tcp_exchange(fd), "exchange");
		WANT_TRUE(tcp_pump(fd[0], fd[1], 300000), "bulk");
		/* Of the second kind it is not known when it begins. */
		WANT_TRUE(i || !tcp_fused(fd), "on TCP");
		tcp_close(fd);
		close(listener);
	}
	WANT_TRUE(stat_number("tcp_not_fastopen") > not, "tcp_not_fastopen");
}

static const struct test_case cases[] = {
	{ "urgent", urgent, CASE_STREAM | CASE_SPEED },
	{ "urgent_little_room", urgent_little_room, CASE_STREAM | CASE_SPEED },
	{ "urgent_twice", urgent_twice, CASE_STREAM | CASE_SPEED },
	{ "urgent_before", urgent_before, CASE_STREAM | CASE_SPEED },
	{ "urgent_peek_at", urgent_peek_at, CASE_STREAM | CASE_SPEED },
	{ "zerocopy", zerocopy, CASE_STREAM | CASE_SPEED },
	{ "control", control, CASE_STREAM | CASE_SPEED },
	{ "fastopen", fastopen, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
