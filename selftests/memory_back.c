// SPDX-License-Identifier: GPL-2.0
/*
 * Memory comes back: what sockets, connections and their bytes took is there
 * again when all are closed, by count of the objects and pages and in the socket
 * layer's accounts. memory_cgroup.c has the control group that pays.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "held.h"
#include "stress.h"

#define PAIRS		64
#define RING		65536
#define FIRST		16384	/* of it, with its first byte */
#define SOON_MS		60000

/* Both ends have sent as much as they may without waiting, which is more than a ring. */
static long open_full(const struct transport *t, struct end e[][2], int n)
{
	long bytes = 0;
	int i;

	for (i = 0; i < n; i++) {
		tp_pair_sized(t, e[i], RING / 2);
		bytes += end_fill(&e[i][0], 4096);
		bytes += end_fill(&e[i][1], 4096);
	}
	return bytes;
}

static void close_all(struct end e[][2], int n)
{
	while (n--)
		pair_close(e[n]);
}

/* Also shows that a count sees a connection, its bytes and one that is left. */
static void counted(const struct transport *t)
{
	static struct end e[PAIRS][2];
	struct held before, now;
	int i;

	if (!held_can_count())
		trace_skip("needs root and CONFIG_SLUB_DEBUG, to count");
	held_begin(&before);
	tp_pair_sized(t, e[0], RING / 2);
	held_count(&now);
	WANT(now.pairs - before.pairs, 1, 0, "a connection: pairs");
	WANT_TRUE(now.socks - before.socks >= 2, "its sockets");
	WANT_TRUE(end_send(&e[0][0], "x", 1, 0) == 1, "send");
	held_count(&now);
	WANT_TRUE(now.data - before.data >= FIRST, "its data pages");
	WANT_TRUE(now.mapped - before.mapped >= RING, "its ring, mapped");
	WANT_TRUE(open_full(t, e + 1, PAIRS - 1) > PAIRS * RING, "more, and all full");
	held_count(&now);
	WANT(now.pairs - before.pairs, PAIRS, 0, "pairs");
	WANT_TRUE(now.data - before.data >= FIRST + 2 * (PAIRS - 1) * RING, "their data pages");
	/* Closed by one side, then by the other; unread bytes go with the second. */
	for (i = 0; i < PAIRS; i++)
		end_close(&e[i][i % 2]);
	for (i = 0; i < PAIRS; i++)
		end_close(&e[i][!(i % 2)]);
	held_end(&before);
}

/* The pool is the machine's, not kept from it. */
static void pool_shrinks(const struct transport *t)
{
	static struct end e[PAIRS][2];
	struct held now;
	long until;

	if (!held_can_count())
		trace_skip("needs root and CONFIG_SLUB_DEBUG, to count");
	open_full(t, e, PAIRS);
	close_all(e, PAIRS);
	WANT_TRUE(stat_number("pool_bytes") > 0, "the pool keeps some");
	/* Whoever looks at idle rings may give the last of them back a moment later. */
	held_settle(&now);
	until = now_ms() + SOON_MS;
	for (; stat_number("pool_bytes") && now_ms() < until; sleep_ms(50))
		MUST(file_write("/proc/sys/vm/drop_caches", "2") == 0);
	WANT(stat_number("pool_bytes"), 0, 0, "the pool, when memory is short");
	held_count(&now);
	WANT(now.data, 0, 0, "bytes of data pages");
	WANT(now.mapped, 0, 0, "bytes of rings mapped");
}

/* Sockets that never were connections: bound, listening, queued, refused. */
static void without_accept(const struct transport *t)
{
	struct address a, nobody;
	struct held before;
	int fd[16], i, l;

	if (!held_can_count())
		trace_skip("needs root and CONFIG_SLUB_DEBUG, to count");
	held_begin(&before);
	l = tp_listen(t, 16, &a);
	tp_address(t, &nobody);
	for (i = 0; i < 16; i++) {
		fd[i] = tp_socket(t, 0);
		if (i % 4 == 0)
			WANT_ERR(connect_to(fd[i], &nobody), ECONNREFUSED, "to nobody");
		else
			WANT_OK(connect_to(fd[i], &a), "in the queue");
		if (i % 4 == 2)
			WANT(send(fd[i], "unseen", 6, 0), 6, 0, "send");
		if (i % 4 == 3)
			close(fd[i]);
	}
	close(l);
	for (i = 0; i < 16; i++) {
		if (i % 4 != 3)
			close(fd[i]);
	}
	held_end(&before);
}

/* Bytes that the sockets of the family are charged for, as the socket layer has it. */
static long memory_charged(void)
{
	char line[512], name[64];
	long pages = -1;
	FILE *f = fopen("/proc/net/protocols", "r");

	MUST(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %*d %*d %ld", name, &pages) == 2 && !strcmp(name, "SPEED"))
			break;
		pages = -1;
	}
	fclose(f);
	MUST(pages >= 0);
	return pages * (long)PAGE;
}

/* Each processor may keep so much to itself before it tells: SK_MEMORY_PCPU_RESERVE. */
#define UNTOLD		(1l << 20)

static void socket_layer(const struct transport *t)
{
	long untold = UNTOLD * sysconf(_SC_NPROCESSORS_CONF), before = memory_charged(), now;
	int pairs = untold / RING + 16, i;
	struct end (*e)[2] = calloc(pairs, sizeof(*e));
	long until;

	MUST(e);
	open_full(t, e, pairs);
	/* Twice as much as may be untold is charged, so some of it must be told. */
	now = memory_charged();
	WANT_TRUE(now - before >= 2l * pairs * RING - untold, "charged: %ld bytes more",
		  now - before);
	close_all(e, pairs);
	until = now_ms() + SOON_MS;
	for (i = 0; memory_charged() - before > untold && now_ms() < until; i++)
		sleep_ms(50);
	now = memory_charged();
	WANT_TRUE(now - before <= untold, "what is left of it: %ld bytes", now - before);
	free(e);
}

static const struct test_case cases[] = {
	{ "counted", counted, CASE_BOTH | CASE_SPEED | CASE_PATHS | CASE_UNMAPPED },
	{ "pool_shrinks", pool_shrinks, CASE_STREAM | CASE_SPEED },
	{ "without_accept", without_accept, CASE_BOTH | CASE_SPEED },
	{ "socket_layer", socket_layer, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
