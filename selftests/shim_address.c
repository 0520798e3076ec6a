// SPDX-License-Identifier: GPL-2.0
/*
 * Over which addresses connections are fused: IPv4, IPv6, one mapped to the
 * other, the machine's own addresses, link-local ones, and bound devices.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stress.h"
#include "tcp_pair.h"

#define OWN4	"192.0.2.1"
#define OWN6	"2001:db8::1"
#define LINK6	"fe80::5"

static void add4(const char *text)
{
	struct ifreq r = { .ifr_name = "lo:1" };
	struct address a;
	int fd;

	tcp_address(&a, text, 0);
	memcpy(&r.ifr_addr, &a.sa, sizeof(r.ifr_addr));
	fd = tcp_socket(&a);
	MUST(ioctl(fd, SIOCSIFADDR, &r) == 0);
	close(fd);
}

/* Whether any address may not be bound to yet: that is looked into, on lo, too. */
static bool tentative(void)
{
	FILE *f = fopen("/proc/net/if_inet6", "r");
	unsigned int flags, any = 0;

	MUST(f);
	while (fscanf(f, "%*s %*x %*x %*x %x %*s", &flags) == 1)
		any |= flags;
	fclose(f);
	return any & IFA_F_TENTATIVE;
}

static void add6(const char *text, int prefix)
{
	struct in6_ifreq r = { .ifr6_prefixlen = prefix, .ifr6_ifindex = if_nametoindex("lo") };
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	long until = now_ms() + 20000;

	MUST(fd >= 0);
	MUST(inet_pton(AF_INET6, text, &r.ifr6_addr) == 1);
	MUST(ioctl(fd, SIOCSIFADDR, &r) == 0);
	close(fd);
	while (tentative() && now_ms() < until)
		sleep_ms(10);
}

static void begin(void)
{
	tcp_shim_net();
	add4(OWN4);
	if (!tcp_has_ipv6())
		trace_skip("needs CONFIG_IPV6");
	add6(OWN6, 128);
	add6(LINK6, 64);
}

static void want_fused(int fd[2], const char *at, const char *to)
{
	WANT_TRUE(tcp_exchange(fd), "%s to %s: exchange", to, at);
	WANT_TRUE(tcp_fused(fd), "%s to %s: fused, or why not: %d, %d", to, at,
		  (int)tcp_reason(fd[0]), (int)tcp_reason(fd[1]));
	WANT_TRUE(tcp_pump(fd[0], fd[1], 400000), "%s to %s: bulk", to, at);
	WANT_TRUE(tcp_pump(fd[1], fd[0], 400000), "%s to %s: bulk back", to, at);
	tcp_close(fd);
}

static void pairs(const struct transport *t)
{
	static const struct {
		const char *at, *to;
	} ways[] = {
		{ "127.0.0.1", "127.0.0.1" }, { "0.0.0.0", "127.0.0.1" },
		{ "0.0.0.0", "127.5.6.7" },
		{ "0.0.0.0", "0.0.0.0" }, { OWN4, OWN4 }, { "0.0.0.0", OWN4 },
		{ "::1", "::1" }, { "::", "::1" }, { "::", "::" }, { OWN6, OWN6 }, { "::", OWN6 },
		{ "fe80::5%lo", "fe80::5%lo" }, { "::", "fe80::5%lo" },
		/* One end mapped, the other, both. */
		{ "::", "127.0.0.1" }, { MAPPED, "127.0.0.1" }, { "0.0.0.0", MAPPED },
		{ "127.0.0.1", MAPPED }, { "::", MAPPED }, { MAPPED, MAPPED },
		{ "::", "::ffff:" OWN4 }, { "0.0.0.0", "::ffff:" OWN4 }, { "::", OWN4 },
	};
	int fd[2];
	size_t i;

	(void)t;
	begin();
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		tcp_pair_via(ways[i].at, ways[i].to, fd);
		want_fused(fd, ways[i].at, ways[i].to);
	}
}

/* From one local address to another. */
static void crossed(const struct transport *t)
{
	static const struct {
		const char *from, *to;
	} ways[] = {
		{ OWN4, "127.0.0.1" }, { "127.0.0.1", OWN4 }, { "127.9.9.9", "127.8.8.8" },
		{ OWN6, "::1" }, { "::1", OWN6 }, { "::ffff:" OWN4, MAPPED },
	};
	struct address a, from;
	int listener, client, fd[2];
	size_t i;

	(void)t;
	begin();
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		listener = tcp_listen_at(ways[i].to, 0, &a);
		tcp_address(&from, ways[i].from, 0);
		client = tcp_socket(&a);
		MUST(bind_to(client, &from) == 0);
		tcp_join(listener, &a, client, fd);
		close(listener);
		want_fused(fd, ways[i].to, ways[i].from);
	}
}

/* Which ends are bound to the device lo: a bit each. */
static void bound(const struct transport *t)
{
	static const char *const hosts[] = { "127.0.0.1", "::1", OWN4, OWN6 };
	struct address a;
	int listener, client, fd[2];
	unsigned int i;

	(void)t;
	begin();
	for (i = 0; i < 16; i++) {
		listener = tcp_listen_at(hosts[i / 4], 0, &a);
		client = tcp_socket(&a);
		if (i & 1)
			MUST(setsockopt(client, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3) == 0);
		if (i & 2)
			MUST(setsockopt(listener, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3) == 0);
		tcp_join(listener, &a, client, fd);
		close(listener);
		want_fused(fd, hosts[i / 4], i & 3 ? "bound" : "unbound");
	}
}

/* Who connects to himself: there is one socket, which cannot be a pair. */
static void self(const struct transport *t)
{
	struct address a;
	char got[8];
	int fd;

	(void)t;
	tcp_shim_net();
	tcp_address(&a, LOCAL4, 7300);
	fd = tcp_socket(&a);
	MUST(set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1) == 0);
	MUST(bind_to(fd, &a) == 0);
	WANT_OK(connect_to(fd, &a), "connect to oneself");
	WANT(send(fd, "mirror", 6, 0), 6, 0, "send");
	WANT(recv(fd, got, 8, 0), 6, 0, "recv");
	WANT_TRUE(!memcmp(got, "mirror", 6), "the bytes");
	WANT(tcp_flags(fd), 0, 0, "not fused");
	WANT_OK(shutdown(fd, SHUT_WR), "shutdown");
	WANT(recv(fd, got, 8, 0), 0, 0, "the end");
	close(fd);
}

static const struct test_case cases[] = {
	{ "pairs", pairs, CASE_STREAM | CASE_SPEED },
	{ "crossed", crossed, CASE_STREAM | CASE_SPEED },
	{ "bound", bound, CASE_STREAM | CASE_SPEED },
	{ "self", self, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
