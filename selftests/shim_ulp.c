// SPDX-License-Identifier: GPL-2.0
/*
 * setsockopt(TCP_ULP, "speed"): asking for the shim socket by socket, with
 * net.speed.loopback off, before a connection and in the middle of it.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "regions.h"
#include "shim_held.h"
#include "stress.h"
#include "tcp_pair.h"

static bool ulp_is(int fd, const char *want)
{
	char name[16] = "";
	socklen_t len = sizeof(name);

	return !getsockopt(fd, IPPROTO_TCP, TCP_ULP, name, &len) && !strcmp(name, want);
}

/* Which ends ask before the connection is made: a bit each. */
static void pair_asking(int ask, int fd[2])
{
	struct address a;
	int listener = tcp_listen_at(LOCAL4, 0, &a), client = tcp_socket(&a);

	if (ask & 1)
		WANT_OK(tcp_set_ulp(client, "speed"), "ask, who connects");
	if (ask & 2)
		WANT_OK(tcp_set_ulp(listener, "speed"), "ask, who listens");
	tcp_join(listener, &a, client, fd);
	close(listener);
}

static void before(const struct transport *t)
{
	int ask, fd[2];

	(void)t;
	tcp_own_net();
	for (ask = 0; ask < 4; ask++) {
		pair_asking(ask, fd);
		WANT_TRUE(ulp_is(fd[0], ask & 1 ? "speed" : ""), "%d: the name, client", ask);
		WANT_TRUE(ulp_is(fd[1], ask & 2 ? "speed" : ""), "%d: the name, child", ask);
		WANT_TRUE(tcp_exchange(fd) && tcp_exchange(fd), "%d: exchange", ask);
		WANT(tcp_fused(fd), ask == 3, 0, "%d: fused", ask);
		if (ask == 1)
			WANT(tcp_reason(fd[0]), SPEED_TCP_PEER, 0, "one end: the reason");
		if (ask == 2)
			WANT(tcp_reason(fd[1]), SPEED_TCP_PEER, 0, "the other: the reason");
		WANT_TRUE(tcp_pump(fd[0], fd[1], 400000), "%d: bulk", ask);
		WANT_TRUE(tcp_pump(fd[1], fd[0], 400000), "%d: bulk back", ask);
		tcp_close(fd);
	}
}

static void after(const struct transport *t)
{
	int fd[2], order;

	(void)t;
	tcp_own_net();
	for (order = 0; order < 2; order++) {
		tcp_pair(fd);
		WANT_TRUE(tcp_exchange(fd), "exchange");
		WANT_OK(tcp_set_ulp(fd[order], "speed"), "one end asks");
		WANT_TRUE(ulp_is(fd[order], "speed"), "its name");
		WANT_TRUE(tcp_exchange(fd) && !tcp_fused(fd), "exchange, one asks");
		WANT_TRUE(tcp_put(fd[0], 5000, 0) && tcp_put(fd[1], 5000, 0), "unread");
		WANT_OK(tcp_set_ulp(fd[!order], "speed"), "the other end asks");
		WANT_TRUE(tcp_put(fd[0], 5000, 5000), "and more");
		WANT_TRUE(tcp_get(fd[0], 5000, 0) && tcp_get(fd[1], 10000, 0), "read");
		WANT_TRUE(tcp_fuses(fd), "fused, reason %u", tcp_reason(fd[0]));
		WANT_TRUE(tcp_pump(fd[0], fd[1], 400000), "bulk");
		tcp_close(fd);
	}
}

/* Who sleeps in TCP's own calls knows of no ring. */
static void while_asleep(const struct transport *t)
{
	struct task k[2];
	struct call c[2];
	struct end e[2];
	char got[2][8];
	int fd[2], i;

	(void)t;
	tcp_own_net();
	tcp_pair(fd);
	for (i = 0; i < 2; i++) {
		e[i] = (struct end){ .fd = fd[i] };
		c[i] = (struct call){ &e[i], got[i], 8, 0 };
		task_start(&k[i], call_recv, &c[i]);
		WANT_TRUE(task_sleeps(&k[i]), "recv waits");
	}
	WANT_OK(tcp_set_ulp(fd[0], "speed"), "one asks");
	WANT_OK(tcp_set_ulp(fd[1], "speed"), "the other asks");
	sleep_ms(1000);
	for (i = 0; i < 2; i++) {
		WANT(send(fd[!i], "wake", 4, 0), 4, 0, "send");
		WANT(task_join(&k[i]), 4, 0, "recv");
	}
	WANT_TRUE(tcp_fuses(fd), "fused, reason %u", tcp_reason(fd[0]));
	tcp_close(fd);
}

static void names(const struct transport *t)
{
	struct address a;
	int listener, fd[2];

	(void)t;
	tcp_own_net();
	pair_asking(3, fd);
	WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "fused");
	WANT_ERR(tcp_set_ulp(fd[0], "speed"), EEXIST, "ask twice");
	WANT_ERR(tcp_set_ulp(fd[1], "speed"), EEXIST, "ask twice, whose listener asked");
	WANT_ERR(tcp_set_ulp(fd[0], "speed-no"), ENOENT, "an unknown name");
	WANT_ERR(setsockopt(fd[0], IPPROTO_TCP, TCP_ULP, "", 0), EINVAL, "no name");
	WANT_ERR(setsockopt(fd[0], IPPROTO_TCP, TCP_ULP, bad_pointer(), 5), EFAULT, "a bad one");
	WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "fused as before");
	WANT_TRUE(ulp_is(fd[0], "speed"), "its name");
	tcp_close(fd);
	listener = tcp_listen_at(LOCAL4, 0, &a);
	WANT_OK(tcp_set_ulp(listener, "speed"), "on a listener");
	WANT_ERR(tcp_set_ulp(listener, "speed"), EEXIST, "twice");
	WANT_TRUE(ulp_is(listener, "speed"), "its name");
	close(listener);
	/* Given by the sysctl: who asks by name gets it once, too. */
	tcp_shim_set(1);
	tcp_fused_pair(fd);
	WANT_TRUE(ulp_is(fd[0], "speed"), "its name, by the sysctl");
	WANT_OK(tcp_set_ulp(fd[0], "speed"), "ask for what is there");
	WANT_ERR(tcp_set_ulp(fd[0], "speed"), EEXIST, "twice");
	WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "fused");
	tcp_close(fd);
}

