// SPDX-License-Identifier: GPL-2.0
/* /proc/net/speed and the sysctls: what they show, and what they refuse. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "procfile.h"

#define SAYS(fd, column, value)							\
	do {									\
		char got_[256];							\
										\
		proc_speed_column(fd, column, got_, sizeof(got_));		\
		WANT_TRUE(!strcmp(got_, value), "%s is \"%s\", want \"%s\"",	\
			  column, got_, value);					\
	} while (0)

static const char *type_name(const struct transport *t)
{
	return t->type == SOCK_STREAM ? "stream" : "seqpacket";
}

static void one_socket(const struct transport *t)
{
	struct speed_sockaddr sp;
	struct address a;
	char name[80], number[16];
	int fd = tp_socket(t, 0), other = tp_socket(t, 0);

	SAYS(fd, "type", type_name(t));
	SAYS(fd, "state", "unconnected");
	SAYS(fd, "uid", "0");
	SAYS(fd, "pair", "0");
	SAYS(fd, "local", "-");
	SAYS(fd, "peer", "-");
	SAYS(fd, "map", "--");
	SAYS(fd, "wait", "-");
	tp_address(t, &a);
	MUST(bind_to(fd, &a) == 0);
	snprintf(name, sizeof(name), "@%.*s", (int)a.len - 8,
		 ((struct speed_sockaddr *)&a.sa)->sp_name);
	SAYS(fd, "local", name);
	snprintf(number, sizeof(number), "%d", 30000 + getpid() % 1000);
	MUST(bind(other, (struct sockaddr *)&sp, speed_addr_number(&sp, atoi(number))) == 0);
	SAYS(other, "local", number);
	MUST(listen(fd, 1) == 0);
	SAYS(fd, "state", "listening");
	close(other);
	close(fd);
}

static void odd_names(const struct transport *t)
{
	struct speed_sockaddr sp = { .sp_family = t->family };
	int fd = tp_socket(t, 0);

	/* A blank or a newline in a name must not make another column or line. */
	memcpy(sp.sp_name, "a b\nc\\d\te", 9);
	MUST(bind(fd, (struct sockaddr *)&sp, 8 + 9) == 0);
	SAYS(fd, "local", "@a\\040b\\012c\\134d\\011e");
	SAYS(fd, "wait", "-");
	close(fd);
}

static void owner(const struct transport *t)
{
	int fd;

	if (geteuid())
		trace_skip("needs root, to be another user");
	MUST(setresuid(1234, 1234, 0) == 0);
	fd = tp_socket(t, 0);
	SAYS(fd, "uid", "1234");
	close(fd);
}

static void connected(const struct transport *t)
{
	char pair[32], other[32], local[96], peer[96], buf[4000] = { 0 };
	struct end e[2];
	int record = t->type == SOCK_SEQPACKET ? 8 : 0;

	tp_pair(t, e);
	SAYS(e[0].fd, "type", type_name(t));
	SAYS(e[0].fd, "state", "connected");
	SAYS(e[1].fd, "state", "connected");
	proc_speed_column(e[0].fd, "pair", pair, sizeof(pair));
	proc_speed_column(e[1].fd, "pair", other, sizeof(other));
	WANT_TRUE(!strcmp(pair, other) && strcmp(pair, "0"), "both ends show one pair");
	SAYS(e[0].fd, "local", "-");
	SAYS(e[1].fd, "peer", "-");
	proc_speed_column(e[0].fd, "peer", peer, sizeof(peer));
	proc_speed_column(e[1].fd, "local", local, sizeof(local));
	WANT_TRUE(!strcmp(peer, local) && peer[0] == '@', "the listener's name on both");
	SAYS(e[0].fd, "tx", "0");
	SAYS(e[0].fd, "fill", "0/0");
	SAYS(e[0].fd, "ring", "0/0");

	WANT(end_send(&e[0], buf, 4000, 0), 4000, 0, "send 4000");
	WANT(proc_speed_number(e[0].fd, "tx"), 4000 + record, 0, "tx of the sender");
	WANT(proc_speed_number(e[0].fd, "fill"), 4000 + record, 0, "fill of the sender");
	WANT(proc_speed_number(e[1].fd, "rx"), 0, 0, "rx of the receiver");
	WANT_TRUE(proc_speed_number(e[0].fd, "ring") >= 4096, "there is a ring");
	WANT(end_recv(&e[1], buf, 4000, 0), 4000, 0, "recv 4000");
	WANT(proc_speed_number(e[1].fd, "rx"), 4000 + record, 0, "rx of the receiver");
	WANT(proc_speed_number(e[0].fd, "fill"), 0, 0, "fill of the sender");
	WANT(end_send(&e[1], buf, 40, 0), 40, 0, "send 40 back");
	WANT(proc_speed_number(e[1].fd, "tx"), 40 + record, 0, "tx of the other");
	end_close(&e[0]);
	SAYS(e[1].fd, "state", "closed");
	end_close(&e[1]);
}

