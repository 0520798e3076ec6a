// SPDX-License-Identifier: GPL-2.0
/*
 * A packet socket that asks for all protocols, like tcpdump's, sees every byte
 * that is sent while it is open; afterwards connections are fused again.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "mapped.h"
#include "stress.h"
#include "tap.h"
#include "tcp_pair.h"

#define MARK	24	/* bytes of a mark in the stream */

static int large_tap(const char *dev)
{
	int fd = tap_open(dev);

	if (fd < 0 && errno == EAFNOSUPPORT)
		trace_skip("needs CONFIG_PACKET");
	MUST(fd >= 0);
	MUST(set_int(fd, SOL_SOCKET, SO_RCVBUF, 8 << 20) == 0);
	return fd;
}

static void mark(char *text, int end, int i)
{
	char full[MARK + 1];

	snprintf(full, sizeof(full), "<mark-%d-%015d>", end, i);
	memcpy(text, full, MARK);
}

static bool send_mark(const int fd[2], int end, int i)
{
	char out[MARK], in[MARK];

	mark(out, end, i);
	return send(fd[end], out, MARK, MSG_NOSIGNAL) == MARK &&
	       recv(fd[!end], in, MARK, MSG_WAITALL) == MARK && !memcmp(in, out, MARK);
}

/* Which marks were captured: a bit each. */
static uint64_t marks_seen(int tap, int end)
{
	static char frame[70000];
	char want[MARK];
	uint64_t seen = 0;
	ssize_t n;
	int i;

	while ((n = recv(tap, frame, sizeof(frame), MSG_DONTWAIT)) > 0) {
		for (i = 0; i < 64; i++) {
			mark(want, end, i);
			if (memmem(frame, n, want, MARK))
				seen |= 1ull << i;
		}
	}
	return seen;
}

/* Marks 0 to 9 before it, 10 to 19 while it is open, 20 to 29 after it. */
static void watched(const char *dev)
{
	long not = stat_number("tcp_not_tap");
	int fd[2], i, end, tap;
	uint64_t seen;

	tcp_shim_net();
	tcp_fused_pair(fd);
	for (end = 0; end < 2; end++) {
		for (i = 0; i < 10; i++)
			WANT_TRUE(send_mark(fd, end, i), "before");
		WANT_TRUE(tcp_fused(fd), "fused before");
		tap = large_tap(dev);
		WANT_TRUE(mapped_left(fd[end], SPEED_ROLE_TX), "nobody maps it any more");
		for (; i < 20; i++)
			WANT_TRUE(send_mark(fd, end, i), "while it is open");
		WANT_TRUE(!(tcp_flags(fd[end]) & SPEED_FUSION_TX), "on TCP");
		WANT(tcp_reason(fd[end]), SPEED_TCP_TAP, 0, "the reason");
		seen = marks_seen(tap, end);
		WANT_TRUE(seen == 0xffc00, "marks that it saw: %llx", (unsigned long long)seen);
		close(tap);
		WANT_TRUE(tcp_fuses(fd), "fused again");
		for (; i < 30; i++)
			WANT_TRUE(send_mark(fd, end, i), "after");
	}
	WANT_TRUE(stat_number("tcp_not_tap") >= not + 2, "tcp_not_tap");
	tcp_close(fd);
}

static void all_devices(const struct transport *t)
{
	(void)t;
	watched(NULL);
}

static void this_device(const struct transport *t)
{
	(void)t;
	watched("lo");
}

/* A connection that comes while it is open is seen from its first byte. */
static void from_the_start(const struct transport *t)
{
	int fd[2], i, tap;
	uint64_t seen;

	(void)t;
	tcp_shim_net();
	tap = large_tap("lo");
	tcp_pair(fd);
	for (i = 0; i < 8; i++)
		WANT_TRUE(send_mark(fd, 0, i), "while it is open");
	seen = marks_seen(tap, 0);
	WANT_TRUE(seen == 0xff, "marks that it saw: %llx", (unsigned long long)seen);
	WANT(tcp_fusion(fd[0]).fused, 0, 0, "never fused");
	close(tap);
	WANT_TRUE(tcp_fuses(fd), "fused");
	tcp_close(fd);
}

/* Bytes lie unread in the ring when it opens; those after them go by TCP. */
static void in_the_stream(const struct transport *t)
{
	int fd[2], i, tap = -1;
	size_t put = 0, got = 0;

	(void)t;
	tcp_shim_net();
	tcp_fused_pair(fd);
	for (i = 0; i < (soak() ? 4000 : 200); i++) {
		if (tap < 0)
			tap = large_tap(i % 4 ? "lo" : NULL);
		else if (close(tap) == 0)
			tap = -1;
		WANT_TRUE(tcp_put(fd[0], 1000 + i % 700, put), "put");
		put += 1000 + i % 700;
		if (i % 3 == 0) {
			WANT_TRUE(tcp_get(fd[1], put - got - 300, got), "get");
			got = put - 300;
		}
	}
	WANT_TRUE(tcp_get(fd[1], put - got, got), "the rest");
	WANT_TRUE(tcp_fusion(fd[0]).unfused > 20, "it moved");
	tcp_close(fd);
}

/* Another namespace's tap on its own device is none of ours. */
static void elsewhere(const struct transport *t)
{
	int fd[2], tap;

	(void)t;
	tcp_own_net();
	tap = large_tap("lo");
	tcp_shim_net();
	tcp_fused_pair(fd);
	WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "fused");
	close(tap);
	tcp_close(fd);
}

static const struct test_case cases[] = {
	{ "all_devices", all_devices, CASE_STREAM | CASE_SPEED },
	{ "this_device", this_device, CASE_STREAM | CASE_SPEED },
	{ "from_the_start", from_the_start, CASE_STREAM | CASE_SPEED },
	{ "in_the_stream", in_the_stream, CASE_STREAM | CASE_SPEED },
	{ "elsewhere", elsewhere, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
