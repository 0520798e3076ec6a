// SPDX-License-Identifier: GPL-2.0
/*
 * Options of TCP that a ring does not go with, set on a fused connection in the
 * middle of its stream: IPV6_ADDRFORM, TCP_REPAIR, TCP_ZEROCOPY_RECEIVE and
 * TCP_MD5SIG.
 */
#define _GNU_SOURCE
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stress.h"
#include "tcp_pair.h"

/* So many bytes by the ring, and as many by TCP after them. */
static void put_both(int fd, size_t len)
{
	WANT_TRUE(tcp_put(fd, len, 0), "unread, by the ring");
	MUST(tcp_set_fuse(fd, 0) == 0);
	WANT_TRUE(tcp_put(fd, len, len), "unread, by TCP after it");
	MUST(tcp_set_fuse(fd, 1) == 0);
}

static int addrform(int fd, int family)
{
	return setsockopt(fd, IPPROTO_IPV6, IPV6_ADDRFORM, &family, sizeof(family));
}

static int family_of(int fd)
{
	struct address a;

	MUST(get_sockname(fd, &a) == 0);
	return a.sa.ss_family;
}

static void addrforms(const struct transport *t)
{
	int fd[2], i;

	(void)t;
	tcp_shim_net();
	for (i = 0; i < 6; i++) {
		/* The end that changes: who connects, who was accepted, both. */
		tcp_pair_via("::", MAPPED, fd);
		WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "fused");
		WANT_ERR(addrform(fd[0], AF_INET6), EINVAL, "to what it is");
		WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "fused as before");
		if (i & 1) {
			put_both(fd[0], 6000);
			put_both(fd[1], 6000);
		}
		if (i / 2 != 1) {
			WANT_OK(addrform(fd[0], AF_INET), "%d: who connected", i);
			WANT(family_of(fd[0]), AF_INET, 0, "its family");
			WANT(tcp_takes_part(fd[0]), 0, 0, "it takes no part any more");
		}
		if (i / 2 != 0) {
			WANT_OK(addrform(fd[1], AF_INET), "%d: who was accepted", i);
			WANT(family_of(fd[1]), AF_INET, 0, "its family");
		}
		if (i & 1)
			WANT_TRUE(tcp_get(fd[1], 12000, 0) && tcp_get(fd[0], 12000, 0),
				  "%d: what was unread", i);
		WANT_TRUE(tcp_exchange(fd), "exchange");
		WANT_TRUE(tcp_pump_both(fd, 500000), "%d: bulk", i);
		WANT_OK(shutdown(fd[0], SHUT_WR), "shutdown");
		WANT(recv(fd[1], (char [1]){ 0 }, 1, 0), 0, 0, "the end");
		tcp_close(fd);
	}
}

/* Where it is refused, it is refused as by TCP, and nothing changes. */
static void addrform_refused(const struct transport *t)
{
	int fd[2], plain[2], i, want;

	(void)t;
	tcp_own_net();
	for (i = 0; i < 3; i++) {
		const char *to = i == 0 ? LOCAL6 : i == 1 ? LOCAL4 : MAPPED;

		tcp_shim_set(0);
		tcp_pair_via(i == 0 ? "::" : "0.0.0.0", to, plain);
		tcp_shim_set(1);
		tcp_pair_via(i == 0 ? "::" : "0.0.0.0", to, fd);
		WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "fused");
		want = addrform(plain[1], AF_INET) ? errno : 0;
		WANT(addrform(fd[1], AF_INET) ? errno : 0, want, 0, "%s: who was accepted", to);
		want = addrform(plain[0], 77) ? errno : 0;
		WANT(addrform(fd[0], 77) ? errno : 0, want, 0, "%s: of no family", to);
		WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "fused as before");
		tcp_close(plain);
		tcp_close(fd);
	}
}

/* What is unread, as one who saves a connection looks at it. */
static void want_repair_sees(int fd, size_t len)
{
	unsigned char *in = malloc(len + 1);
	size_t got = 0;
	int queue = TCP_RECV_QUEUE, inq = 0;

	MUST(in);
	WANT_OK(setsockopt(fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, &queue, sizeof(queue)), "the queue");
	WANT_OK(ioctl(fd, FIONREAD, &inq), "FIONREAD");
	WANT(inq, len, 0, "unread");
	got = recv(fd, in, len + 1, MSG_PEEK | MSG_DONTWAIT);
	WANT(got, len, 0, "peek under repair");
	WANT_TRUE(stream_check(in, len, 0), "the bytes");
	queue = TCP_NO_QUEUE;
	WANT_OK(setsockopt(fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, &queue, sizeof(queue)), "no queue");
	free(in);
}

