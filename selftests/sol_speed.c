// SPDX-License-Identifier: GPL-2.0
/* The options of AF_SPEED itself but leases: what they say, and every refusal. */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "regions.h"

static void magic(const struct transport *t)
{
	int fd = tp_socket(t, 0);
	uint32_t value = 0;
	uint64_t wide = 0;

	WANT_OK(get_exact(fd, SPEED_MAGIC, &value, 4), "SPEED_MAGIC");
	WANT_TRUE(value == SPEED_MAGIC_VALUE, "its value");
	WANT_ERR(get_exact(fd, SPEED_MAGIC, &value, 3), EINVAL, "a short one");
	WANT_ERR(get_exact(fd, SPEED_MAGIC, &wide, 8), EINVAL, "a long one");
	WANT_ERR(get_exact(fd, SPEED_MAGIC, &value, 0), EINVAL, "an empty one");
	WANT_ERR(get_exact(fd, SPEED_MAGIC, bad_pointer(), 4), EFAULT, "a bad pointer");
	WANT_ERR(set_int(fd, SOL_SPEED, SPEED_MAGIC, 1), ENOPROTOOPT, "set it");
	close(fd);
}

static void unknown(const struct transport *t)
{
	static const int names[] = { 0, 7, 100, -1, 0x7fffffff };
	int fd = tp_socket(t, 0);
	uint32_t value = 0;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		WANT_ERR(get_exact(fd, names[i], &value, 4), ENOPROTOOPT, "get %d", names[i]);
		WANT_ERR(set_int(fd, SOL_SPEED, names[i], 1), ENOPROTOOPT, "set %d", names[i]);
	}
	close(fd);
}

static void info(const struct transport *t)
{
	struct speed_info i;
	struct address a;
	struct end e[2];
	uint64_t pair;
	char buf[16];
	int fd = tp_socket(t, 0);

	memset(&i, 0xff, sizeof(i));
	WANT_OK(get_exact(fd, SPEED_INFO, &i, sizeof(i)), "of a fresh socket");
	WANT(i.features, SPEED_FEATURE_MAP | SPEED_FEATURE_CALL | SPEED_FEATURE_EPOLL |
	     SPEED_FEATURE_MOVED | SPEED_FEATURE_AGAIN, 0, "features");
	WANT(i.state, SPEED_STATE_UNCONNECTED, 0, "state");
	WANT(i.type, t->type, 0, "type");
	WANT(i.pair, 0, 0, "pair");
	WANT(i.reserved, 0, 0, "reserved");
	WANT(i.ring_bytes[0] | i.ring_bytes[1] | i.bytes[0] | i.bytes[1], 0, 0, "no ring");
	WANT(i.leased[0] | i.leased[1], 0, 0, "no lease");
	close(fd);

	fd = tp_listen(t, 1, &a);
	WANT_OK(get_exact(fd, SPEED_INFO, &i, sizeof(i)), "of a listener");
	WANT(i.state, SPEED_STATE_LISTENING, 0, "state");
	WANT(i.pair, 0, 0, "pair");
	close(fd);

	tp_pair(t, e);
	WANT_OK(get_exact(e[0].fd, SPEED_INFO, &i, sizeof(i)), "of a connected socket");
	WANT(i.state, SPEED_STATE_CONNECTED, 0, "state");
	WANT(i.side, 0, 0, "side");
	WANT_TRUE(i.pair, "it has a pair");
	WANT(i.ring_bytes[0] | i.ring_bytes[1], 0, 0, "no data pages yet");
	pair = i.pair;
	WANT_OK(get_exact(e[1].fd, SPEED_INFO, &i, sizeof(i)), "of its peer");
	WANT(i.side, 1, 0, "side");
	WANT_TRUE(i.pair == pair, "the same pair");

	WANT(send(e[0].fd, "abc", 3, 0), 3, 0, "send 3");
	WANT_OK(get_exact(e[0].fd, SPEED_INFO, &i, sizeof(i)), "of the sender");
	if (t->type == SOCK_STREAM)
		WANT(i.bytes[SPEED_ROLE_TX], 3, 0, "bytes sent");
	WANT_TRUE(i.ring_bytes[SPEED_ROLE_TX] >= SPEED_RING_MIN, "a ring");
	WANT_TRUE(!(i.ring_bytes[SPEED_ROLE_TX] & (i.ring_bytes[SPEED_ROLE_TX] - 1)),
		  "of a power of two");
	WANT(recv(e[1].fd, buf, 16, 0), 3, 0, "recv 3");
	WANT_OK(get_exact(e[1].fd, SPEED_INFO, &i, sizeof(i)), "of the receiver");
	if (t->type == SOCK_STREAM)
		WANT(i.bytes[SPEED_ROLE_RX], 3, 0, "bytes received");
	WANT(i.bytes[SPEED_ROLE_TX], 0, 0, "bytes sent");
	end_close(&e[0]);
	WANT_OK(get_exact(e[1].fd, SPEED_INFO, &i, sizeof(i)), "when the peer has gone");
	WANT(i.state, SPEED_STATE_CLOSED, 0, "state");
	end_close(&e[1]);
}

