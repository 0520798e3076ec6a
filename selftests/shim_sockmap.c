// SPDX-License-Identifier: GPL-2.0
/*
 * A sockmap and the shim both want a socket's calls: who is there first keeps them,
 * and the other is refused. Neither harms the connection.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "bpf.h"
#include "stress.h"
#include "tcp_pair.h"

static int need_map(enum bpf_map_type type)
{
	int map = bpf_map(type);

	if (map < 0)
		trace_skip("needs bpf() and sockmaps");
	return map;
}

/* With bytes unread both ways, each end, into either sort of map. */
static void refused(const struct transport *t)
{
	static const enum bpf_map_type types[] = { BPF_MAP_TYPE_SOCKMAP, BPF_MAP_TYPE_SOCKHASH };
	int fd[2], map, i;

	(void)t;
	tcp_shim_net();
	tcp_fused_pair(fd);
	for (i = 0; i < 4; i++) {
		map = need_map(types[i / 2]);
		WANT_TRUE(tcp_put(fd[0], 5000, 0) && tcp_put(fd[1], 5000, 0), "unread");
		WANT_ERR(bpf_map_set(map, 0, fd[i & 1]), EINVAL, "%d: into the map", i);
		WANT_ERR(bpf_map_del(map, 0), i / 2 ? ENOENT : EINVAL, "it is not there");
		WANT_TRUE(tcp_get(fd[0], 5000, 0) && tcp_get(fd[1], 5000, 0), "%d: read", i);
		WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "%d: fused as before", i);
		close(map);
	}
	WANT(tcp_fusion(fd[0]).unfused + tcp_fusion(fd[1]).unfused, 0, 0, "it never moved");
	WANT_TRUE(tcp_pump_both(fd, 300000), "bulk");
	tcp_close(fd);
}

/* Before its first byte a connection has the shim, and no ring yet. */
static void unused(const struct transport *t)
{
	int fd[2], map, i;

	(void)t;
	tcp_shim_net();
	map = need_map(BPF_MAP_TYPE_SOCKMAP);
	tcp_pair(fd);
	for (i = 0; i < 2; i++)
		WANT_ERR(bpf_map_set(map, i, fd[i]), EINVAL, "%d: into the map", i);
	WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "fused");
	WANT_TRUE(tcp_pump_both(fd, 300000), "bulk");
	tcp_close(fd);
	close(map);
}

/* What is in a map has no shim; it may ask for it when it is out. */
static void in_a_map(const struct transport *t)
{
	int fd[2], map, i;

	(void)t;
	tcp_own_net();
	map = need_map(BPF_MAP_TYPE_SOCKMAP);
	for (i = 0; i < 2; i++) {
		tcp_pair(fd);
		WANT_OK(bpf_map_set(map, 0, fd[i]), "%d: into the map", i);
		WANT_ERR(tcp_set_ulp(fd[i], "speed"), EOPNOTSUPP, "%d: ask", i);
		WANT_OK(tcp_set_ulp(fd[!i], "speed"), "%d: the other end asks", i);
		WANT_TRUE(tcp_exchange(fd) && tcp_exchange(fd), "%d: exchange", i);
		WANT(tcp_takes_part(fd[i]), 0, 0, "%d: it takes no part", i);
		WANT(tcp_fusion(fd[!i]).fused, 0, 0, "%d: not fused", i);
		WANT(tcp_reason(fd[!i]), SPEED_TCP_PEER, 0, "%d: the reason", i);
		WANT_TRUE(tcp_pump_both(fd, 300000), "%d: bulk", i);
		WANT_OK(bpf_map_del(map, 0), "%d: out of the map", i);
		WANT_TRUE(tcp_exchange(fd), "%d: exchange", i);
		WANT_OK(tcp_set_ulp(fd[i], "speed"), "%d: ask", i);
		WANT_TRUE(tcp_fuses(fd), "%d: fused, reason %u", i, tcp_reason(fd[!i]));
		WANT_TRUE(tcp_pump_both(fd, 300000), "%d: bulk", i);
		tcp_close(fd);
	}
	close(map);
}

/* Its children are not in the map that it is in. */
static void listener(const struct transport *t)
{
	int listener, fd[2], map, i;
	struct address a;

	(void)t;
	tcp_shim_net();
	map = need_map(BPF_MAP_TYPE_SOCKMAP);
	listener = tcp_listen_at(LOCAL4, 0, &a);
	WANT_OK(bpf_map_set(map, 0, listener), "a listener into the map");
	for (i = 0; i < 2; i++) {
		tcp_join(listener, &a, tcp_socket(&a), fd);
		WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "%d: a child: fused", i);
		WANT_ERR(bpf_map_set(map, 1, fd[1]), EINVAL, "%d: into the map", i);
		if (i)
			close(listener);
		WANT_TRUE(tcp_pump_both(fd, 300000), "%d: bulk", i);
		WANT_TRUE(tcp_exchange(fd) && tcp_fuses(fd), "%d: fused", i);
		tcp_close(fd);
	}
	close(map);
}

static const struct test_case cases[] = {
	{ "refused", refused, CASE_STREAM | CASE_SPEED },
	{ "unused", unused, CASE_STREAM | CASE_SPEED },
	{ "in_a_map", in_a_map, CASE_STREAM | CASE_SPEED },
	{ "listener", listener, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
