// SPDX-License-Identifier: GPL-2.0
/*
 * Memory: its limits reached and left again, the share of a user, the pool, pages
 * that an idle connection gives back, and pages that another one wrote.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>

#include "stress.h"

#define PAIRS		64
#define RING		65536

static void own_namespace(void)
{
	if (geteuid())
		trace_skip("needs root, to make a network namespace");
	MUST(unshare(CLONE_NEWNET) == 0);
}

/* Connections until one gets no memory: how many got some; -1 for a strange errno. */
static int fill_up(const struct transport *t, struct end e[][2], int most, size_t each)
{
	char *buf = calloc(1, each);
	int i, n = 0;

	MUST(buf);
	for (i = 0; i < most; i++) {
		tp_pair_sized(t, e[i], RING / 2);
		if (send(e[i][0].fd, buf, each, MSG_DONTWAIT) < 0) {
			if (errno != ENOBUFS)
				n = -1;
			i++;
			break;
		}
		n++;
	}
	for (; i < most; i++)
		e[i][0].fd = e[i][1].fd = -1;
	free(buf);
	return n;
}

static void close_all(struct end e[][2], int n)
{
	while (n--) {
		if (e[n][0].fd >= 0)
			pair_close(e[n]);
	}
}

static void limit(const struct transport *t)
{
	static struct end e[PAIRS][2];
	char text[32], c[8];
	int n;

	own_namespace();
	snprintf(text, sizeof(text), "%d", 8 * RING);
	MUST(sysctl_set("mem_max", text) == 0);
	n = fill_up(t, e, PAIRS, 100);
	trace_num(n, "connections with memory");
	WANT_TRUE(n >= 4 && n <= 8, "as many as the limit says");
	WANT_ERR(send(e[n][0].fd, "again", 5, MSG_DONTWAIT), ENOBUFS, "one more, again");
	WANT(send(e[0][0].fd, "old", 3, MSG_DONTWAIT), 3, 0, "one that has its memory");
	WANT(recv(e[0][1].fd, (char [128]){ 0 }, 128, 0) > 0, 1, 0, "recv");
	end_close(&e[1][0]);
	end_close(&e[1][1]);
	WANT(send(e[n][0].fd, "again", 5, MSG_DONTWAIT), 5, 0, "one more, after one closed");
	WANT(recv(e[n][1].fd, c, 8, 0), 5, 0, "recv");
	MUST(sysctl_set("mem_max", "0") == 0);
	e[1][0].fd = e[1][1].fd = -1;
	close_all(e, PAIRS);
	tp_pair_sized(t, e[0], RING / 2);
	WANT_ERR(send(e[0][0].fd, "x", 1, 0), ENOBUFS, "none at all");
	WANT_ERR(lease_role(e[0][0].fd, SPEED_ROLE_TX, &(struct speed_lease){ 0 }), ENOBUFS,
		 "a lease");
	MUST(sysctl_set("mem_max", text) == 0);
	WANT(send(e[0][0].fd, "x", 1, 0), 1, 0, "when it is raised again");
	pair_close(e[0]);
}

static int as_other_user(void *arg)
{
	static struct end e[PAIRS][2];
	int n;

	if (setgid(12345) || setuid(12345))
		return 100;
	n = fill_up(arg, e, PAIRS, 100);
	close_all(e, PAIRS);
	return n < 0 ? 101 : n;
}

/* The initial namespace's limit bounds all; a user gets half of it, root all. */
static void user_share(const struct transport *t)
{
	static struct end e[PAIRS][2];
	char old[32], text[32];
	int root, other;

	if (geteuid())
		trace_skip("needs root, to be another user");
	MUST(sysctl_get("mem_max", old, sizeof(old)) == 0);
	snprintf(text, sizeof(text), "%d", 16 * RING);
	MUST(sysctl_set("mem_max", text) == 0);
	other = process_join(process_start(as_other_user, (void *)t));
	root = fill_up(t, e, PAIRS, 100);
	close_all(e, PAIRS);
	MUST(sysctl_set("mem_max", old) == 0);
	trace_num(root, "root's");
	trace_num(other, "another's");
	WANT_TRUE(root >= 8 && root <= 16, "root may take all");
	WANT_TRUE(other == root / 2, "a user may take half");
}

