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
#include <unistd.h>

#include "faults.h"
#include "shim_held.h"
#include "stress.h"
#include "tcp_pair.h"

#define MOST		2000	/* allocations in one call */

static int listener, fd[2], out[2];
static struct address a;
static char buf[6000];

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

static void begin_pair(void)
{
	/* Nothing in the pool: its pages are to be allocated. */
	file_write("/proc/sys/vm/drop_caches", "2");
	tcp_pair(fd);
	listener = -1;
}

static void begin_fused(void)
{
	begin_pair();
	MUST(tcp_exchange(fd));
}

static long do_send(void)
{
	return send(fd[0], buf, sizeof(buf), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static long do_odd(void)
{
	return tcp_send_odd(fd[0], buf, sizeof(buf), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void begin_recv(void)
{
	begin_fused();
	MUST(do_send() == sizeof(buf));
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

static bool sane(int err)
{
	return err == ENOMEM || err == ENOBUFS || err == ENFILE || err == EFAULT || err == EAGAIN;
}

/* An attempt to connect leaves the peer's bytes, if any, for it to read. */
static void drain(void)
{
	tcp_settled(fd[0]);
	tcp_settled(fd[1]);
	while (recv(fd[0], buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
	while (recv(fd[1], buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
}

/* Whatever failed, what is there works, or is made to work by the same call. */
static bool works(void)
{
	if (fd[0] < 0)
		return true;
	if (listener >= 0 && fd[1] < 0) {
		MUST(set_nonblock(listener, false) == 0);
		if (get_peername(fd[0], &(struct address){ 0 }) && do_connect())
			return false;
		fd[1] = tcp_accept(listener);
	}
	drain();
	return tcp_exchange(fd) && tcp_exchange(fd) && tcp_pump_both(fd, 100000);
}

static void finish(void)
{
	if (listener >= 0)
		close(listener);
	if (fd[0] >= 0)
		close(fd[0]);
	if (fd[1] >= 0)
		close(fd[1]);
}

/**
 * struct probe - one call
 * @begin: makes what the call needs
 * @call: the call; -1 and errno, or what it returned
 * @nothing: it may do without any allocation
 */
static const struct probe {
	const char *name;
	void (*begin)(void);
	long (*call)(void);
	bool nothing;
} probes[] = {
	{ "connect", begin_connect, do_connect },
	{ "accept", begin_accept, do_accept },
	{ "first send", begin_pair, do_send },
	{ "send", begin_fused, do_send, true },
	{ "odd send", begin_fused, do_odd },
	{ "recv", begin_recv, do_recv, true },
	{ "splice", begin_splice, do_splice },
	{ "TCP_ULP speed", begin_plain, do_ulp },
	{ "TCP_ULP tls", begin_recv, do_tls },
	{ "TCP_REPAIR", begin_recv, do_repair, true },
	{ "TCP_INFO", begin_fused, do_info, true },
	{ "close", begin_recv, do_close, true },
};

static void try_all(const struct probe *p)
{
	int n, insane = 0, last = 0, broken = 0, at = 0;
	bool happened = true;

	for (n = 1; happened && n < MOST; n++) {
		long ret;
		int err;

		p->begin();
		faults_nth(n);
		errno = 0;
		ret = p->call();
		err = errno;
		happened = faults_happened();
		if (ret < 0 && !sane(err)) {
			insane++;
			last = err;
		}
		if (!works()) {
			broken++;
			at = n;
		}
		finish();
	}
	WANT(insane, 0, 0, "%s: strange errors, the last %s", p->name, strerrorname_np(last));
	WANT(broken, 0, 0, "%s: connections that do not work, the last with %d", p->name, at);
	WANT_TRUE(n > 2 || p->nothing, "%s: something failed", p->name);
	WANT_TRUE(n < MOST, "%s: gets by in the end", p->name);
	trace_num(n - 2, "%s: allocations", p->name);
}

static void every(const struct transport *t)
{
	struct shim_held held;
	size_t i;

	(void)t;
	tcp_shim_net();
	faults_need();
	shim_held_begin(&held);
	for (i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		try_all(&probes[i]);
	shim_held_end(&held);
}

static const struct test_case cases[] = {
	{ "every", every, CASE_STREAM | CASE_SPEED | CASE_LONG },
};

RUN_CASES(cases)