static void mapped(const struct transport *t)
{
	struct speed *m;
	struct end e[2];
	char buf[8];

	tp_pair(t, e);
	m = speed_attach(e[0].fd, 0);
	MUST(m);
	SAYS(e[0].fd, "map", "--");
	WANT_OK(speed_map(m, SPEED_MAP_TX), "map TX");
	SAYS(e[0].fd, "map", "t-");
	WANT_OK(speed_map(m, SPEED_MAP_BOTH), "map both");
	SAYS(e[0].fd, "map", "tr");
	SAYS(e[1].fd, "map", "--");
	WANT(speed_send(m, "abcdefgh", 8, 0), 8, 0, "send by the mapping");
	WANT_TRUE(proc_speed_number(e[0].fd, "tx") >= 8, "it counts");
	WANT(recv(e[1].fd, buf, 8, 0), 8, 0, "recv");
	WANT(send(e[0].fd, "x", 1, 0), 1, 0, "send by system call");
	SAYS(e[0].fd, "map", "-r");
	speed_detach(m);
	pair_close(e);
}

static long wait_readable(void *fd)
{
	return poll_wait(*(int *)fd, POLLIN, 20000);
}

static void waiters(const struct transport *t)
{
	struct end e[2];
	struct call c;
	struct task k;
	char buf[8];

	tp_pair(t, e);
	SAYS(e[1].fd, "wait", "-");
	task_start(&k, wait_readable, &e[1].fd);
	WANT_TRUE(task_sleeps(&k), "poll waits");
	SAYS(e[1].fd, "wait", "w");
	SAYS(e[0].fd, "wait", "-");
	WANT(end_send(&e[0], "x", 1, 0), 1, 0, "send");
	WANT(task_join(&k), POLLIN, 0, "poll");
	SAYS(e[1].fd, "wait", "-");
	WANT(end_recv(&e[1], buf, 8, 0), 1, 0, "recv");
	c = (struct call){ &e[1], buf, 8, 0 };
	task_start(&k, call_recv, &c);
	WANT_TRUE(task_sleeps(&k), "recv waits");
	SAYS(e[1].fd, "wait", "w");
	WANT(end_send(&e[0], "x", 1, 0), 1, 0, "send");
	WANT(task_join(&k), 1, 0, "recv");
	pair_close(e);
}

static void enter_new(void)
{
	if (geteuid())
		trace_skip("needs root, to make a network namespace");
	MUST(unshare(CLONE_NEWNET) == 0);
}

static void by_namespace(const struct transport *t)
{
	int here = tp_socket(t, 0), there;
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	MUST(home >= 0);
	enter_new();
	there = tp_socket(t, 0);
	SAYS(there, "state", "unconnected");
	SAYS(here, "state", "");
	MUST(setns(home, CLONE_NEWNET) == 0);
	SAYS(there, "state", "");
	SAYS(here, "state", "unconnected");
	close(here);
	close(there);
}

static void family(const struct transport *t)
{
	char value[32];

	(void)t;
	WANT_OK(sysctl_get("family", value, sizeof(value)), "read it");
	WANT(atoi(value), t->family, 0, "it is the family");
	WANT_ERR(sysctl_set("family", "20"), EACCES, "write it");
}

static void refuses(const char *name, const char *const bad[])
{
	char before[32], after[32];

	WANT_OK(sysctl_get(name, before, sizeof(before)), "read %s", name);
	for (; *bad; bad++)
		WANT_ERR(sysctl_set(name, *bad), EINVAL, "%s = \"%s\"", name, *bad);
	WANT_OK(sysctl_get(name, after, sizeof(after)), "read %s again", name);
	WANT_TRUE(!strcmp(before, after), "it is as it was");
}

static void bad_values(const struct transport *t)
{
	static const char *const ring[] = {
		"0", "-1", "1", "2048", "4095", "4097", "5000", "100000", "2147483648", "abc",
		"1e4", "99999999999999999999999", NULL
	};
	static const char *const mem[] = { "-1", "abc", "12x", NULL };
	static const char *const spin[] = { "-1", "1000001", "4294967296", "abc", NULL };

	(void)t;
	enter_new();
	refuses("ring_bytes", ring);
	refuses("mem_max", mem);
	refuses("spin_us", spin);
}

