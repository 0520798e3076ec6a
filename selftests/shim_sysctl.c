// SPDX-License-Identifier: GPL-2.0
/*
 * net.speed.loopback: its values, that it belongs to one namespace, and what
 * becomes of connections when it changes.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "mapped.h"
#include "stress.h"
#include "tcp_pair.h"

#define ALL	(SPEED_FUSION_PAIRED | SPEED_FUSION_TX | SPEED_FUSION_RX)

static bool says(const char *name, const char *value)
{
	char text[64];

	MUST(sysctl_get(name, text, sizeof(text)) == 0);
	return !strcmp(text, value);
}

static void values(const struct transport *t)
{
	static const char *const wrong[] = { "2", "-1", "256", "x", "0x", "99999999999" };
	size_t i;

	(void)t;
	tcp_own_net();
	WANT_TRUE(says("loopback", "0"), "off in a new namespace");
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		WANT_ERR(sysctl_set("loopback", wrong[i]), EINVAL, "%s", wrong[i]);
	WANT_TRUE(says("loopback", "0"), "it stays off");
	WANT_OK(sysctl_set("loopback", "1"), "1");
	WANT_TRUE(says("loopback", "1"), "reads as 1");
	WANT_ERR(sysctl_set("loopback", "2"), EINVAL, "2 when it is on");
	WANT_TRUE(says("loopback", "1"), "it stays on");
	WANT_OK(sysctl_set("loopback", "1\n"), "1 again");
	WANT_OK(sysctl_set("loopback", "0"), "0");
	WANT_OK(sysctl_set("loopback", "0"), "0 again");
	WANT_TRUE(says("loopback", "0"), "reads as 0");
}

/* What plain TCP answers to, and no more. */
static void off(const struct transport *t)
{
	long attached = stat_number("tcp_attached");
	int fd[2];

	(void)t;
	tcp_own_net();
	tcp_pair(fd);
	WANT_TRUE(tcp_exchange(fd), "exchange");
	WANT(tcp_takes_part(fd[0]), 0, 0, "who connected takes no part");
	WANT(tcp_takes_part(fd[1]), 0, 0, "who was accepted takes no part");
	WANT(stat_number("tcp_attached") - attached, 0, 0, "sockets attached");
	tcp_shim_set(1);
	WANT_TRUE(tcp_exchange(fd), "exchange, switched on");
	WANT(tcp_takes_part(fd[0]), 0, 0, "a connection that was there takes no part");
	tcp_close(fd);
}

static void on(const struct transport *t)
{
	long attached = stat_number("tcp_attached"), paired = stat_number("tcp_paired");
	long fused = stat_number("tcp_fused");
	struct speed_fusion f;
	int fd[2];

	(void)t;
	tcp_shim_net();
	tcp_pair(fd);
	f = tcp_fusion(fd[0]);
	WANT(f.flags, SPEED_FUSION_PAIRED, 0, "flags before the first byte");
	WANT(f.ring_bytes[0] + f.ring_bytes[1], 0, 0, "no ring before the first byte");
	WANT(send(fd[0], "abc", 3, 0), 3, 0, "send");
	WANT(tcp_flags(fd[0]), SPEED_FUSION_PAIRED | SPEED_FUSION_TX, 0, "the sender's flags");
	WANT(tcp_flags(fd[1]), SPEED_FUSION_PAIRED | SPEED_FUSION_RX, 0, "the receiver's flags");
	WANT(recv(fd[1], (char [4]){ 0 }, 4, 0), 3, 0, "recv");
	WANT_TRUE(tcp_exchange(fd), "exchange");
	WANT(tcp_flags(fd[0]), ALL, 0, "both ways, who connected");
	WANT(tcp_flags(fd[1]), ALL, 0, "both ways, who was accepted");
	f = tcp_fusion(fd[0]);
	WANT(f.reason, SPEED_TCP_FUSED, 0, "no reason");
	WANT(f.fused, 1, 0, "fused once");
	WANT(f.unfused, 0, 0, "and never unfused");
	WANT(f.bytes[SPEED_ROLE_TX], 3 + 9, 0, "bytes sent by ring");
	WANT(f.bytes[SPEED_ROLE_RX], 9, 0, "bytes received by ring");
	WANT_TRUE(f.ring_bytes[0] && f.ring_bytes[1], "rings");
	WANT_TRUE(f.pair && f.pair == tcp_fusion(fd[1]).pair, "one pair");
	WANT(stat_number("tcp_attached") - attached, 2, 0, "sockets attached");
	WANT(stat_number("tcp_paired") - paired, 1, 0, "pairs");
	WANT(stat_number("tcp_fused") - fused, 2, 0, "directions fused");
	tcp_close(fd);
}

