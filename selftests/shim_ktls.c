// SPDX-License-Identifier: GPL-2.0
/*
 * kTLS takes the ULP's place on a fused connection. What was sent before comes
 * before the records, whichever way it went and whichever end changes first.
 */
#define _GNU_SOURCE
#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "stress.h"
#include "tcp_pair.h"
#include "tls.h"

/* Both directions of both ends, on a connection that has nothing unread. */
static int keys_all(const int fd[2])
{
	return tls_keys(fd[0], TLS_TX) ?: tls_keys(fd[0], TLS_RX) ?: tls_keys(fd[1], TLS_TX) ?:
	       tls_keys(fd[1], TLS_RX);
}

static void need_tls(void)
{
	int fd[2];

	tcp_own_net();
	tcp_need_tls();
	tcp_pair(fd);
	WANT_OK(tcp_set_ulp(fd[0], "tls"), "tls on plain TCP");
	WANT_OK(tcp_set_ulp(fd[1], "tls"), "tls on plain TCP");
	WANT_OK(keys_all(fd), "its keys");
	WANT_TRUE(tcp_exchange(fd), "it works");
	tcp_close(fd);
	tcp_shim_set(1);
}

/* After it has gone, the shim is not asked any more. */
static void want_tls(const int fd[2])
{
	size_t bulk = brief() ? 100000 : 500000;
	char name[16] = "";
	socklen_t len = sizeof(name);
	int i;

	for (i = 0; i < 2; i++) {
		WANT_OK(getsockopt(fd[i], IPPROTO_TCP, TCP_ULP, name, &len), "the ULP's name");
		WANT_TRUE(!strcmp(name, "tls"), "is tls");
		WANT(tcp_takes_part(fd[i]), 0, 0, "no option of ours");
	}
	WANT_TRUE(tcp_exchange(fd), "exchange");
	WANT_TRUE(tcp_pump_both(fd, bulk), "bulk");
	WANT_OK(shutdown(fd[0], SHUT_WR), "shutdown");
	WANT(recv(fd[1], (char [1]){ 0 }, 1, 0), 0, 0, "the end");
}

static void idle(const struct transport *t)
{
	long not = stat_number("tcp_not_ulp");
	int fd[2];

	(void)t;
	need_tls();
	tcp_fused_pair(fd);
	WANT_OK(tcp_set_ulp(fd[0], "tls"), "one end");
	WANT_TRUE(tcp_exchange(fd), "exchange, one end changed");
	WANT_OK(tcp_set_ulp(fd[1], "tls"), "the other");
	WANT_TRUE(tcp_exchange(fd), "exchange, both changed");
	WANT_OK(keys_all(fd), "keys");
	want_tls(fd);
	tcp_close(fd);
	WANT_TRUE(stat_number("tcp_not_ulp") > not, "tcp_not_ulp");
}

/* How what is unread came: by the ring, by TCP after it, by the ring again. */
enum unread { RING, RING_TCP, TCP, TCP_RING, UNREADS };

/* Return: bytes of the stream that were sent. */
static size_t leave_unread(int fd, enum unread how)
{
	size_t len = 7000;

	if (how == TCP || how == TCP_RING)
		MUST(tcp_set_fuse(fd, 0) == 0);
	WANT_TRUE(tcp_put(fd, len, 0), "what stays unread");
	if (how == RING || how == TCP)
		goto out;
	MUST(tcp_set_fuse(fd, how == TCP_RING) == 0);
	WANT_TRUE(tcp_put(fd, len, len), "and more, another way");
	len *= 2;
out:
	MUST(tcp_set_fuse(fd, 1) == 0);
	return len;
}

/* Both change with bytes unread, and read them before they set their keys. */
static void unread(const struct transport *t)
{
	size_t len[2];
	int fd[2], how;

	(void)t;
	need_tls();
	for (how = 0; how < UNREADS * UNREADS * 2; how++) {
		int first = how & 1;

		tcp_fused_pair(fd);
		len[0] = leave_unread(fd[0], how / 2 % UNREADS);
		len[1] = leave_unread(fd[1], how / 2 / UNREADS);
		WANT_OK(tcp_set_ulp(fd[first], "tls"), "%d: one end", how);
		WANT_TRUE(tcp_put(fd[first], 3000, len[first]), "%d: its next bytes", how);
		WANT_OK(tcp_set_ulp(fd[!first], "tls"), "%d: the other", how);
		WANT_TRUE(tcp_put(fd[!first], 3000, len[!first]), "%d: its next bytes", how);
		WANT_TRUE(tcp_get(fd[1], len[0] + 3000, 0), "%d: what 0 sent", how);
		WANT_TRUE(tcp_get(fd[0], len[1] + 3000, 0), "%d: what 1 sent", how);
		WANT_OK(keys_all(fd), "%d: keys", how);
		want_tls(fd);
		tcp_close(fd);
	}
}

/* As in a handshake: records follow plain bytes that nobody has read yet. */
static void records_after(const struct transport *t)
{
	size_t len;
	int fd[2], how;

	(void)t;
	need_tls();
	for (how = 0; how < UNREADS * 2; how++) {
		tcp_fused_pair(fd);
		len = leave_unread(fd[0], how / 2);
		WANT_OK(tcp_set_ulp(fd[0], "tls"), "%d: who sends", how);
		WANT_OK(tls_keys(fd[0], TLS_TX), "%d: its keys", how);
		WANT_TRUE(tcp_put(fd[0], 20000, len), "%d: records", how);
		if (how & 1)
			WANT_TRUE(tcp_get(fd[1], len, 0), "%d: read the plain ones", how);
		WANT_OK(tcp_set_ulp(fd[1], "tls"), "%d: who reads", how);
		if (!(how & 1))
			WANT_TRUE(tcp_get(fd[1], len, 0), "%d: read the plain ones", how);
		WANT_OK(tls_keys(fd[1], TLS_RX), "%d: keys to read", how);
		WANT_TRUE(tcp_get(fd[1], 20000, len), "%d: read the records", how);
		WANT_OK(tls_keys(fd[1], TLS_TX), "%d: keys to answer", how);
		WANT_OK(tls_keys(fd[0], TLS_RX), "%d: keys for the answer", how);
		want_tls(fd);
		tcp_close(fd);
	}
}

/* Whoever closes with bytes unread resets, whatever its ULP is by then. */
static void closed(const struct transport *t)
{
	int fd[2], i;

	(void)t;
	need_tls();
	for (i = 0; i < 4; i++) {
		tcp_fused_pair(fd);
		WANT_TRUE(tcp_put(fd[0], 5000, 0), "unread");
		WANT_OK(tcp_set_ulp(fd[i & 1], "tls"), "tls");
		if (i & 2)
			WANT_TRUE(tcp_put(fd[0], 5000, 5000), "unread, by TCP");
		close(fd[1]);
		WANT(poll_wait(fd[0], POLLIN, 5000), POLLIN | POLLERR | POLLHUP, 0, "a reset");
		WANT_ERR(recv(fd[0], (char [1]){ 0 }, 1, 0), ECONNRESET, "recv");
		close(fd[0]);
	}
}

static const struct test_case cases[] = {
	{ "idle", idle, CASE_STREAM | CASE_SPEED },
	{ "unread", unread, CASE_STREAM | CASE_SPEED },
	{ "records_after", records_after, CASE_STREAM | CASE_SPEED },
	{ "closed", closed, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
