// SPDX-License-Identifier: GPL-2.0
/*
 * Where there is no memory for a ring a connection stays on TCP, with all its
 * bytes, and comes back to the ring when there is.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "group.h"
#include "shim_held.h"
#include "stress.h"
#include "tcp_pair.h"

#define PAIRS		40
#define MOST_CPUS	32
#define MOST		(20 + 8 * MOST_CPUS + PAIRS)
#define RING		(256 << 10)

static void mem_max(long bytes)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", bytes);
	MUST(sysctl_set("mem_max", text) == 0);
}

static void none(const struct transport *t)
{
	long not = stat_number("tcp_not_memory");
	char before[32];
	int fd[2];

	(void)t;
	tcp_shim_net();
	MUST(sysctl_get("mem_max", before, sizeof(before)) == 0);
	mem_max(0);
	tcp_pair(fd);
	WANT_TRUE(tcp_exchange(fd) && tcp_exchange(fd), "exchange");
	WANT(tcp_fusion(fd[0]).fused + tcp_fusion(fd[1]).fused, 0, 0, "never fused");
	WANT(tcp_reason(fd[0]), SPEED_TCP_MEMORY, 0, "the reason");
	WANT_TRUE(tcp_pump_both(fd, 1 << 20), "bulk");
	WANT_TRUE(stat_number("tcp_not_memory") > not, "tcp_not_memory");
	MUST(sysctl_set("mem_max", before) == 0);
	WANT_TRUE(tcp_fuses(fd), "fused, when there is some");
	WANT_TRUE(tcp_pump_both(fd, 1 << 20), "bulk");
	tcp_close(fd);
}

/* Enough for a few: they have it, the others do not, and all work. */
static void few(const struct transport *t)
{
	static int fd[PAIRS][2];
	int i, fused = 0;

	(void)t;
	tcp_shim_net();
	mem_max(6 * RING);
	for (i = 0; i < PAIRS; i++) {
		tcp_pair(fd[i]);
		/* Left unread, so that none can be taken away from the idle. */
		WANT_TRUE(tcp_put(fd[i][0], 5000, 0) && tcp_put(fd[i][1], 5000, 0), "put");
		fused += !!(tcp_flags(fd[i][0]) & SPEED_FUSION_TX);
		fused += !!(tcp_flags(fd[i][1]) & SPEED_FUSION_TX);
	}
	WANT_TRUE(fused >= 3 && fused <= 6, "directions by a ring: %d", fused);
	for (i = 0; i < PAIRS; i++)
		WANT_TRUE(tcp_get(fd[i][0], 5000, 0) && tcp_get(fd[i][1], 5000, 0), "get");
	for (i = 0; i < PAIRS; i++)
		WANT_TRUE(tcp_pump(fd[i][0], fd[i][1], 300000), "bulk of %d", i);
	for (i = 1; i < PAIRS; i++)
		tcp_close(fd[i]);
	WANT_TRUE(tcp_fuses(fd[0]), "fused, alone");
	tcp_close(fd[0]);
}

/* A ring lost its pages while idle: it may not get them back at once. */
static void taken_away(const struct transport *t)
{
	long until = now_ms() + 15000;
	char before[32];
	int fd[2];

	(void)t;
	tcp_shim_net();
	tcp_fused_pair(fd);
	MUST(sysctl_get("mem_max", before, sizeof(before)) == 0);
	mem_max(0);
	WANT_TRUE(tcp_exchange(fd), "exchange, with what it has");
	while (tcp_fusion(fd[0]).ring_bytes[0] && now_ms() < until)
		sleep_ms(100);
	WANT(tcp_fusion(fd[0]).ring_bytes[0], 0, 0, "idle: pages given back");
	WANT_TRUE(tcp_exchange(fd) && tcp_exchange(fd), "exchange, without");
	WANT_TRUE(tcp_pump(fd[0], fd[1], 400000), "bulk");
	WANT(tcp_fused(fd), 0, 0, "on TCP");
	MUST(sysctl_set("mem_max", before) == 0);
	WANT_TRUE(tcp_fuses(fd), "fused, when there is some");
	tcp_close(fd);
}

