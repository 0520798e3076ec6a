// SPDX-License-Identifier: GPL-2.0
/*
 * Two network namespaces that a pair of devices (veth) joins: a connection from one to
 * the other is TCP's, one that stays inside is fused.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "stress.h"
#include "tcp_pair.h"

#define DEVICE	"speed-test"
#define MANY	300000

static const char *const hosts[2][2] = {
	{ "192.0.2.1", "192.0.2.2" }, { "2001:db8::1", "2001:db8::2" },
};

static int families(void)
{
	return tcp_has_ipv6() ? 2 : 1;
}

static int this_net(void)
{
	int net = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	MUST(net >= 0);
	return net;
}

static void enter(int net)
{
	MUST(setns(net, CLONE_NEWNET) == 0);
}

static void bring_up(int net, int i)
{
	enter(net);
	MUST(!shell("ip addr add %s/24 dev " DEVICE, hosts[0][i]));
	MUST(families() == 1 || !shell("ip addr add %s/64 dev " DEVICE " nodad", hosts[1][i]));
	MUST(!shell("ip link set " DEVICE " up"));
}

/* A link needs a moment: until somebody there says that nobody listens. */
static void await_host(const char *host)
{
	long until = now_ms() + 15000;
	struct address a;
	int fd, err;

	tcp_address(&a, host, 9);
	do {
		fd = tcp_socket(&a);
		err = connect_to(fd, &a) ? errno : 0;
		close(fd);
		sleep_ms(err == ECONNREFUSED ? 0 : 20);
	} while (err != ECONNREFUSED && now_ms() < until);
	MUST(err == ECONNREFUSED);
}

/* Two namespaces with the sysctl on, and a link. */
static void two_nets(int net[2])
{
	int i, family;

	for (i = 0; i < 2; i++) {
		tcp_shim_net();
		net[i] = this_net();
	}
	if (shell("ip -V"))
		trace_skip("needs ip (iproute2)");
	if (shell("ip link add " DEVICE " type veth peer name " DEVICE " netns /proc/%d/fd/%d",
	       (int)getpid(), net[0]))
		trace_skip("needs veth");
	for (i = 0; i < 2; i++)
		bring_up(net[i], i);
	for (i = 0; i < 4; i++) {
		enter(net[i & 1]);
		for (family = 0; family < families(); family++)
			await_host(hosts[family][i / 2]);
	}
}

/* Asked for at both ends: the ends do not find each other. */
static void want_apart(const int fd[2])
{
	int i;

	for (i = 0; i < 2; i++)
		WANT_OK(tcp_set_ulp(fd[i], "speed"), "%d: ask", i);
	WANT_TRUE(tcp_exchange(fd) && tcp_exchange(fd), "exchange");
	for (i = 0; i < 2; i++) {
		WANT(tcp_reason(fd[i]), SPEED_TCP_PEER, 0, "%d: the reason", i);
		WANT(tcp_fusion(fd[i]).fused, 0, 0, "%d: never fused", i);
	}
	WANT_TRUE(tcp_pump_both(fd, MANY), "bulk");
}

static void between_nets(const struct transport *t)
{
	int net[2], fd[2], listener, to, i;
	struct address a;
	const char *host;

	(void)t;
	two_nets(net);
	for (i = 0; i < 2 * families(); i++) {
		to = i & 1;
		host = hosts[i / 2][to];
		enter(net[to]);
		listener = tcp_listen_at(host, 0, &a);
		enter(net[!to]);
		tcp_join(listener, &a, tcp_socket(&a), fd);
		close(listener);
		WANT_TRUE(tcp_exchange(fd) && tcp_exchange(fd), "to %s: exchange", host);
		WANT_TRUE(!tcp_takes_part(fd[0]) && !tcp_takes_part(fd[1]), "no part");
		WANT_TRUE(tcp_pump_both(fd, MANY), "bulk");
		want_apart(fd);
		tcp_close(fd);
	}
}

/* To the link's own end: it is as lo. */
static void own_link(const struct transport *t)
{
	int net[2], fd[2], i;
	const char *host;

	(void)t;
	two_nets(net);
	for (i = 0; i < 2 * families(); i++) {
		host = hosts[i / 2][i & 1];
		enter(net[i & 1]);
		tcp_pair_via(host, host, fd);
		WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "%s: fused, reasons %d, %d", host,
			  (int)tcp_reason(fd[0]), (int)tcp_reason(fd[1]));
		WANT_TRUE(tcp_pump_both(fd, MANY), "bulk");
		tcp_close(fd);
	}
}

static const struct test_case cases[] = {
	{ "between_nets", between_nets, CASE_STREAM | CASE_SPEED },
	{ "own_link", own_link, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
