// SPDX-License-Identifier: GPL-2.0
/* What the library costs a process, and what bounds it: memory, SPEED_MAPPINGS, SPEED_PORTS. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "preload/under.h"
#include "task.h"
#include "tcp_pair.h"

#define CONNECTIONS	10000
#define PER_CONNECTION	64	/* bytes, of the process's own memory */
#define CROWD		48	/* connections that want the few mappings */
#define FEW		8
#define REGIONS		6	/* of a connection's end: three a role */
#define PORT		7777

static int (*pairs)[2];

static void make_pairs(const struct transport *t, int n)
{
	struct rlimit most = { 2 * n + 100, 2 * n + 100 };
	int i;

	MUST(setrlimit(RLIMIT_NOFILE, &most) == 0);
	pairs = calloc(n, sizeof(*pairs));
	MUST(pairs);
	memset(pairs, 0xff, n * sizeof(*pairs));
	for (i = 0; i < n; i++)
		under_pair(t, pairs[i]);
}

static bool speak(const int fd[2], int value)
{
	int got = -1;

	return send(fd[0], &value, sizeof(value), MSG_NOSIGNAL) == sizeof(value) &&
	       recv(fd[1], &got, sizeof(got), MSG_WAITALL) == sizeof(got) && got == value;
}

/* Private_Clean and Private_Dirty, in kB. */
static long own_memory(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long sum = 0, n;

	MUST(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Private_Clean: %ld", &n) == 1 ||
		    sscanf(line, "Private_Dirty: %ld", &n) == 1)
			sum += n;
	fclose(f);
	return sum;
}

/* Connections that have been used a little, and lie there. */
static void idle(const struct transport *t, const struct under_case *c)
{
	int n = t->fused || brief() ? CONNECTIONS / 10 : CONNECTIONS, i, wrong = 0;
	long before, after;

	make_pairs(t, n);
	own_memory();
	before = own_memory();
	for (i = 0; i < n; i++)
		wrong += !speak(pairs[i], i) || !speak(pairs[i], -i);
	after = own_memory();
	WANT(wrong, 0, 0, "bytes that are wrong");
	WANT_TRUE((after - before) * 1024 <= (long)n * PER_CONNECTION,
		  "at most %d bytes a connection", PER_CONNECTION);
	if (after - before > n * PER_CONNECTION / 1024)
		fprintf(stderr, "%ld kB before, %ld kB after\n", before, after);
	WANT(under_regions(), 0, 0, "nothing is mapped");
}

/* Once used beyond measure, all of a crowd want to be mapped. */
static void few(const struct transport *t, const struct under_case *c)
{
	int i, round, wrong = 0, most = 0, regions;

	make_pairs(t, CROWD);
	for (round = 0; round < soak_times(40, 1); round++)
		for (i = 0; i < CROWD; i++) {
			wrong += !speak(pairs[i], round * CROWD + i);
			regions = i % 8 ? 0 : under_regions();
			most = regions > most ? regions : most;
		}
	WANT(wrong, 0, 0, "bytes that are wrong");
	WANT_TRUE(most <= FEW * REGIONS, "no more are mapped than may be");
	WANT_TRUE(most || !under_library(), "some are");
	/* Those that go on while others rest get the places. */
	for (round = 0; round < soak_times(3000, 1); round++)
		for (i = 0; i < 2; i++)
			wrong += !speak(pairs[CROWD - 1 - i], round);
	WANT(wrong, 0, 0, "bytes that are wrong then");
}

static void ported(const struct transport *t, const struct under_case *c)
{
	struct address a;
	int listener = tcp_listen_at(LOCAL4, PORT, &a), fd[2], i, wrong = 0;
	bool wanted = strstr(c->name, "allow");
	char byte;

	tcp_join(listener, &a, tcp_socket(&a), fd);
	MUST(plain_send(fd[0], "f", 1, 0) == 1 && plain_recv(fd[1], &byte, 1, 0) == 1);
	for (i = 0; i < 50; i++)
		wrong += !speak(fd, i);
	WANT(wrong, 0, 0, "bytes that are wrong");
	WANT_TRUE(!under_library() || wanted == (under_regions() > 0), "mapped as the list says");
}

static long receive(void *arg)
{
	char byte;

	return recv(*(int *)arg, &byte, 1, 0);
}

/* A number that is closed while a thread sleeps there, and who else is at work. */
static void closed_inside(const struct transport *t, const struct under_case *c)
{
	struct task reader;
	int i, wrong = 0;

	make_pairs(t, 2);
	for (i = 0; i < 100; i++)
		wrong += !speak(pairs[0], i);
	WANT(wrong, 0, 0, "bytes that are wrong");
	WANT_TRUE(!under_library() || under_regions() > 0, "they are mapped");
	task_start(&reader, receive, &pairs[0][1]);
	task_sleeps(&reader);
	close(pairs[0][1]);
	MUST(send(pairs[0][0], "x", 1, MSG_NOSIGNAL) == 1);
	task_join(&reader);
	close(pairs[0][0]);
	WANT(under_regions(), 0, 0, "nothing is mapped any more");
}

static const struct under_case cases[] = {
	{ "idle", idle, UNDER_BOTH | UNDER_LONG, UNDER_IDLE, UNDER_IDLE, "SPEED_AFTER=32" },
	{ "few", few, UNDER_BOTH, 1000, 1000, "SPEED_MAPPINGS=8" },
	{ "closed_inside", closed_inside, UNDER_BOTH, 80, 80, "SPEED_AFTER=8" },
	{ "ports_allow", ported, UNDER_FUSED, 40, 40, "SPEED_PORTS=80,7000-7777" },
	{ "ports_allow_all_but", ported, UNDER_FUSED, 40, 40, "SPEED_PORTS=!80,7778-9000" },
	{ "ports_deny", ported, UNDER_FUSED, 0, 0, "SPEED_PORTS=80,7778-9000" },
	{ "ports_deny_one", ported, UNDER_FUSED, 0, 0, "SPEED_PORTS=!7777" },
};

UNDER_CASES(cases)
