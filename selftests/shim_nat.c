// SPDX-License-Identifier: GPL-2.0
/*
 * Connections whose addresses are translated between their ends: they are fused, and
 * connection tracking does not forget them while they are in use.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "procfile.h"
#include "stress.h"
#include "tcp_pair.h"

#define DEVICE		"speed-test"
#define ELSEWHERE	"192.0.2.7"	/* nobody's */
#define ELSEWHERE6	"2001:db8::7"
#define MANY		300000
#define FORGOTTEN	"16"		/* seconds */
#define IN_USE		22000		/* milliseconds */
#define ONE_WAY		15000

#define NFT(fmt, ...)	do {							\
	if (shell("nft '" fmt "'", ##__VA_ARGS__))					\
		trace_skip("needs \"nft " fmt "\" (CONFIG_NF_TABLES and modules)",	\
			   ##__VA_ARGS__);						\
} while (0)

static void nat_net(const char *family)
{
	tcp_shim_net();
	if (shell("nft -v"))
		trace_skip("needs nft (nftables)");
	NFT("add table %s t", family);
	NFT("add chain %s t out { type nat hook output priority -100 ; }", family);
	NFT("add chain %s t post { type nat hook postrouting priority 100 ; }", family);
}

/* A listener's port + 1 is another name for it: @a becomes that, at @to. */
static int listen_by(const char *at, const char *to, struct address *a)
{
	int listener = tcp_listen_at(at, 0, a);
	int port = ntohs(((struct sockaddr_in *)&a->sa)->sin_port);

	NFT("add rule %s t out tcp dport %d redirect to :%d",
	    strchr(at, ':') ? "ip6" : "ip", port + 1, port);
	tcp_address(a, to, port + 1);
	return listener;
}

static void join_by(const char *at, const char *to, int fd[2])
{
	struct address a;
	int listener = listen_by(at, to, &a);

	tcp_join(listener, &a, tcp_socket(&a), fd);
	close(listener);
}

static void want_carried(const int fd[2], const char *what)
{
	WANT_TRUE(tcp_fuses(fd), "%s: fused, reasons %d, %d", what, (int)tcp_reason(fd[0]),
		  (int)tcp_reason(fd[1]));
	WANT_TRUE(tcp_pump_both(fd, MANY), "%s: bulk", what);
	MUST(tcp_set_fuse(fd[0], 0) == 0);
	WANT_TRUE(tcp_pump_both(fd, MANY), "%s: bulk of TCP", what);
	WANT_TRUE(!tcp_fused(fd), "%s: not fused", what);
	MUST(tcp_set_fuse(fd[0], 1) == 0);
	WANT_TRUE(tcp_pump_both(fd, MANY) && tcp_fuses(fd), "%s: fused again", what);
}

static void want_end(int fd, const char *what)
{
	struct pollfd look = { .fd = fd, .events = POLLIN };
	char byte;

	WANT(poll(&look, 1, 10000), 1, 0, "%s: something came", what);
	WANT(recv(fd, &byte, 1, MSG_DONTWAIT), 0, 0, "%s: the end", what);
}

/* Each end's own is the other's end-of-file. */
static void want_ends(int fd[2], const char *what)
{
	WANT_TRUE(tcp_exchange(fd), "%s: exchange", what);
	WANT_OK(shutdown(fd[1], SHUT_WR), "%s: shutdown", what);
	want_end(fd[0], what);
	WANT_OK(shutdown(fd[0], SHUT_WR), "%s: shutdown", what);
	want_end(fd[1], what);
	tcp_close(fd);
}

static void redirected(const struct transport *t)
{
	static const char *const names[] = { LOCAL4, "127.0.0.9", MAPPED };
	size_t i;
	int fd[2];

	(void)t;
	nat_net("ip");
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		join_by(LOCAL4, names[i], fd);
		want_carried(fd, names[i]);
		want_ends(fd, names[i]);
	}
}

/* What a proxy in between is for: the address is no one's here. */
static void need_device(void)
{
	if (shell("ip link add " DEVICE " type dummy"))
		trace_skip("needs ip (iproute2) and CONFIG_DUMMY");
	MUST(!shell("ip link set " DEVICE " up"));
}

static bool peer_is(int fd, const char *name)
{
	struct address want, is = { .len = sizeof(is.sa) };

	tcp_address(&want, name, 0);
	MUST(getpeername(fd, (struct sockaddr *)&is.sa, &is.len) == 0);
	if (((struct sockaddr *)&is.sa)->sa_family == AF_INET6)
		return !memcmp(&((struct sockaddr_in6 *)&is.sa)->sin6_addr,
			       &((struct sockaddr_in6 *)&want.sa)->sin6_addr, 16);
	return ((struct sockaddr_in *)&is.sa)->sin_addr.s_addr ==
	       ((struct sockaddr_in *)&want.sa)->sin_addr.s_addr;
}

static void from_elsewhere(const struct transport *t)
{
	int fd[2];

	(void)t;
	nat_net("ip");
	need_device();
	MUST(!shell("ip addr add 192.0.2.1/24 dev " DEVICE));
	join_by(LOCAL4, ELSEWHERE, fd);
	want_carried(fd, "elsewhere");
	WANT_TRUE(peer_is(fd[0], ELSEWHERE), "the peer's name is what was asked for");
	want_ends(fd, "elsewhere");
}

/* Both addresses. */
static void masked(const struct transport *t)
{
	int fd[2];

	(void)t;
	nat_net("ip");
	NFT("add rule ip t post ip daddr " LOCAL4 " snat to 127.0.0.77");
	join_by(LOCAL4, "127.0.0.9", fd);
	WANT_TRUE(peer_is(fd[1], "127.0.0.77"), "the peer's name is what it was given");
	want_carried(fd, "masked");
	want_ends(fd, "masked");
}

/* 0 where it is no module. */
static long tracking_users(void)
{
	char text[32] = "0";

	file_read("/sys/module/nf_conntrack/refcnt", text, sizeof(text));
	return strtol(text, NULL, 10);
}

/* Its module is used for a moment by each question, and may be unloaded afterwards. */
static void not_held(void)
{
	int listener, fd[2], i;
	struct address a;
	long users;

	listener = listen_by(LOCAL6, LOCAL6, &a);
	users = tracking_users();
	for (i = 0; i < 5; i++) {
		tcp_join(listener, &a, tcp_socket(&a), fd);
		WANT_TRUE(tcp_fuses(fd), "fused");
		tcp_close(fd);
	}
	WANT(tracking_users(), users, 0, "users of nf_conntrack");
	close(listener);
}

static void by_ipv6(const struct transport *t)
{
	int fd[2];

	(void)t;
	if (!tcp_has_ipv6())
		trace_skip("needs IPv6");
	nat_net("ip6");
	need_device();
	MUST(!shell("ip addr add 2001:db8::1/64 dev " DEVICE " nodad"));
	join_by(LOCAL6, LOCAL6, fd);
	want_carried(fd, LOCAL6);
	want_ends(fd, LOCAL6);
	not_held();
	join_by(LOCAL6, ELSEWHERE6, fd);
	want_carried(fd, "elsewhere");
	WANT_TRUE(peer_is(fd[0], ELSEWHERE6), "the peer's name is what was asked for");
	want_ends(fd, "elsewhere");
	NFT("add rule ip6 t post ip6 daddr " LOCAL6 " snat to 2001:db8::1");
	join_by(LOCAL6, LOCAL6, fd);
	WANT_TRUE(peer_is(fd[1], "2001:db8::1"), "the peer's name is what it was given");
	want_carried(fd, "masked");
	want_ends(fd, "masked");
}

static void track(const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/net/netfilter/nf_conntrack_tcp_%s", name);
	MUST(!file_write(path, value));
}

/*
 * The ring's bytes are no packets, and yet the end must find its way: of a connection in
 * use, and of one that was used in one direction alone until a while ago.
 */
static void not_forgotten(const struct transport *t)
{
	int both[2], one[2];
	long begin;

	(void)t;
	nat_net("ip");
	track("loose", "0");
	track("timeout_established", FORGOTTEN);
	track("max_retrans", "1");
	track("timeout_max_retrans", "4");
	join_by(LOCAL4, LOCAL4, both);
	join_by(LOCAL4, LOCAL4, one);
	WANT_TRUE(tcp_fuses(both) && tcp_fuses(one), "fused");
	for (begin = now_ms(); now_ms() < begin + IN_USE; sleep_ms(200)) {
		WANT_TRUE(tcp_exchange(both), "exchange");
		if (now_ms() < begin + ONE_WAY)
			WANT_TRUE(tcp_pump(one[0], one[1], 100), "one way");
	}
	WANT_TRUE(tcp_fused(both) && tcp_fused(one), "fused all the time");
	want_ends(both, "in use");
	want_ends(one, "one way");
}

static const struct test_case cases[] = {
	{ "redirected", redirected, CASE_STREAM | CASE_SPEED },
	{ "from_elsewhere", from_elsewhere, CASE_STREAM | CASE_SPEED },
	{ "masked", masked, CASE_STREAM | CASE_SPEED },
	{ "by_ipv6", by_ipv6, CASE_STREAM | CASE_SPEED },
	{ "not_forgotten", not_forgotten, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