static void info_sizes(const struct transport *t)
{
	struct { struct speed_info i; char more[8]; } v;
	int fd = tp_socket(t, 0);

	WANT_ERR(get_exact(fd, SPEED_INFO, &v, sizeof(v.i) - 1), EINVAL, "short");
	WANT_ERR(get_exact(fd, SPEED_INFO, &v, sizeof(v.i) + 1), EINVAL, "long");
	WANT_ERR(get_exact(fd, SPEED_INFO, &v, 0), EINVAL, "empty");
	WANT_ERR(get_exact(fd, SPEED_INFO, bad_pointer(), sizeof(v.i)), EFAULT, "bad pointer");
	WANT_ERR(setsockopt(fd, SOL_SPEED, SPEED_INFO, &v, sizeof(v.i)), ENOPROTOOPT, "set");
	close(fd);
}

static void mode(const struct transport *t)
{
	static const uint32_t good[] = { 0, 0777, 0600, 0222, 0123 };
	static const uint32_t bad[] = { 01000, 02777, 04000, 010000, 0x80000000u, ~0u };
	int fd = tp_socket(t, 0);
	struct address a;
	uint32_t value;
	uint64_t wide = 0;
	size_t i;

	WANT_ERR(set_int(fd, SOL_SPEED, SPEED_MODE, 0777), EINVAL, "set, of an unbound socket");
	tp_address(t, &a);
	MUST(bind_to(fd, &a) == 0);
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		WANT_OK(set_int(fd, SOL_SPEED, SPEED_MODE, good[i]), "set %#o", good[i]);
		WANT_OK(get_exact(fd, SPEED_MODE, &value, 4), "get");
		WANT(value, good[i], 0, "it is that");
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		WANT_ERR(set_int(fd, SOL_SPEED, SPEED_MODE, bad[i]), EINVAL, "set %#o", bad[i]);
	WANT_OK(get_exact(fd, SPEED_MODE, &value, 4), "get after the bad ones");
	WANT(value, 0123, 0, "it is the last good one");
	WANT_ERR(setsockopt(fd, SOL_SPEED, SPEED_MODE, &value, 2), EINVAL, "set, short");
	WANT_ERR(setsockopt(fd, SOL_SPEED, SPEED_MODE, &wide, 8), EINVAL, "set, long");
	WANT_ERR(setsockopt(fd, SOL_SPEED, SPEED_MODE, bad_pointer(), 4), EFAULT,
		 "set, bad pointer");
	WANT_ERR(get_exact(fd, SPEED_MODE, &value, 2), EINVAL, "get, short");
	WANT_ERR(get_exact(fd, SPEED_MODE, &wide, 8), EINVAL, "get, long");
	close(fd);
}

static const struct test_case cases[] = {
	{ "magic", magic, CASE_BOTH | CASE_SPEED },
	{ "unknown", unknown, CASE_STREAM | CASE_SPEED },
	{ "info", info, CASE_BOTH | CASE_SPEED },
	{ "info_sizes", info_sizes, CASE_STREAM | CASE_SPEED },
	{ "mode", mode, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
