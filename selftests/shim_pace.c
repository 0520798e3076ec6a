// SPDX-License-Identifier: GPL-2.0
/*
 * What a program wants delayed goes by TCP, also on a connection that is fused already;
 * the pace of a congestion control that nobody asked for a pace is no such wish. And who
 * captures in a VRF sees what is sent there.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "stress.h"
#include "tap.h"
#include "tcp_pair.h"

#ifndef TCP_TX_DELAY
#define TCP_TX_DELAY	37
#endif
#define RATE		2000000	/* bytes a second */
#define BYTES		2000000
#define AT_LEAST_MS	300	/* of the second that takes: the first ten segments go at once */
#define VRF		"speed-vrf"

/* Its own direction goes by TCP from the next byte on, and no other. */
static void want_delayed(const int fd[2], const char *what)
{
	long not = stat_number("tcp_not_odd");

	WANT_TRUE(tcp_exchange(fd), "%s: exchange", what);
	WANT(tcp_reason(fd[0]), SPEED_TCP_ODD, 0, "%s: the reason", what);
	WANT(tcp_reason(fd[1]), SPEED_TCP_FUSED, 0, "%s: of the other way", what);
	WANT(stat_number("tcp_not_odd") - not, 1, 0, "%s: tcp_not_odd", what);
}

static long put_bytes(void *fd)
{
	return tcp_put(*(int *)fd, BYTES, 0);
}

static void paced(const struct transport *t)
{
	struct task k;
	long begin;
	int fd[2];

	tcp_shim_net();
	tcp_fused_pair(fd);
	WANT_OK(set_int(fd[0], SOL_SOCKET, SO_MAX_PACING_RATE, RATE), "SO_MAX_PACING_RATE");
	want_delayed(fd, "paced");
	begin = now_ms();
	task_start(&k, put_bytes, &fd[0]);
	WANT_TRUE(tcp_get(fd[1], BYTES, 0), "bytes");
	WANT(task_join(&k), 1, 0, "sent");
	WANT_TRUE(now_ms() - begin > AT_LEAST_MS, "at that pace, %ld ms", now_ms() - begin);
	WANT_OK(set_int(fd[0], SOL_SOCKET, SO_MAX_PACING_RATE, -1), "no pace");
	WANT_TRUE(tcp_fuses(fd), "fused again");
	tcp_close(fd);
}

static void delayed(const struct transport *t)
{
	int fd[2];

	tcp_shim_net();
	tcp_fused_pair(fd);
	WANT_OK(set_int(fd[0], IPPROTO_TCP, TCP_TX_DELAY, 1000), "TCP_TX_DELAY");
	want_delayed(fd, "delayed");
	WANT_OK(set_int(fd[0], IPPROTO_TCP, TCP_TX_DELAY, 0), "no delay");
	WANT_TRUE(tcp_fuses(fd), "fused again");
	tcp_close(fd);
}

static void bbr(const struct transport *t)
{
	int fd[2], i;

	tcp_shim_net();
	shell("modprobe tcp_bbr");
	tcp_pair(fd);
	for (i = 0; i < 2; i++)
		if (setsockopt(fd[i], IPPROTO_TCP, TCP_CONGESTION, "bbr", 3))
			trace_skip("needs CONFIG_TCP_CONG_BBR");
	WANT_TRUE(tcp_exchange(fd), "exchange");
	WANT_TRUE(tcp_fuses(fd), "fused");
	tcp_close(fd);
}

/* How many of so many bytes, all of them alike, were captured in frames. */
static size_t captured(int tap, char byte)
{
	static char frame[70000];
	size_t sum = 0;
	ssize_t n, i;

	while ((n = recv(tap, frame, sizeof(frame), MSG_DONTWAIT)) > 0)
		for (i = 0; i < n; i++)
			sum += frame[i] == byte;
	return sum;
}

static int in_device(const struct address *a)
{
	int fd = tcp_socket(a);

	MUST(!setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, VRF, sizeof(VRF)));
	return fd;
}

static void captured_in_vrf(const char *host)
{
	char out[1000], in[1000];
	int listener, fd[2], tap, i;
	struct address a;

	tcp_address(&a, host, 7777);
	listener = in_device(&a);
	MUST(!bind_to(listener, &a) && !listen(listener, 1));
	tcp_join(listener, &a, in_device(&a), fd);
	/* The sysctl is for what the machine's own routes say; these two ask. */
	for (i = 0; i < 2; i++)
		WANT_OK(tcp_set_ulp(fd[i], "speed"), "%s: TCP_ULP", host);
	/* For a while there may be calls under way that know of no ring. */
	for (i = 0; i < 1000 && (!i || tcp_reason(fd[0]) == SPEED_TCP_BUSY); i++) {
		sleep_ms(10);
		WANT_TRUE(tcp_exchange(fd), "%s: exchange", host);
	}
	WANT(tcp_reason(fd[0]), SPEED_TCP_FILTER, 0, "%s: the reason", host);
	tap = tap_open(VRF);
	MUST(tap >= 0);
	memset(out, 0xa5, sizeof(out));
	WANT(send(fd[0], out, sizeof(out), 0), sizeof(out), 0, "%s: send", host);
	WANT(recv(fd[1], in, sizeof(in), MSG_WAITALL), sizeof(in), 0, "%s: recv", host);
	sleep_ms(50);
	WANT_TRUE(captured(tap, out[0]) >= sizeof(out), "%s: captured in the VRF", host);
	close(tap);
	close(listener);
	tcp_close(fd);
}

static void in_vrf(const struct transport *t)
{
	tcp_shim_net();
	if (shell("ip -V"))
		trace_skip("needs ip");
	if (shell("ip link add " VRF " type vrf table 10"))
		trace_skip("needs CONFIG_NET_VRF");
	MUST(!shell("ip addr add 192.0.2.1/32 dev " VRF));
	MUST(!shell("ip addr add 2001:db8::1/128 dev " VRF " nodad"));
	MUST(!shell("ip link set " VRF " up"));
	captured_in_vrf("192.0.2.1");
	captured_in_vrf("2001:db8::1");
}

static const struct test_case cases[] = {
	{ "paced", paced, CASE_STREAM | CASE_SPEED },
	{ "delayed", delayed, CASE_STREAM | CASE_SPEED },
	{ "bbr", bbr, CASE_STREAM | CASE_SPEED },
	{ "in_vrf", in_vrf, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