static void repair(const struct transport *t)
{
	long not = stat_number("tcp_not_repair");
	int fd[2], i;

	(void)t;
	tcp_shim_net();
	tcp_fused_pair(fd);
	for (i = 0; i < 4; i++) {
		int end = i & 1;

		put_both(fd[!end], 6000);
		WANT_TRUE(tcp_settled(fd[!end]), "it comes");
		WANT_TRUE(tcp_put(fd[end], 4000, 0), "and the other way");
		WANT_OK(set_int(fd[end], IPPROTO_TCP, TCP_REPAIR, 1), "repair");
		want_repair_sees(fd[end], 12000);
		if (i & 2)
			WANT_TRUE(tcp_put(fd[!end], 1000, 12000), "sent meanwhile");
		WANT_OK(set_int(fd[end], IPPROTO_TCP, TCP_REPAIR, 0), "repaired");
		WANT_TRUE(tcp_get(fd[end], i & 2 ? 13000 : 12000, 0), "what was unread");
		WANT_TRUE(tcp_get(fd[!end], 4000, 0), "and the other way");
		WANT_TRUE(tcp_exchange(fd), "exchange");
		WANT_TRUE(tcp_fuses(fd), "fused again, reason %u", tcp_reason(fd[end]));
	}
	WANT_OK(set_int(fd[0], IPPROTO_TCP, TCP_REPAIR, 1), "repair");
	WANT_TRUE(tcp_put(fd[1], 1000, 0), "sent to it");
	WANT(tcp_reason(fd[1]), SPEED_TCP_REPAIR, 0, "the reason");
	WANT_OK(set_int(fd[0], IPPROTO_TCP, TCP_REPAIR, 0), "repaired");
	WANT_TRUE(tcp_get(fd[0], 1000, 0), "received");
	WANT_TRUE(stat_number("tcp_not_repair") > not, "tcp_not_repair");
	tcp_close(fd);
}

static int errno_of(ssize_t n)
{
	return n < 0 ? errno : 0;
}

/* With nothing to read, a call that would otherwise wait for it among them. */
static void repair_refuses(const struct transport *t)
{
	int fd[2], plain[2], queue = TCP_RECV_QUEUE;
	char c;

	(void)t;
	tcp_shim_net();
	tcp_shim_set(0);
	tcp_pair_via("0.0.0.0", "127.0.0.1", plain);
	tcp_shim_set(1);
	tcp_fused_pair(fd);
	MUST(set_int(plain[0], IPPROTO_TCP, TCP_REPAIR, 1) == 0);
	WANT_OK(set_int(fd[0], IPPROTO_TCP, TCP_REPAIR, 1), "repair");
	WANT(errno_of(recv(fd[0], &c, 1, 0)), errno_of(recv(plain[0], &c, 1, 0)), 0, "recv()");
	WANT(errno_of(read(fd[0], &c, 0)), errno_of(read(plain[0], &c, 0)), 0, "no bytes");
	WANT(errno_of(recv(fd[0], &c, 1, MSG_PEEK)), errno_of(recv(plain[0], &c, 1, MSG_PEEK)), 0,
	     "peek, no queue chosen");
	MUST(setsockopt(plain[0], IPPROTO_TCP, TCP_REPAIR_QUEUE, &queue, sizeof(queue)) == 0);
	WANT_OK(setsockopt(fd[0], IPPROTO_TCP, TCP_REPAIR_QUEUE, &queue, sizeof(queue)), "a queue");
	WANT(errno_of(recv(fd[0], &c, 1, MSG_PEEK | MSG_DONTWAIT)),
	     errno_of(recv(plain[0], &c, 1, MSG_PEEK | MSG_DONTWAIT)), 0, "peek at an empty one");
	WANT(errno_of(recv(fd[0], &c, 1, MSG_DONTWAIT)),
	     errno_of(recv(plain[0], &c, 1, MSG_DONTWAIT)), 0, "recv() with a queue");
	tcp_close(plain);
	tcp_close(fd);
}