/* Of all TCP's pages, those that a full connection holds; zero where the sum is a lie. */
static long pages_of_bulk(void)
{
	static char buf[65536];
	long pages;
	int fd[2];

	tcp_shim_set(0);
	tcp_pair(fd);
	while (send(fd[0], buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
	pages = tcp_mem_pages();
	tcp_close(fd);
	tcp_shim_set(1);
	return pages;
}

/* Rings of a size that an int of the kernel's does not hold four of. */
static void huge(const struct transport *t)
{
	static const char *const sizes[] = { "536870912", "1073741824" };
	/* The initial namespace's bounds all: kept open, to be put back. */
	int bound = open("/proc/sys/net/speed/mem_max", O_WRONLY), fd[2], i, j;
	char before[32];
	long pages;

	(void)t;
	MUST(bound >= 0 && sysctl_get("mem_max", before, sizeof(before)) == 0);
	mem_max(1L << 33);
	tcp_shim_net();
	mem_max(1L << 33);
	for (i = 0; i < 2; i++) {
		MUST(sysctl_set("ring_bytes", sizes[i]) == 0);
		for (j = 0; j < 3; j++) {
			tcp_pair(fd);
			WANT_TRUE(tcp_exchange(fd) && tcp_exchange(fd), "%s: exchange", sizes[i]);
			tcp_close(fd);
		}
		pages = pages_of_bulk();
		WANT_TRUE(pages > 200 && pages < 100000, "%s: %ld pages", sizes[i], pages);
	}
	MUST(write(bound, before, strlen(before)) == (ssize_t)strlen(before));
	close(bound);
}

static int in_tight_group(void *arg)
{
	static int fd[PAIRS][2];
	int i, fused = 0;

	if (group_enter(GROUP))
		return 101;
	for (i = 0; i < PAIRS; i++) {
		tcp_pair(fd[i]);
		if (!tcp_put(fd[i][0], 3000, 0) || !tcp_put(fd[i][1], 3000, 0))
			return 102;
		fused += !!(tcp_flags(fd[i][0]) & SPEED_FUSION_TX);
		fused += !!(tcp_flags(fd[i][1]) & SPEED_FUSION_TX);
	}
	for (i = 0; i < PAIRS; i++) {
		if (!tcp_get(fd[i][0], 3000, 0) || !tcp_get(fd[i][1], 3000, 0))
			return 103;
	}
	for (i = 0; i < PAIRS; i++) {
		if (!tcp_exchange(fd[i]) || !tcp_pump(fd[i][0], fd[i][1], 200000))
			return 104;
		tcp_close(fd[i]);
	}
	return fused;
}

/* Rings of all would take 20 MiB of a group that may have 12. */
static void group(const struct transport *t)
{
	int fused;

	(void)t;
	tcp_shim_net();
	group_need();
	if (file_write(GROUP "/memory.max", "12M")) {
		rmdir(GROUP);
		trace_skip("needs the memory controller of cgroup2");
	}
	fused = process_join(process_start(in_tight_group, NULL));
	WANT_OK(rmdir(GROUP), "rmdir");
	WANT_TRUE(fused >= 0 && fused < 100, "all bytes are there: %d", fused);
	WANT_TRUE(fused < 2 * PAIRS, "directions by a ring: %d", fused);
	WANT_TRUE(fused > 0, "some are");
}

/* Others may have taken a ring's pages meanwhile: it gets some when it is used. */
static int maps(const int fd[2], int role)
{
	struct raw w;
	int tries;

	for (tries = 0; tries < 50; tries++) {
		if (raw_try(&w, fd[0], role))
			return 0;
		if (errno != EAGAIN)
			return errno;
		if (fd[1] < 0)
			sleep_ms(5);	/* whoever looks at it refuses a lease for that instant */
		else
			MUST(tcp_exchange(fd));
	}
	return EAGAIN;
}

/*
 * TCP's bounds, of which the first bounds rings, are so many rings; none: what they were.
 * First to be called in the initial namespace, which alone has them.
 */
static void tcp_limits(int rings)
{
	long pages = rings * (RING / sysconf(_SC_PAGESIZE));
	static char before[64];
	static int fd = -1;
	char text[64];

	if (fd < 0) {
		fd = open("/proc/sys/net/ipv4/tcp_mem", O_RDWR);
		MUST(fd >= 0 && read(fd, before, sizeof(before) - 1) > 0);
	}
	snprintf(text, sizeof(text), "%ld %ld %ld", pages, 8 * pages, 16 * pages);
	if (!rings)
		strcpy(text, before);
	MUST(pwrite(fd, text, strlen(text), 0) == (ssize_t)strlen(text));
}

/* Enough for some, beyond the megabyte that TCP keeps aside on each processor, and that again. */
static int some_rings(void)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return 20 + 8 * (cpus < MOST_CPUS ? cpus : MOST_CPUS);
}

/* Pairs of which this maps one direction, until there is no more. Return: how many. */
static int map_pairs(int fd[][2], int most)
{
	int n, err = 0;

	for (n = 0; n < most && !err; n += !err) {
		tcp_fused_pair(fd[n]);
		err = maps(fd[n], SPEED_ROLE_TX);
	}
	WANT(err, ENOBUFS, 0, "no more of them");
	return n;
}

/*
 * Three quarters of what TCP may have can be mapped: the rest goes round among the
 * others, none of which leaves its ring.
 */
static void mapped_share(const struct transport *t)
{
	static int fd[MOST][2];
	int rings = some_rings(), i, n, all;
	long not;

	(void)t;
	tcp_limits(rings);
	tcp_shim_net();
	n = map_pairs(fd, rings);
	WANT_TRUE(n == rings / 4 * 3, "connections mapped");
	all = n + PAIRS;
	not = stat_number("tcp_not_memory");
	for (i = n + 1; i < all; i++)
		tcp_fused_pair(fd[i]);
	for (i = n; i < all; i++)
		WANT_TRUE(tcp_exchange(fd[i]) && tcp_exchange(fd[i]), "exchange");
	for (i = n; i < all; i++)
		WANT_TRUE(tcp_fused(fd[i]), "by their rings");
	WANT(stat_number("tcp_not_memory") - not, 0, 0, "on TCP for want of memory");
	for (i = 0; i < all; i++)
		tcp_close(fd[i]);
	tcp_limits(0);
}

/**
 * struct other - another user, who connects
 * @conns: how often
 * @at: where to
 * @told: a pipe, by which it tells how many rings it has mapped
 * @stay: a pipe, by which it is told that all are fused, and that it may go
 */
struct other {
	int conns;
	struct address at;
	int told[2], stay[2];
};

static int maps_what_root_pays(void *arg)
{
	struct other *o = arg;
	int fd[MOST], i, n = 0, err = 0;
	char c;

	close(o->stay[1]);
	if (setgid(12345) || setuid(12345))
		return 1;
	for (i = 0; i < o->conns; i++) {
		fd[i] = tcp_socket(&o->at);
		if (connect(fd[i], (void *)&o->at.sa, o->at.len))
			return 2;
	}
	/* Each is sent its bytes when all are there, by TCP and then by a ring. */
	if (read(o->stay[0], &c, 1) != 1)
		return 3;
	for (i = 0; i < o->conns; i++) {
		while (recv(fd[i], &c, 1, MSG_DONTWAIT) == 1)
			;
		if (!err)
			err = maps((int [2]){ fd[i], -1 }, SPEED_ROLE_RX);
		n += !err;
	}
	n = err == ENOBUFS ? n : -err;
	return write(o->told[1], &n, sizeof(n)) == sizeof(n) && read(o->stay[0], &c, 1) == 0 ? 0 : 4;
}

/* What one user maps is his own, whoever pays: half of it, and the rest is left. */
static void mapped_by_another(const struct transport *t)
{
	static int fd[MOST][2], got[MOST];
	int rings = some_rings(), his = rings / 2 * 3 / 4, listener, i, n = 0;
	struct other o = { .conns = his + 3 };
	pid_t pid;

	(void)t;
	if (geteuid())
		trace_skip("needs root, to be another user");
	tcp_limits(rings);
	tcp_shim_net();
	listener = tcp_listen_at(LOCAL4, 0, &o.at);
	MUST(pipe(o.told) == 0 && pipe(o.stay) == 0);
	pid = process_start(maps_what_root_pays, &o);
	close(o.stay[0]);
	for (i = 0; i < o.conns; i++)
		got[i] = accept(listener, NULL, NULL);
	for (i = 0; i < o.conns; i++) {
		for (n = 0; n < 1000 && !(tcp_flags(got[i]) & SPEED_FUSION_TX); n++) {
			MUST(send(got[i], "x", 1, 0) == 1);
			sleep_ms(1);
		}
		WANT(send(got[i], "y", 1, 0), 1, 0, "send, by a ring");
	}
	MUST(write(o.stay[1], "", 1) == 1);
	WANT(read(o.told[0], &n, sizeof(n)), sizeof(n), 0, "told");
	WANT_TRUE(n == his, "what another has mapped: of half, three quarters: %d", n);
	n = map_pairs(fd, rings);
	WANT_TRUE(n == rings / 4 * 3 - his, "what root maps: %d", n);
	close(o.stay[1]);
	WANT(process_join(pid), 0, 0, "the other user");
	WANT(maps(fd[n], SPEED_ROLE_TX), 0, 0, "one more then");
	tcp_limits(0);
}

static const struct test_case cases[] = {
	{ "none", none, CASE_STREAM | CASE_SPEED },
	{ "few", few, CASE_STREAM | CASE_SPEED },
	{ "taken_away", taken_away, CASE_STREAM | CASE_SPEED },
	{ "mapped_share", mapped_share, CASE_STREAM | CASE_SPEED },
	{ "mapped_by_another", mapped_by_another, CASE_STREAM | CASE_SPEED },
	{ "huge", huge, CASE_STREAM | CASE_SPEED },
	{ "group", group, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