static void good_values(const struct transport *t)
{
	static const char *const rings[] = { "4096", "65536", "1048576", NULL };
	struct speed_info info;
	socklen_t len = sizeof(info);
	char value[32];
	struct end e[2];
	int i;

	enter_new();
	for (i = 0; rings[i]; i++) {
		WANT_OK(sysctl_set("ring_bytes", rings[i]), "ring_bytes = %s", rings[i]);
		WANT_OK(sysctl_get("ring_bytes", value, sizeof(value)), "read it");
		WANT_TRUE(!strcmp(value, rings[i]), "it is that");
		tp_pair(t, e);
		WANT(end_send(&e[0], "x", 1, 0), 1, 0, "send");
		WANT_OK(getsockopt(e[0].fd, SOL_SPEED, SPEED_INFO, &info, &len), "SPEED_INFO");
		WANT(info.ring_bytes[SPEED_ROLE_TX], atoi(rings[i]), 0, "a new ring has it");
		pair_close(e);
	}
	WANT_OK(sysctl_set("spin_us", "0"), "spin_us = 0");
	WANT_OK(sysctl_set("spin_us", "123"), "spin_us = 123");
	tp_pair(t, e);
	WANT_OK(getsockopt(e[0].fd, SOL_SPEED, SPEED_INFO, &info, &len), "SPEED_INFO");
	WANT(info.spin_us, 123, 0, "a socket tells it");
	pair_close(e);
	WANT_OK(sysctl_set("spin_us", "1000000"), "spin_us = 1000000");
}

static void each_namespace(const struct transport *t)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	char before[32], after[32];

	(void)t;
	MUST(home >= 0);
	WANT_OK(sysctl_get("spin_us", before, sizeof(before)), "read it at home");
	enter_new();
	WANT_OK(sysctl_set("spin_us", "4321"), "set it abroad");
	MUST(setns(home, CLONE_NEWNET) == 0);
	WANT_OK(sysctl_get("spin_us", after, sizeof(after)), "read it at home");
	WANT_TRUE(!strcmp(before, after), "it is as it was");
}

/* Without memory an AF_SPEED socket says so, and works again when there is some. */
static void out_of_memory(const struct transport *t)
{
	char before[32];
	struct end e[2];

	enter_new();
	WANT_OK(sysctl_get("mem_max", before, sizeof(before)), "read mem_max");
	tp_pair(t, e);
	WANT_OK(sysctl_set("mem_max", "0"), "mem_max = 0");
	WANT_ERR(end_send(&e[0], "x", 1, 0), ENOBUFS, "send");
	WANT_OK(sysctl_set("mem_max", before), "mem_max as before");
	WANT(end_send(&e[0], "x", 1, 0), 1, 0, "send");
	WANT(end_recv(&e[1], &(char){ 0 }, 1, 0), 1, 0, "recv");
	pair_close(e);
}

/* A namespace that a user owns may not have more than the first one allows. */
static void of_a_user(const struct transport *t)
{
	char first[32], more[32];

	(void)t;
	WANT_OK(sysctl_get("mem_max", first, sizeof(first)), "read mem_max");
	snprintf(more, sizeof(more), "%llu", strtoull(first, NULL, 10) + 4096);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		trace_skip("no user namespaces: %s", strerror(errno));
	MUST(file_write("/proc/self/setgroups", "deny") == 0);
	MUST(file_write("/proc/self/uid_map", "0 0 1") == 0);
	MUST(file_write("/proc/self/gid_map", "0 0 1") == 0);
	WANT_ERR(sysctl_set("mem_max", more), EINVAL, "more than the first one's");
	WANT_OK(sysctl_set("mem_max", "1048576"), "less");
	WANT_OK(sysctl_set("mem_max", first), "as much");
}

static const struct test_case cases[] = {
	{ "one_socket", one_socket, CASE_BOTH | CASE_SPEED },
	{ "odd_names", odd_names, CASE_STREAM | CASE_SPEED },
	{ "owner", owner, CASE_STREAM | CASE_SPEED },
	{ "connected", connected, CASE_BOTH | CASE_SPEED },
	{ "mapped", mapped, CASE_BOTH | CASE_SPEED },
	{ "waiters", waiters, CASE_BOTH | CASE_SPEED | CASE_PATHS },
	{ "by_namespace", by_namespace, CASE_STREAM | CASE_SPEED },
	{ "family", family, CASE_STREAM | CASE_SPEED },
	{ "bad_values", bad_values, CASE_STREAM | CASE_SPEED },
	{ "good_values", good_values, CASE_STREAM | CASE_SPEED },
	{ "each_namespace", each_namespace, CASE_STREAM | CASE_SPEED },
	{ "out_of_memory", out_of_memory, CASE_STREAM | CASE_SPEED },
	{ "of_a_user", of_a_user, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