/* Bytes that are mapped, and those that it says to receive: all in order. */
static bool get_by_zerocopy(int fd, char *at, size_t room, size_t len)
{
	size_t got = 0, hint;

	while (got < len) {
		struct tcp_zerocopy_receive z = { .address = (unsigned long)at, .length = room };
		socklen_t size = sizeof(z);

		if (!(poll_wait(fd, POLLIN, 10000) & POLLIN))
			return false;
		if (getsockopt(fd, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &z, &size))
			return false;
		if (!stream_check(at, z.length, got))
			return false;
		got += z.length;
		hint = z.recv_skip_hint < len - got ? z.recv_skip_hint : len - got;
		if (!tcp_get(fd, hint, got))
			return false;
		got += hint;
	}
	return true;
}

static void zerocopy_receive(const struct transport *t)
{
	long not = stat_number("tcp_not_zerocopy");
	size_t room = 1 << 18;
	char *at;
	int fd[2];

	(void)t;
	tcp_shim_net();
	tcp_fused_pair(fd);
	at = mmap(NULL, room, PROT_READ, MAP_SHARED, fd[1], 0);
	WANT_TRUE(at != MAP_FAILED, "offset 0 of mmap is TCP's");
	WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "fused, mapped");
	put_both(fd[0], 30000);
	WANT_TRUE(get_by_zerocopy(fd[1], at, room, 60000), "unread bytes");
	WANT_TRUE(tcp_exchange(fd), "exchange");
	WANT_TRUE(tcp_put(fd[0], 100000, 0), "more, by TCP");
	WANT(tcp_reason(fd[0]), SPEED_TCP_ZEROCOPY, 0, "the reason");
	WANT_TRUE(stat_number("tcp_not_zerocopy") > not, "tcp_not_zerocopy");
	WANT_TRUE(get_by_zerocopy(fd[1], at, room, 100000), "bytes of TCP");
	WANT_TRUE(tcp_exchange(fd), "exchange");
	munmap(at, room);
	tcp_close(fd);
}

static int sign(int fd, const struct address *peer)
{
	struct tcp_md5sig m = { .tcpm_keylen = 3, .tcpm_key = "key" };

	memcpy(&m.tcpm_addr, &peer->sa, sizeof(m.tcpm_addr));
	return setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG, &m, sizeof(m));
}

static void signed_segments(const struct transport *t)
{
	long not = stat_number("tcp_not_signed");
	struct address a, any;
	int listener, fd[2], i;

	(void)t;
	tcp_shim_net();
	tcp_address(&any, LOCAL4, 0);
	listener = tcp_listen_at(LOCAL4, 0, &a);
	if (sign(listener, &any) && errno == ENOPROTOOPT)
		trace_skip("needs CONFIG_TCP_MD5SIG");
	fd[0] = tcp_socket(&a);
	WANT_OK(sign(fd[0], &any), "signed from the start");
	tcp_join(listener, &a, fd[0], fd);
	WANT_TRUE(tcp_exchange(fd) && !tcp_fused(fd), "on TCP");
	WANT(stat_number("tcp_not_signed") - not, 1, 0, "tcp_not_signed");
	tcp_close(fd);
	close(listener);
	tcp_fused_pair(fd);
	put_both(fd[0], 6000);
	put_both(fd[1], 6000);
	for (i = 0; i < 2; i++) {
		MUST(get_peername(fd[i], &a) == 0);
		WANT_OK(sign(fd[i], &a), "signed from here on");
	}
	WANT_TRUE(tcp_get(fd[0], 12000, 0) && tcp_get(fd[1], 12000, 0), "what was unread");
	WANT_TRUE(tcp_unfuses(fd), "unfused");
	WANT(tcp_reason(fd[0]), SPEED_TCP_SIGNED, 0, "the reason");
	WANT_TRUE(tcp_pump_both(fd, 500000), "bulk");
	tcp_close(fd);
}

static const struct test_case cases[] = {
	{ "addrforms", addrforms, CASE_STREAM | CASE_SPEED },
	{ "addrform_refused", addrform_refused, CASE_STREAM | CASE_SPEED },
	{ "repair", repair, CASE_STREAM | CASE_SPEED },
	{ "repair_refuses", repair_refuses, CASE_STREAM | CASE_SPEED },
	{ "zerocopy_receive", zerocopy_receive, CASE_STREAM | CASE_SPEED },
	{ "signed_segments", signed_segments, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
