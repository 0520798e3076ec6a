// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets that the shim leaves alone, and why: under a control group with a
 * sock_ops program, of MPTCP and of SMC. And the tracepoint that tells of each
 * move.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <unistd.h>

#include "bpf.h"
#include "group.h"
#include "stress.h"
#include "tcp_pair.h"
#include "tracing.h"

/* Which ends' sockets are made in the group: a bit each. */
static void pair_grouped(int inside, int fd[2])
{
	struct address a;
	int listener, client;

	MUST(group_enter(inside & 2 ? GROUP : GROUPS) == 0);
	listener = tcp_listen_at(LOCAL4, 0, &a);
	MUST(group_enter(inside & 1 ? GROUP : GROUPS) == 0);
	client = tcp_socket(&a);
	tcp_join(listener, &a, client, fd);
	close(listener);
}

static void sock_ops(const struct transport *t)
{
	int fd[2], group, prog, i;
	long not;

	(void)t;
	group_need();
	tcp_shim_net();
	prog = bpf_load(BPF_PROG_TYPE_SOCK_OPS, 1);
	group = open(GROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (prog < 0 || bpf_attach_group(prog, group, BPF_CGROUP_SOCK_OPS)) {
		rmdir(GROUP);
		trace_skip("needs bpf() and CONFIG_CGROUP_BPF");
	}
	for (i = 0; i < 4; i++) {
		not = stat_number("tcp_not_cgroup");
		pair_grouped(i, fd);
		WANT_TRUE(tcp_exchange(fd) && tcp_exchange(fd), "%d: exchange", i);
		WANT(tcp_fused(fd), i == 0, 0, "%d: fused", i);
		WANT_TRUE((stat_number("tcp_not_cgroup") > not) == (i != 0), "%d: counted", i);
		tcp_close(fd);
	}
	MUST(group_enter(GROUPS) == 0);
	close(group);
	close(prog);
	WANT_OK(rmdir(GROUP), "rmdir");
}

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP	262
#endif

static int mptcp_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_MPTCP);

	if (fd < 0)
		trace_skip("needs CONFIG_MPTCP");
	return fd;
}

/* An MPTCP listener, by which ends' sort: both, who connects alone, who listens alone. */
static void mptcp_pair(bool client, bool server, int fd[2])
{
	struct address a;
	int listener;

	tcp_address(&a, LOCAL4, 0);
	listener = server ? mptcp_socket() : tcp_socket(&a);
	MUST(bind_to(listener, &a) == 0 && listen(listener, 8) == 0);
	MUST(get_sockname(listener, &a) == 0);
	fd[0] = client ? mptcp_socket() : tcp_socket(&a);
	MUST(connect_to(fd[0], &a) == 0);
	fd[1] = accept(listener, NULL, NULL);
	MUST(fd[1] >= 0);
	close(listener);
}

/* Go's listeners are MPTCP's: what they accept of plain clients is plain TCP. */
static void mptcp_listener(const struct transport *t)
{
	int fd[2];

	(void)t;
	tcp_shim_net();
	mptcp_pair(false, true, fd);
	WANT_TRUE(tcp_exchange(fd), "exchange");
	WANT_TRUE(tcp_fuses(fd), "fused, reason %d", (int)tcp_reason(fd[0]));
	WANT_TRUE(tcp_pump_both(fd, 300000), "bulk");
	tcp_close(fd);
}

static void mptcp(const struct transport *t)
{
	long not = stat_number("tcp_not_mptcp");
	int fd[2], i;

	(void)t;
	tcp_shim_net();
	for (i = 0; i < 2; i++) {
		mptcp_pair(true, i, fd);
		WANT_TRUE(tcp_exchange(fd) && tcp_exchange(fd), "exchange");
		WANT_TRUE(tcp_pump_both(fd, 300000), "bulk");
		WANT(tcp_takes_part(fd[0]), 0, 0, "who connected takes no part");
		tcp_close(fd);
	}
	WANT_TRUE(stat_number("tcp_not_mptcp") > not, "tcp_not_mptcp");
}

#ifndef AF_SMC
#define AF_SMC		43
#endif

static void smc(const struct transport *t)
{
	struct address a;
	int listener, fd[2];

	(void)t;
	tcp_shim_net();
	tcp_address(&a, LOCAL4, 0);
	listener = socket(AF_SMC, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0)
		trace_skip("needs CONFIG_SMC");
	MUST(bind_to(listener, &a) == 0 && listen(listener, 8) == 0);
	MUST(get_sockname(listener, &a) == 0);
	fd[0] = socket(AF_SMC, SOCK_STREAM | SOCK_CLOEXEC, 0);
	WANT_OK(connect_to(fd[0], &a), "connect");
	fd[1] = accept(listener, NULL, NULL);
	MUST(fd[1] >= 0);
	WANT_TRUE(tcp_exchange(fd) && tcp_exchange(fd), "exchange");
	WANT_TRUE(tcp_pump_both(fd, 300000), "bulk");
	tcp_close(fd);
	close(listener);
}

static int moves(const struct tracing *g, uint64_t pair, int end, int reason)
{
	char want[96];

	snprintf(want, sizeof(want), " speed_fuse: pair=%llu end=%d what=%d\n",
		 (unsigned long long)pair, end, reason);
	return strstr(g->log, want) ? 1 : 0;
}

/* Who connects is end 0. */
static void traced(const struct transport *t)
{
	struct tracing g;
	uint64_t pair;
	int fd[2];

	(void)t;
	tracing_need();
	tcp_shim_net();
	tracing_begin(&g);
	tcp_fused_pair(fd);
	pair = tcp_fusion(fd[0]).pair;
	MUST(tcp_set_fuse(fd[0], 0) == 0);
	WANT_TRUE(tcp_unfuses(fd), "unfused");
	MUST(tcp_set_fuse(fd[0], 1) == 0);
	WANT_TRUE(tcp_fuses(fd), "fused again");
	tcp_shim_set(0);
	WANT_TRUE(tcp_unfuses(fd), "switched off");
	tcp_close(fd);
	tracing_end(&g);
	WANT(tracing_fired(&g, "speed_fuse", pair, 0), 4, 0, "moves of one direction");
	WANT(tracing_fired(&g, "speed_fuse", pair, 1), 4, 0, "moves of the other");
	WANT(moves(&g, pair, 0, SPEED_TCP_FUSED), 1, 0, "to the ring");
	WANT(moves(&g, pair, 0, SPEED_TCP_REQUEST), 1, 0, "on request");
	WANT(moves(&g, pair, 1, SPEED_TCP_REQUEST), 1, 0, "the other, on request");
	WANT(moves(&g, pair, 1, SPEED_TCP_OFF), 1, 0, "by the sysctl");
}

static const struct test_case cases[] = {
	{ "sock_ops", sock_ops, CASE_STREAM | CASE_SPEED },
	{ "mptcp_listener", mptcp_listener, CASE_STREAM | CASE_SPEED },
	{ "mptcp", mptcp, CASE_STREAM | CASE_SPEED },
	{ "smc", smc, CASE_STREAM | CASE_SPEED },
	{ "traced", traced, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