/* On in one namespace, off in the other: a connection of either, then changed places. */
static void namespaces(const struct transport *t)
{
	int home, abroad, fd[2];

	(void)t;
	tcp_shim_net();
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	tcp_own_net();
	abroad = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	MUST(home >= 0 && abroad >= 0);
	WANT_TRUE(says("loopback", "0"), "off abroad");
	tcp_pair(fd);
	WANT_TRUE(tcp_exchange(fd), "exchange abroad");
	WANT(tcp_takes_part(fd[0]), 0, 0, "which takes no part");
	tcp_close(fd);
	MUST(setns(home, CLONE_NEWNET) == 0);
	WANT_TRUE(says("loopback", "1"), "on at home");
	tcp_fused_pair(fd);
	MUST(setns(abroad, CLONE_NEWNET) == 0);
	tcp_shim_set(1);
	tcp_shim_set(0);
	WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "fused, whatever is switched abroad");
	tcp_shim_set(1);
	MUST(setns(home, CLONE_NEWNET) == 0);
	tcp_shim_set(0);
	WANT_TRUE(tcp_unfuses(fd), "unfused by its own switch");
	tcp_close(fd);
	MUST(setns(abroad, CLONE_NEWNET) == 0);
	tcp_fused_pair(fd);
	tcp_close(fd);
}

/* Off: the bytes that are in the ring are read first, the next go by TCP. */
static void back_and_forth(const struct transport *t)
{
	long off = stat_number("tcp_not_off");
	struct speed_fusion f;
	int fd[2], i;
	char got[16];

	(void)t;
	tcp_shim_net();
	tcp_fused_pair(fd);
	for (i = 1; i <= 5; i++) {
		WANT(send(fd[0], "in the ring,", 12, 0), 12, 0, "send to the ring");
		tcp_shim_set(0);
		WANT_TRUE(mapped_left(fd[0], SPEED_ROLE_TX), "nobody maps it any more");
		f = tcp_fusion(fd[0]);
		WANT(send(fd[0], "TCP", 3, 0), 3, 0, "send, off");
		WANT(tcp_fusion(fd[0]).bytes[0] - f.bytes[0], 0, 0, "not by the ring");
		WANT(recv(fd[1], got, 15, MSG_WAITALL), 15, 0, "recv of both");
		WANT_TRUE(!memcmp(got, "in the ring,TCP", 15), "in order");
		WANT_TRUE(tcp_exchange(fd), "exchange, off");
		WANT(tcp_flags(fd[0]), SPEED_FUSION_PAIRED, 0, "flags, off");
		WANT(tcp_flags(fd[1]), SPEED_FUSION_PAIRED, 0, "the other's flags, off");
		WANT(tcp_reason(fd[0]), SPEED_TCP_OFF, 0, "the reason");
		WANT(tcp_fusion(fd[0]).unfused, i, 0, "unfused");
		tcp_shim_set(1);
		WANT_TRUE(tcp_fuses(fd), "fused again");
		WANT(tcp_fusion(fd[0]).fused, i + 1, 0, "fused");
	}
	WANT(stat_number("tcp_not_off") - off, 10, 0, "tcp_not_off");
	tcp_close(fd);
}

/* More than a ring holds lies unread, when it is switched in the middle of it. */
static void full(const struct transport *t)
{
	size_t len = 300000, sent = 0, got = 0;
	char *out = malloc(len), *in = malloc(len);
	int fd[2], on = 1;
	ssize_t n;

	(void)t;
	MUST(out && in);
	stream_fill(out, len, 0);
	tcp_shim_net();
	tcp_fused_pair(fd);
	while (sent < len) {
		n = send(fd[0], out + sent, len - sent < 7777 ? len - sent : 7777, MSG_DONTWAIT);
		if (n < 0)
			break;
		sent += n;
		on = !on;
		tcp_shim_set(on);
	}
	WANT_TRUE(sent > 100000, "it took %zu", sent);
	while (got < sent) {
		n = recv(fd[1], in + got, len - got, 0);
		MUST(n > 0);
		got += n;
	}
	WANT_TRUE(stream_check(in, got, 0), "the bytes");
	tcp_shim_set(1);
	WANT_TRUE(tcp_fuses(fd), "fused again");
	WANT_TRUE(tcp_pump_both(fd, 2 << 20), "bulk");
	tcp_close(fd);
	free(out);
	free(in);
}

/* A reader that sleeps when its connection changes: bytes by either way wake it. */
static void sleeper(const struct transport *t)
{
	int fd[2], i;

	(void)t;
	tcp_shim_net();
	tcp_fused_pair(fd);
	for (i = 0; i < 4; i++) {
		struct end e = { .fd = fd[1] };
		char got[8] = "";
		struct call c = { &e, got, 8, 0 };
		struct task k;

		task_start(&k, call_recv, &c);
		WANT_TRUE(task_sleeps(&k), "recv waits");
		tcp_shim_set(i & 1);
		WANT(send(fd[0], "wake", 4, 0), 4, 0, "send");
		WANT(task_join(&k), 4, 0, "recv");
		WANT_TRUE(!memcmp(got, "wake", 4), "the bytes");
		WANT(!!(tcp_flags(fd[0]) & SPEED_FUSION_TX), i & 1, 0, "by the ring");
	}
	tcp_close(fd);
}

static const struct test_case cases[] = {
	{ "values", values, CASE_STREAM | CASE_SPEED },
	{ "off", off, CASE_STREAM | CASE_SPEED },
	{ "on", on, CASE_STREAM | CASE_SPEED },
	{ "namespaces", namespaces, CASE_STREAM | CASE_SPEED },
	{ "back_and_forth", back_and_forth, CASE_STREAM | CASE_SPEED },
	{ "full", full, CASE_STREAM | CASE_SPEED },
	{ "sleeper", sleeper, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
