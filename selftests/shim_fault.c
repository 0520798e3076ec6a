// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations that fail in the calls of a TCP connection that is to be fused. Each
 * call succeeds or has an errno that plain TCP has, too; and a connection that is
 * there works, by TCP where it has no memory for more. Needs CONFIG_FAULT_INJECTION
 * and FAILSLAB.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "shim_fault.h"

static int out[2];

/* The ring has its first pages, and what comes next lies beyond them, too. */
static void begin_grow(void)
{
	begin_fused();
	MUST(do_send() == sizeof(buf) && do_send() == sizeof(buf));
	MUST(tcp_fused(fd));
}

static void begin_connect(void)
{
	listener = tcp_listen_at(LOCAL4, 0, &a);
	fd[0] = tcp_socket(&a);
	fd[1] = -1;
}

static long do_connect(void)
{
	return connect_to(fd[0], &a);
}

static void begin_accept(void)
{
	begin_connect();
	MUST(do_connect() == 0);
	MUST(poll_wait(listener, POLLIN, 20000) & POLLIN);
	MUST(set_nonblock(listener, true) == 0);
}

static long do_accept(void)
{
	fd[1] = accept(listener, NULL, NULL);
	return fd[1] < 0 ? -1 : 0;
}

static long do_odd(void)
{
	return tcp_send_odd(fd[0], buf, sizeof(buf), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* What lies in the ring before an urgent byte is brought to where TCP has it. */
static long do_urgent(void)
{
	return send(fd[0], "U", 1, MSG_OOB | MSG_NOSIGNAL | MSG_DONTWAIT);
}

static long do_recv(void)
{
	char in[sizeof(buf)];

	return recv(fd[1], in, sizeof(in), MSG_DONTWAIT);
}

static void begin_splice(void)
{
	begin_recv();
	MUST(pipe(out) == 0);
}

static long do_splice(void)
{
	long n = splice(fd[1], NULL, out[1], NULL, sizeof(buf), SPLICE_F_NONBLOCK);
	int err = errno;

	close(out[0]);
	close(out[1]);
	errno = err;
	return n;
}

static void begin_plain(void)
{
	tcp_shim_set(0);
	begin_fused();
	tcp_shim_set(1);
	MUST(tcp_set_ulp(fd[1], "speed") == 0);
}

/* The other end is found by its names before they are translated. */
static void begin_translated(void)
{
	static bool translates;

	if (!translates) {
		MUST(!shell("nft add table ip t"));
		MUST(!shell("nft add chain ip t out '{ type nat hook output priority -100 ; }'"));
		MUST(!shell("nft add rule ip t out ip daddr 127.0.0.9 dnat to " LOCAL4));
		translates = true;
	}
	tcp_shim_set(0);
	listener = tcp_listen_at(LOCAL4, 0, &a);
	tcp_address(&a, "127.0.0.9", ntohs(((struct sockaddr_in *)&a.sa)->sin_port));
	tcp_join(listener, &a, tcp_socket(&a), fd);
	close(listener);
	listener = -1;
	tcp_shim_set(1);
	MUST(tcp_set_ulp(fd[1], "speed") == 0);
}

static long do_ulp(void)
{
	return tcp_set_ulp(fd[0], "speed");
}

static long do_tls(void)
{
	return tcp_set_ulp(fd[1], "tls");
}

static long do_repair(void)
{
	long ret = set_int(fd[1], IPPROTO_TCP, TCP_REPAIR, 1);
	int err = errno;

	/* It fails once. */
	if (set_int(fd[1], IPPROTO_TCP, TCP_REPAIR, 0))
		MUST(set_int(fd[1], IPPROTO_TCP, TCP_REPAIR, 0) == 0);
	errno = err;
	return ret;
}

static long do_info(void)
{
	struct tcp_info i;
	socklen_t len = sizeof(i);

	return getsockopt(fd[0], IPPROTO_TCP, TCP_INFO, &i, &len);
}

static long do_close(void)
{
	int one = fd[0];

	fd[0] = -1;
	return close(one);
}

static const struct probe probes[] = {
	{ "connect", begin_connect, do_connect },
	{ "accept", begin_accept, do_accept },
	{ "first send", begin_pair, do_send },
	{ "send", begin_fused, do_send, .nothing = true },
	{ "send beyond its first pages", begin_grow, do_send },
	{ "odd send", begin_fused, do_odd },
	{ "urgent byte", begin_recv, do_urgent },
	{ "recv", begin_recv, do_recv, .nothing = true },
	{ "splice", begin_splice, do_splice },
	{ "TCP_ULP speed", begin_plain, do_ulp },
	{ "TCP_ULP speed, translated", begin_translated, do_ulp },
	{ "TCP_ULP tls", begin_recv, do_tls },
	{ "TCP_REPAIR", begin_recv, do_repair, .nothing = true },
	{ "TCP_INFO", begin_fused, do_info, .nothing = true },
	{ "close", begin_recv, do_close, .nothing = true },
};

static void every(const struct transport *t)
{
	(void)t;
	fault_each(probes, sizeof(probes) / sizeof(probes[0]));
}

static const struct test_case cases[] = {
	{ "every", every, CASE_STREAM | CASE_SPEED | CASE_LONG },
};

RUN_CASES(cases)
