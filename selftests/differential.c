// SPDX-License-Identifier: GPL-2.0
/*
 * Random programs of socket operations for the two ends of a TCP connection, each run on
 * plain TCP and again with the connection fused: what both return, to the last byte,
 * errno, poll mask and signal, must agree. The differences that TCP itself allows are
 * the table of lib/diff_rules.c, and there are no others.
 *
 *	SPEED_DIFF_PROGRAMS=N	so many programs, of the seeds 1 to N
 *	SPEED_DIFF_FIRST=S	of the seeds from S on
 *	SPEED_DIFF_SEED=S	one program, with all its results
 *	SPEED_DIFF_TEXT="..."	the program written there, with all its results
 *	SPEED_DIFF_PLAIN=1	the second run is plain, too: it tests the tester
 *	SPEED_DIFF_BARE=END	without the preload library at one end, 0 or 1
 *	SPEED_DIFF_NAMED=0	without those that have names
 *	SPEED_DIFF_BREAK=N	the second run is deliberately wrong: N as in enum diff_break
 */
#define _GNU_SOURCE
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "diff_break.h"
#include "diff_pool.h"
#include "diff_test.h"
#include "preloaded.h"
#include "procfile.h"

#define PROGRAMS	200
#define BLOCK		50
#define SPREAD		4	/* one block of so many has all processors */
#define STABLE_RUNS	3
#define SHRUNK_MOST	10	/* of one run: each takes its time */
#define NOTICE_PROGRAMS	300

/**
 * struct tally - the lines so far
 * @programs: run fused, since the module's counters were read
 * @fused: of these so many had a direction on a ring
 */
struct tally {
	int number;
	int failed;
	int shrunk;
	long programs;
	long fused;
	long late;
};

static struct diff_log logs[BLOCK], second_log;

static long number_of(const char *name, long otherwise)
{
	const char *env = getenv(name);

	return env && *env ? strtol(env, NULL, 0) : otherwise;
}

/* Whether anything was fused since it was last asked. */
static bool fused_since(long *before)
{
	long last = *before;

	*before = diff_fuse_count("tcp_fused");
	return *before > last;
}

static void tell(struct tally *t, bool ok, const char *what)
{
	printf("%s %d %s\n", ok ? "ok" : "not ok", ++t->number, what);
	t->failed += !ok;
	fflush(stdout);
}

/* So many of the reruns differed, too: less than all is a matter of time. */
static int count_stable(const struct diff_program *p, const struct diff_mode *mode)
{
	static struct diff_log first, second;
	int i, n = 0;

	for (i = 0; i < STABLE_RUNS; i++)
		n += diff_twice(p, mode, &first, &second) >= 0;
	return n;
}

static void explain(struct tally *t, struct diff_program *p, const struct diff_mode *mode,
		    const struct diff_log *first, const struct diff_log *second)
{
	static struct diff_log again[2];
	int at = diff_compare(first, second);

	diff_print_logs(first, second, at);
	if (t->shrunk++ >= SHRUNK_MOST)
		return diff_print_program(p);
	at = count_stable(p, mode);
	printf("# %d of %d reruns differ\n", at, STABLE_RUNS);
	if (!at)
		return diff_print_program(p);
	diff_shrink(p, mode);
	at = diff_twice(p, mode, &again[0], &again[1]);
	printf("# shrunk to %d steps, differs %d of %d times:\n", p->n, count_stable(p, mode),
	       STABLE_RUNS);
	diff_print_program(p);
	diff_print_logs(&again[0], &again[1], at);
	fflush(stdout);
}

/* What is EFAULT in the kernel is a SIGSEGV in the library: see preloaded.h. */
static bool with_faults(const char *text)
{
	return strstr(text, "bad") || strstr(text, "tail") || strstr(text, "null");
}

static void run_named(struct tally *t, const struct diff_mode *mode)
{
	static struct diff_log first;
	struct diff_program p;
	const char *wrong;
	char what[128];
	int i, at;

	for (i = 0; i < diff_named_n; i++) {
		if (preloaded() && with_faults(diff_named[i].text))
			continue;
		wrong = diff_parse(&p, diff_named[i].text);
		at = wrong ? 0 : diff_twice(&p, mode, &first, &second_log);
		t->programs++;
		snprintf(what, sizeof(what), "differential.%s", diff_named[i].name);
		tell(t, !wrong && at < 0, what);
		if (wrong)
			printf("# %s\n", wrong);
		else if (at >= 0)
			diff_print_logs(&first, &second_log, at);
	}
}