/* Asked for on both ends, it does not depend on the sysctl; otherwise it does. */
static void sysctl_counts(const struct transport *t)
{
	int fd[2];

	(void)t;
	tcp_shim_net();
	pair_asking(3, fd);
	WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "both ask: fused");
	tcp_shim_set(0);
	WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "both ask: fused still");
	tcp_close(fd);
	tcp_shim_set(1);
	pair_asking(1, fd);
	WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "one asks: fused");
	tcp_shim_set(0);
	WANT_TRUE(tcp_unfuses(fd), "one asks: unfused");
	WANT(tcp_reason(fd[0]), SPEED_TCP_OFF, 0, "the reason");
	tcp_close(fd);
}

/* A connection refused, one given up, and a socket that then listens. */
static void other_lives(const struct transport *t)
{
	struct address a, nobody;
	int listener, fd[2], i;

	(void)t;
	tcp_shim_net();
	for (i = 0; i < 2; i++) {
		listener = tcp_listen_at(LOCAL4, 0, &a);
		close(tcp_listen_at(LOCAL4, 0, &nobody));
		fd[0] = tcp_socket(&a);
		if (i)
			WANT_OK(tcp_set_ulp(fd[0], "speed"), "ask");
		WANT_ERR(connect_to(fd[0], &nobody), ECONNREFUSED, "refused");
		tcp_join(listener, &a, fd[0], fd);
		WANT_TRUE(tcp_exchange(fd), "exchange after a refusal");
		WANT_TRUE(tcp_fused(fd), "fused after a refusal");
		WANT_OK(tcp_give_up(fd[0]), "give it up");
		close(fd[1]);
		tcp_join(listener, &a, fd[0], fd);
		WANT_TRUE(tcp_exchange(fd), "exchange, connected again");
		WANT_OK(tcp_give_up(fd[0]), "give it up");
		tcp_close(fd);
		close(listener);
	}
}

/* A socket that failed to connect listens; its children are as any other's. */
static void then_listens(const struct transport *t)
{
	struct address nobody, a;
	int failed, fd[2], i;

	(void)t;
	tcp_shim_net();
	for (i = 0; i < 3; i++) {
		close(tcp_listen_at(LOCAL4, 0, &nobody));
		tcp_address(&a, LOCAL4, 0);
		failed = tcp_socket(&a);
		WANT_ERR(connect_to(failed, &nobody), ECONNREFUSED, "refused");
		WANT_OK(listen(failed, 8), "listen");
		MUST(get_sockname(failed, &a) == 0);
		tcp_join(failed, &a, tcp_socket(&a), fd);
		WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "a child: fused");
		if (i)
			close(failed);
		WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "the listener closed");
		tcp_close(fd);
		if (!i)
			close(failed);
	}
}

/* Another ULP, refused on a listener, must leave its children alone. */
static void listener_lets_go(const struct transport *t)
{
	struct address a;
	int listener, fd[2], i;

	(void)t;
	tcp_own_net();
	for (i = 0; i < 4; i++) {
		listener = tcp_listen_at(LOCAL4, 0, &a);
		WANT_OK(tcp_set_ulp(listener, "speed"), "ask");
		WANT_TRUE(tcp_set_ulp(listener, i & 1 ? "tls" : "speed-no") < 0,
			  "another on a listener");
		fd[0] = tcp_socket(&a);
		WANT_OK(tcp_set_ulp(fd[0], "speed"), "ask");
		tcp_join(listener, &a, fd[0], fd);
		WANT_TRUE(tcp_exchange(fd), "exchange");
		if (i & 2)
			close(listener);
		tcp_close(fd);
		if (!(i & 2))
			close(listener);
	}
}

/* A mapped connection is given up, and the socket listens: its close leaves nothing behind. */
static void mapped_then_listens(const struct transport *t)
{
	struct shim_held before;
	struct speed_lease l;
	int fd[2];

	(void)t;
	tcp_own_net();
	shim_orphans_brief();
	shim_held_begin(&before);
	pair_asking(3, fd);
	WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "fused");
	WANT_OK(lease_role(fd[0], SPEED_ROLE_TX, &l), "lease");
	WANT_OK(tcp_give_up(fd[0]), "give it up");
	WANT_OK(listen(fd[0], 8), "listen");
	tcp_close(fd);
	shim_held_end(&before);
}

static const struct test_case cases[] = {
	{ "before", before, CASE_STREAM | CASE_SPEED },
	{ "after", after, CASE_STREAM | CASE_SPEED },
	{ "while_asleep", while_asleep, CASE_STREAM | CASE_SPEED },
	{ "names", names, CASE_STREAM | CASE_SPEED },
	{ "sysctl_counts", sysctl_counts, CASE_STREAM | CASE_SPEED },
	{ "other_lives", other_lives, CASE_STREAM | CASE_SPEED },
	{ "then_listens", then_listens, CASE_STREAM | CASE_SPEED },
	{ "mapped_then_listens", mapped_then_listens, CASE_STREAM | CASE_SPEED },
	{ "listener_lets_go", listener_lets_go, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