static void idle(const struct transport *t)
{
	char c, ring[64], none[64] = "0/0";
	struct transport u = *t;
	struct end e[2];
	long until;

	u.path[0] = u.path[1] = PATH_KERNEL;
	tp_pair_sized(&u, e, RING / 2);
	WANT_TRUE(proc_speed_says(e[0].fd, "ring", none), "none at first");
	WANT(send(e[0].fd, "x", 1, 0), 1, 0, "send");
	proc_speed_column(e[0].fd, "ring", ring, sizeof(ring));
	WANT_TRUE(atoi(ring) == RING, "a ring with its first byte: %s", ring);
	sleep_ms(4000);
	WANT_TRUE(!proc_speed_says(e[0].fd, "ring", none), "kept while a byte is in it");
	WANT(recv(e[1].fd, &c, 1, 0), 1, 0, "recv");
	until = now_ms() + 10000;
	while (!proc_speed_says(e[0].fd, "ring", none) && now_ms() < until)
		sleep_ms(100);
	WANT_TRUE(proc_speed_says(e[0].fd, "ring", none), "given back when idle");
	WANT(send(e[0].fd, "y", 1, 0), 1, 0, "send again");
	WANT(recv(e[1].fd, &c, 1, 0), 1, 0, "recv again");
	WANT_TRUE(c == 'y', "the byte");
	pair_close(e);
}

static void pool(const struct transport *t)
{
	static struct end e[PAIRS][2];
	long most = 0, now;
	int i;

	for (i = 0; i < soak_times(8, 10); i++) {
		WANT(fill_up(t, e, PAIRS, 100), PAIRS, 0, "connections");
		close_all(e, PAIRS);
		now = stat_number("pool_bytes");
		most = now > most ? now : most;
	}
	trace_num(most, "bytes in the pool at most");
	WANT_TRUE(most > 0, "it keeps some");
	WANT_TRUE(most <= 32l << 20, "and not more than 32 MiB");
}

static int writes_secrets(void *arg)
{
	static struct end e[8][2];
	static char secret[RING];
	const struct transport *t = arg;
	int i;

	if (setgid(12345) || setuid(12345))
		return 1;
	memset(secret, 's', sizeof(secret));
	for (i = 0; i < 8; i++) {
		tp_pair_sized(t, e[i], RING / 2);
		if (end_send(&e[i][0], secret, sizeof(secret) - 64, MSG_DONTWAIT) < 1000)
			return 2;
		if (end_send(&e[i][1], secret, 100, MSG_DONTWAIT) < 100)
			return 3;
	}
	return 0;
}

/* All of each region that a fresh connection maps, after another user's use. */
static long not_zero(const char *b, size_t len)
{
	long n = 0;

	while (len--)
		n += *b++ != 0;
	return n;
}

static void zeroed(const struct transport *t)
{
	struct transport u = by_hand_0(t);
	static struct end e[8][2];
	long wrong = 0, kernel = 0;
	int i, r;

	if (geteuid())
		trace_skip("needs root, to be another user");
	WANT(process_join(process_start(writes_secrets, (void *)t)), 0, 0, "another user");
	u.path[1] = PATH_KERNEL;
	for (i = 0; i < 8; i++) {
		tp_pair_sized(&u, e[i], RING / 2);
		for (r = 0; r < SPEED_ROLES; r++) {
			struct raw w;

			raw_open(&w, e[i][0].fd, r);
			wrong += not_zero(w.r.data, 2 * w.l.size);
			wrong += not_zero(w.r.own, PAGE) + not_zero(w.r.peer + PAGE, PAGE);
			kernel += not_zero(w.r.peer + sizeof(struct speed_kern),
					   PAGE - sizeof(struct speed_kern));
		}
	}
	WANT(wrong, 0, 0, "bytes that are not zero");
	WANT(kernel, 0, 0, "bytes that are not zero in the kernel's page");
	/* What this very pair wrote and read is cleared before another may map it, too. */
	for (i = 0; i < 8; i++)
		pair_close(e[i]);
	tp_pair_sized(&u, e[0], RING / 2);
	WANT(send(e[0][0].fd, "secret", 6, 0), 6, 0, "send");
	WANT(recv(e[0][1].fd, (char [8]){ 0 }, 8, 0), 6, 0, "recv");
	{
		struct raw w;

		raw_open(&w, e[0][0].fd, SPEED_ROLE_TX);
		WANT(not_zero(w.r.data, 2 * w.l.size), 0, 0, "what is not live is zero");
	}
	pair_close(e[0]);
}

static const struct test_case cases[] = {
	{ "limit", limit, CASE_BOTH | CASE_SPEED },
	{ "user_share", user_share, CASE_STREAM | CASE_SPEED },
	{ "idle", idle, CASE_BOTH | CASE_SPEED },
	{ "pool", pool, CASE_STREAM | CASE_SPEED },
	{ "zeroed", zeroed, CASE_BOTH | CASE_SPEED | CASE_PATHS | CASE_UNMAPPED },
};

RUN_CASES(cases)