static void run_block(struct tally *t, const struct diff_mode *mode, long seed, int n)
{
	struct diff_program p;
	long fused = diff_fuse_count("tcp_fused");
	char what[128];
	int i, bad = 0, at[BLOCK];

	diff_pool_stop();
	diff_pool_start(seed / BLOCK % SPREAD);
	for (i = 0; i < n; i++) {
		diff_generate(&p, seed + i);
		diff_run(&p, false, DB_NOTHING, &logs[i]);
	}
	for (i = 0; i < n; i++) {
		diff_generate(&p, seed + i);
		diff_second(&p, mode, &second_log);
		t->fused += fused_since(&fused);
		t->late += logs[i].late + second_log.late;
		at[i] = diff_compare(&logs[i], &second_log);
		bad += at[i] >= 0;
		if (at[i] < 0)
			continue;
		printf("# the program of seed %ld differs\n", seed + i);
		explain(t, &p, mode, &logs[i], &second_log);
		fused_since(&fused);
	}
	t->programs += n;
	snprintf(what, sizeof(what), "differential.seeds %ld to %ld", seed, seed + n - 1);
	tell(t, !bad, what);
}

/* How many programs it takes to notice a mistake of that kind; 0 is too many. */
static int notice(enum diff_break wrong)
{
	struct diff_mode mode = { .plain = true, .wrong = wrong };
	struct diff_program p;
	int i;

	for (i = 1; i <= NOTICE_PROGRAMS; i++) {
		diff_generate(&p, i);
		if (diff_twice(&p, &mode, &logs[0], &second_log) >= 0)
			return i;
	}
	return 0;
}

/* A tester that cannot fail proves nothing. */
static void run_notices(struct tally *t)
{
	char what[128];
	int i, n;

	for (i = DB_NOTHING + 1; i < DIFF_BREAKS; i++) {
		n = notice(i);
		snprintf(what, sizeof(what), "differential.notices a %s", diff_break_names[i]);
		tell(t, n, what);
		if (n)
			printf("# in program %d\n", n);
	}
}

static int run_one(struct diff_program *p, const struct diff_mode *mode)
{
	struct tally t = { 0 };
	int at = diff_twice(p, mode, &logs[0], &second_log);

	diff_print_program(p);
	diff_print_logs(&logs[0], &second_log, -1);
	tell(&t, at < 0, "differential.one");
	if (at >= 0)
		explain(&t, p, mode, &logs[0], &second_log);
	printf("1..1\n");
	return at >= 0;
}

/* The sysctl and the tap are of a namespace, and so are the ports in use. */
static bool enter_namespace(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd;

	if (unshare(CLONE_NEWNET))
		return false;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	DIFF_MUST(fd >= 0 && !ioctl(fd, SIOCSIFFLAGS, &lo));
	close(fd);
	/* What a connection learns of the path is not to reach the next one. */
	file_write("/proc/sys/net/ipv4/tcp_no_metrics_save", "1");
	/* Bytes in the SYN, for who asks: at both sides, no cookies, no option of listeners. */
	DIFF_MUST(!file_write("/proc/sys/net/ipv4/tcp_fastopen", "1543"));
	return true;
}

static int run_all(const struct diff_mode *mode)
{
	long n = number_of("SPEED_DIFF_PROGRAMS", PROGRAMS);
	long first = number_of("SPEED_DIFF_FIRST", 1);
	long leased = diff_fuse_count("leased"), at;
	struct tally t = { 0 };

	if (number_of("SPEED_DIFF_NAMED", 1))
		run_named(&t, mode);
	if (!mode->wrong)
		run_notices(&t);
	for (at = 0; at < n; at += BLOCK)
		run_block(&t, mode, first + at, n - at < BLOCK ? n - at : BLOCK);
	if (!mode->plain) {
		tell(&t, t.fused * 3 >= n * 2, "differential.most of them were fused");
		printf("# %ld of %ld\n", t.fused, n);
	}
	/* A library that maps nothing would agree with TCP, too. */
	if (!mode->plain && preloaded()) {
		leased = diff_fuse_count("leased") - leased;
		tell(&t, leased > t.programs / 4, "differential.the library leased");
		printf("# %ld leases\n", leased);
	}
	printf("# waited in vain %ld times\n", t.late);
	printf("1..%d\n", t.number);
	return t.failed != 0;
}

static int run(const struct diff_mode *mode)
{
	const char *text = getenv("SPEED_DIFF_TEXT"), *wrong;
	long seed = number_of("SPEED_DIFF_SEED", -1);
	struct diff_program p;

	if (text && *text) {
		wrong = diff_parse(&p, text);
		if (!wrong)
			return run_one(&p, mode);
		printf("not ok 1 %s\n1..1\n", wrong);
		return 1;
	}
	if (seed < 0)
		return run_all(mode);
	diff_generate(&p, seed);
	return run_one(&p, mode);
}

int main(void)
{
	struct diff_mode mode = {
		.plain = number_of("SPEED_DIFF_PLAIN", 0) || number_of("SPEED_REFERENCE_ONLY", 0),
		.wrong = number_of("SPEED_DIFF_BREAK", 0),
	};
	int status;

	printf("TAP version 13\n");
	if (!enter_namespace()) {
		printf("1..0 # SKIP needs root, to make a network namespace\n");
		return 4;
	}
	if (!mode.plain && !diff_fuse_there()) {
		printf("not ok 1 differential: net.speed.loopback is not there\n1..1\n");
		return 1;
	}
	diff_share();
	diff_pool_start(false);
	status = run(&mode);
	diff_pool_stop();
	return status;
}
