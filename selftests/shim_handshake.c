// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that come about in rare ways: the accepted end out of a SYN cookie, and
 * signed by TCP-AO from the first segment on.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "stress.h"
#include "tcp_pair.h"

#define MANY	300000

/* Of TCP's counters in this namespace: a line of names, then one of numbers. */
static long tcp_counter(const char *want)
{
	char names[8192], numbers[8192], *name, *number, *at[2];
	FILE *f = fopen("/proc/net/netstat", "r");

	MUST(f && fgets(names, sizeof(names), f) && fgets(numbers, sizeof(numbers), f));
	fclose(f);
	name = strtok_r(names, "\n ", &at[0]);
	number = strtok_r(numbers, "\n ", &at[1]);
	while (name && number && strcmp(name, want)) {
		name = strtok_r(NULL, "\n ", &at[0]);
		number = strtok_r(NULL, "\n ", &at[1]);
	}
	return name && number ? strtol(number, NULL, 10) : -1;
}

#define ALWAYS	"2"

static void need_cookies(void)
{
	tcp_shim_net();
	if (file_write("/proc/sys/net/ipv4/tcp_syncookies", ALWAYS))
		trace_skip("needs CONFIG_SYN_COOKIES");
}

/* The child comes out of the last segment of the handshake, and finds its client. */
static void cookies(const struct transport *t)
{
	static const char *const hosts[] = { LOCAL4, LOCAL6, MAPPED };
	int fd[2], i, n = 0;

	(void)t;
	need_cookies();
	for (i = 0; i < (tcp_has_ipv6() ? 3 : 1); i++) {
		tcp_pair_via(hosts[i], hosts[i], fd);
		WANT(tcp_counter("SyncookiesRecv"), ++n, 0, "%s: a cookie", hosts[i]);
		WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "%s: fused, reasons %d, %d", hosts[i],
			  (int)tcp_reason(fd[0]), (int)tcp_reason(fd[1]));
		WANT_TRUE(tcp_pump_both(fd, MANY), "%s: bulk", hosts[i]);
		WANT_TRUE(tcp_fuses(fd), "%s: fused again", hosts[i]);
		tcp_close(fd);
	}
}

/* Or out of the first bytes: who connects may let the acknowledgment wait for them. */
static void cookie_in_bytes(const struct transport *t)
{
	struct address a;
	int listener, fd[2];

	(void)t;
	need_cookies();
	listener = tcp_listen_at(LOCAL4, 0, &a);
	fd[0] = tcp_socket(&a);
	WANT_OK(set_int(fd[0], IPPROTO_TCP, TCP_QUICKACK, 0), "with the first bytes");
	WANT_OK(connect_to(fd[0], &a), "connect");
	WANT_TRUE(tcp_put(fd[0], 5000, 0), "send");
	fd[1] = tcp_accept(listener);
	WANT(tcp_counter("SyncookiesRecv"), 1, 0, "a cookie");
	WANT_TRUE(tcp_get(fd[1], 5000, 0), "the first bytes");
	WANT_TRUE(tcp_fuses(fd), "fused, reasons %d, %d", (int)tcp_reason(fd[0]),
		  (int)tcp_reason(fd[1]));
	WANT_TRUE(tcp_pump_both(fd, MANY), "bulk");
	tcp_close(fd);
	close(listener);
}

/* Newer than the headers may be. */
#define AO_ADD_KEY	38

/* struct tcp_ao_add */
struct ao_add {
	struct sockaddr_storage addr;
	char alg_name[64];
	uint32_t ifindex;
	uint32_t flags;
	uint16_t reserved;
	uint8_t prefix;
	uint8_t sndid;
	uint8_t rcvid;
	uint8_t maclen;
	uint8_t keyflags;
	uint8_t keylen;
	uint8_t key[80];
} __attribute__((aligned(8)));

/* For segments from and to anybody. */
static int sign(int fd)
{
	struct ao_add ao = {
		.addr.ss_family = AF_INET, .alg_name = "hmac(sha1)", .sndid = 1, .rcvid = 1,
		.keylen = 3, .key = "key",
	};

	return setsockopt(fd, IPPROTO_TCP, AO_ADD_KEY, &ao, sizeof(ao));
}

static int signed_listener(struct address *a)
{
	int fd = tcp_listen_at(LOCAL4, 0, a);

	if (sign(fd)) {
		if (errno == ENOPROTOOPT)
			trace_skip("needs CONFIG_TCP_AO (Linux 6.7)");
		if (errno == ENOENT)
			trace_skip("needs hmac(sha1)");
		MUST(!"TCP_AO_ADD_KEY");
	}
	return fd;
}

/* One that had the shim before it was signed, having failed to connect, too. */
static void authenticated(const struct transport *t)
{
	struct address a, nobody;
	int listener, fd[2], i;
	long not, good;

	(void)t;
	tcp_shim_net();
	listener = signed_listener(&a);
	for (i = 0; i < 2; i++) {
		not = stat_number("tcp_not_signed");
		good = tcp_counter("TCPAOGood");
		fd[0] = tcp_socket(&a);
		if (i) {
			close(tcp_listen_at(LOCAL4, 0, &nobody));
			WANT_ERR(connect_to(fd[0], &nobody), ECONNREFUSED, "refused");
		}
		WANT_OK(sign(fd[0]), "%d: signed", i);
		tcp_join(listener, &a, fd[0], fd);
		WANT_TRUE(tcp_exchange(fd) && tcp_exchange(fd), "%d: exchange", i);
		WANT_TRUE(tcp_pump_both(fd, MANY), "%d: bulk", i);
		WANT(tcp_fusion(fd[0]).fused + tcp_fusion(fd[1]).fused, 0, 0, "%d: never fused", i);
		WANT(stat_number("tcp_not_signed") - not, 1, 0, "%d: tcp_not_signed", i);
		WANT_TRUE(tcp_counter("TCPAOGood") > good, "%d: segments are signed", i);
		WANT_ERR(tcp_set_ulp(fd[1], "speed"), EOPNOTSUPP, "%d: ask", i);
		WANT_TRUE(tcp_exchange(fd), "%d: exchange", i);
		tcp_close(fd);
	}
	close(listener);
	tcp_fused_pair(fd);
	WANT_ERR(sign(fd[0]), EISCONN, "signed from here on: no");
	WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "fused as before");
	tcp_close(fd);
}

static const struct test_case cases[] = {
	{ "cookies", cookies, CASE_STREAM | CASE_SPEED },
	{ "cookie_in_bytes", cookie_in_bytes, CASE_STREAM | CASE_SPEED },
	{ "authenticated", authenticated, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
