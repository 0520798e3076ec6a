// SPDX-License-Identifier: GPL-2.0
/*
 * Memory: its limits reached and left again, the share of a user, the pool, pages
 * that an idle connection gives back, or keeps, and pages that another one wrote.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "held.h"
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

	u.path[0] = u.path[1] = PATH_KERNEL;
	tp_pair_sized(&u, e, RING / 2);
	WANT_TRUE(proc_speed_says(e[0].fd, "ring", none), "none at first");
	WANT(send(e[0].fd, "x", 1, 0), 1, 0, "send");
	proc_speed_column(e[0].fd, "ring", ring, sizeof(ring));
	WANT_TRUE(atoi(ring) == RING, "a ring with its first byte: %s", ring);
	sleep_ms(4000);
	WANT_TRUE(!proc_speed_says(e[0].fd, "ring", none), "kept while a byte is in it");
	WANT(recv(e[1].fd, &c, 1, 0), 1, 0, "recv");
	WANT_TRUE(proc_speed_idle(e[0].fd), "given back when idle");
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

static long count_of(const char *b, size_t len, char what)
{
	long n = 0;

	while (len--)
		n += *b++ == what;
	return n;
}

/* All of each region that a fresh connection maps, after another user's use. */
static long not_zero(const char *b, size_t len)
{
	return len - count_of(b, len, 0);
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

static char secret[RING];

/* Some bytes through a ring, and its pages go: it is given others with its index there. */
static void move_on(const struct transport *t, struct end e[2], size_t bytes)
{
	tp_pair_sized(t, e, RING / 2);
	while (bytes) {
		size_t n = bytes < 9000 ? bytes : 9000;

		MUST(end_send(&e[0], secret, n, 0) == (ssize_t)n);
		MUST(recv(e[1].fd, (char [9000]){ 0 }, n, MSG_WAITALL) == (ssize_t)n);
		bytes -= n;
	}
}

/* Over a ring's end and short of it, more than once around, a failed copy, and mapped. */
static int writes_anywhere(void *arg)
{
	static const struct {
		size_t moved, written;
	} kinds[] = {
		{ 9000, 1 }, { 60000, 20000 }, { 70000, 9000 }, { 40000, 60000 },
		{ 200000, 30000 }, { 65536, 60000 }, { 30000, 0 }, { 5000, 100000 },
		/* And with a ring's first pages alone. */
		{ 0, 1 }, { 3, 16000 }, { 65536, 4000 }, { 131072 + 100, 0 },
	};
	enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };
	static struct end e[KINDS][2], mapped[2];
	const struct transport *t = arg;
	struct raw w;
	char *half;
	int i;

	if (setgid(12345) || setuid(12345))
		return 1;
	memset(secret, 's', sizeof(secret));
	half = mmap(NULL, RING, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(half, 's', RING / 2);
	munmap(half + RING / 2, RING / 2);
	for (i = 0; i < KINDS; i++)
		move_on(t, e[i], kinds[i].moved);
	for (i = 0; i < KINDS; i++)
		MUST(proc_speed_idle(e[i][0].fd));
	for (i = 0; i < KINDS; i++) {
		size_t left = kinds[i].written, n;

		if (!left && send(e[i][0].fd, half + RING / 2 - 7000, 9000, 0) >= 0)
			return 2;
		for (; left; left -= n) {
			n = left < 5000 ? left : 5000;
			if (end_send(&e[i][0], secret, n, 0) != (ssize_t)n)
				return 3;
			if (i % 2 && recv(e[i][1].fd, (char [5000]){ 0 }, n, MSG_WAITALL) < 1)
				return 4;
		}
	}
	/* Who maps a ring writes wherever he likes, and says nothing of it. */
	tp_pair_sized(t, mapped, RING / 2);
	raw_open(&w, mapped[0].fd, SPEED_ROLE_TX);
	memset(w.r.data, 's', w.l.size);
	return 0;
}

/* Pages that a connection was given in its middle are cleared where it wrote. */
static void cleared(const struct transport *t)
{
	struct transport u = by_hand_0(t);
	static struct end e[16][2];
	struct raw w;
	long wrong = 0;
	int i, r;

	if (geteuid())
		trace_skip("needs root, to be another user");
	held_empty_pool();
	WANT(process_join(process_start(writes_anywhere, (void *)t)), 0, 0, "another user");
	u.path[1] = PATH_KERNEL;
	for (i = 0; i < 16; i++) {
		tp_pair_sized(&u, e[i], RING / 2);
		/* Such a part of a ring goes to who has something to say, and grows when mapped. */
		for (r = 0; r < 2; r++)
			MUST(send(e[i][r].fd, "x", 1, 0) == 1 &&
			     recv(e[i][!r].fd, (char [2]){ 0 }, 2, 0) == 1);
		for (r = 0; r < SPEED_ROLES; r++) {
			raw_open(&w, e[i][0].fd, r);
			wrong += count_of(w.r.data, 2 * w.l.size, 's');
		}
	}
	WANT(wrong, 0, 0, "another user's bytes");
	for (i = 0; i < 16; i++)
		pair_close(e[i]);
	/* And what it wrote and has been read, before another may map it: the rest is live. */
	move_on(&u, e[0], 50000);
	MUST(proc_speed_idle(e[0][0].fd));
	for (i = 0; i < 3; i++) {
		memset(secret, i ? 's' : 'r', 10000);
		WANT(send(e[0][0].fd, secret, 10000, 0), 10000, 0, "send, over the ring's end");
	}
	WANT(recv(e[0][1].fd, (char [10000]){ 0 }, 10000, MSG_WAITALL), 10000, 0, "recv");
	raw_open(&w, e[0][0].fd, SPEED_ROLE_TX);
	WANT(count_of(w.r.data, 2 * w.l.size, 'r'), 0, 0, "bytes that have been read");
	WANT(count_of(w.r.data, 2 * w.l.size, 's'), 2 * 20000, 0, "live bytes, mapped twice");
	pair_close(e[0]);
}

#define CROWD		400
#define SMALL		8192

/*
 * Three quarters of what there is can be mapped. The rest goes round among the others,
 * and who looks for it does not give up among what is mapped.
 */
static void mapped_share(const struct transport *t)
{
	static struct end e[CROWD][2], f[CROWD][2];
	struct rlimit files = { 8 * CROWD, 8 * CROWD };
	struct transport u = by_hand_0(t);
	char text[32], ring[64];
	struct raw w;
	int mapped, i, err, got = 0;

	own_namespace();
	u.path[1] = PATH_KERNEL;
	MUST(setrlimit(RLIMIT_NOFILE, &files) == 0);
	snprintf(text, sizeof(text), "%d", CROWD * SMALL);
	MUST(sysctl_set("mem_max", text) == 0);
	for (mapped = 0; mapped < CROWD; mapped++) {
		tp_pair_sized(&u, e[mapped], SMALL / 2);
		err = raw_try(&w, e[mapped][0].fd, SPEED_ROLE_TX) ? 0 : errno;
		if (err)
			break;
	}
	WANT(err, ENOBUFS, 0, "no more of them");
	proc_speed_column(e[0][0].fd, "ring", ring, sizeof(ring));
	MUST(strstr(ring, "8192"));
	WANT(mapped, CROWD / 4 * 3, 0, "connections mapped");
	WANT(send(e[mapped][0].fd, "x", 1, 0), 1, 0, "by system call");
	WANT(recv(e[mapped][1].fd, ring, 1, 0), 1, 0, "recv");
	for (i = 0; i < CROWD; i++)
		tp_pair_sized(&u, f[i], SMALL / 2);
	for (i = 0; i < 2 * CROWD; i++)
		got += send(f[i % CROWD][0].fd, "x", 1, 0) == 1 &&
		       recv(f[i % CROWD][1].fd, ring, 1, 0) == 1;
	WANT(got, 2 * CROWD, 0, "the others, round and round");
	pair_close(e[0]);
	WANT_TRUE(raw_try(&w, e[mapped][0].fd, SPEED_ROLE_TX), "one more, after one closed");
	for (i = 0; i < CROWD; i++)
		pair_close(f[i]);
	for (i = 1; i <= mapped; i++)
		pair_close(e[i]);
}

/* Return: 0 if it got no memory, as its namespace may have none. */
static int none_for_it(void *arg)
{
	struct end e[2];
	int i;

	if (unshare(CLONE_NEWNET) || sysctl_set("mem_max", "0"))
		return 1;
	tp_pair_sized(arg, e, RING / 2);
	for (i = 0; i < 8; i++)
		if (send(e[0].fd, "x", 1, 0) >= 0 || errno != ENOBUFS)
			return 2;
	return 0;
}

/* Whose own bound is reached takes nobody else's pages: drained between two messages. */
static void others(const struct transport *t)
{
	struct transport u = *t;
	struct end e[2];
	long begin;
	bool kept;
	char c;

	own_namespace();
	u.path[0] = u.path[1] = PATH_KERNEL;
	tp_pair_sized(&u, e, RING / 2);
	do {	/* in less time than makes it idle */
		begin = now_ms();
		MUST(send(e[0].fd, "x", 1, 0) == 1 && recv(e[1].fd, &c, 1, 0) == 1);
		WANT(process_join(process_start(none_for_it, &u)), 0, 0, "one without memory");
		kept = !proc_speed_says(e[0].fd, "ring", "0/0");
	} while (now_ms() - begin > 800);
	WANT_TRUE(kept, "another's ring keeps its pages");
	pair_close(e);
}

/* The same where nothing is left to anybody: a user's own bound is reached, and counts. */
static void half_of_all(const struct transport *t)
{
	int i, other, kept;
	struct end e[4][2];
	char old[32], text[32];
	long begin;
	char c;

	if (geteuid())
		trace_skip("needs root, to be another user");
	MUST(sysctl_get("mem_max", old, sizeof(old)) == 0);
	snprintf(text, sizeof(text), "%d", 8 * RING);
	for (i = 0; i < 4; i++)
		tp_pair_sized(t, e[i], RING / 2);
	MUST(sysctl_set("mem_max", text) == 0);
	do {	/* in less time than makes them idle */
		begin = now_ms();
		for (i = 0; i < 4; i++)
			MUST(send(e[i][0].fd, "x", 1, 0) == 1 && recv(e[i][1].fd, &c, 1, 0) == 1);
		other = process_join(process_start(as_other_user, (void *)t));
		for (i = 0, kept = 0; i < 4; i++)
			kept += !proc_speed_says(e[i][0].fd, "ring", "0/0");
	} while (now_ms() - begin > 800);
	MUST(sysctl_set("mem_max", old) == 0);
	WANT(other, 4, 0, "a user takes his half");
	WANT(kept, 4, 0, "another's rings keep their pages");
	for (i = 0; i < 4; i++)
		pair_close(e[i]);
}

static const struct test_case cases[] = {
	{ "limit", limit, CASE_BOTH | CASE_SPEED },
	{ "user_share", user_share, CASE_STREAM | CASE_SPEED },
	{ "others", others, CASE_STREAM | CASE_SPEED },
	{ "half_of_all", half_of_all, CASE_STREAM | CASE_SPEED },
	{ "idle", idle, CASE_BOTH | CASE_SPEED },
	{ "pool", pool, CASE_STREAM | CASE_SPEED },
	{ "zeroed", zeroed, CASE_BOTH | CASE_SPEED | CASE_PATHS | CASE_UNMAPPED },
	{ "cleared", cleared, CASE_BOTH | CASE_SPEED },
	{ "mapped_share", mapped_share, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
