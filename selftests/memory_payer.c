// SPDX-License-Identifier: GPL-2.0
/* Who pays for a ring: its writer, unless its reader has it mapped before that wrote. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "regions.h"
#include "stress.h"

#define PAIRS		64
#define RING		65536
#define MEM_MAX		(1 << 20)

/**
 * struct guests - connections of another user, who stays until the pipe is closed
 * @t: the transport
 * @a: where to
 * @leases: whether it takes the reader's lease of all but the last
 * @done: the pipe
 */
struct guests {
	const struct transport *t;
	struct address a;
	bool leases;
	int done[2];
};

/* Return: how many leases there were; 100 and more is a failure. */
static int many_guests(void *arg)
{
	struct guests *g = arg;
	struct speed_lease l;
	int fd, i, n = 0;
	char c;

	close(g->done[1]);
	if (setgid(12345) || setuid(12345))
		return 100;
	for (i = 0; i < PAIRS; i++) {
		fd = tp_connect(g->t, &g->a);
		if (!g->leases || i == PAIRS - 1)
			continue;
		if (!lease_role(fd, SPEED_ROLE_RX, &l)) {
			/* One that is not mapped ends within a second. */
			MUST(mmap(NULL, PAGE, RW, MAP_SHARED, fd, l.off_own) != MAP_FAILED);
			n++;
		} else if (errno != ENOBUFS) {
			return 101;
		}
	}
	return read(g->done[0], &c, 1) ? 102 : n;
}

/* As many connections of another user as there are; net.speed.mem_max is small then. */
static pid_t invite(struct guests *g, int listener, int fd[PAIRS])
{
	pid_t pid;
	int i;

	MUST(pipe(g->done) == 0);
	pid = process_start(many_guests, g);
	for (i = 0; i < PAIRS; i++)
		MUST((fd[i] = accept(listener, NULL, NULL)) >= 0);
	return pid;
}

static int small_listener(struct guests *g)
{
	int listener = tp_listen(g->t, PAIRS, &g->a);

	MUST(set_int(listener, SOL_SPEED, SPEED_MODE, 0777) == 0);
	MUST(set_int(listener, SOL_SOCKET, SO_RCVBUF, RING / 2) == 0);
	MUST(set_int(listener, SOL_SOCKET, SO_SNDBUF, RING / 2) == 0);
	return listener;
}

static void limit_memory(char *old, size_t size)
{
	char text[32];

	if (geteuid())
		trace_skip("needs root, to be another user");
	MUST(sysctl_get("mem_max", old, size) == 0);
	snprintf(text, sizeof(text), "%d", MEM_MAX);
	MUST(sysctl_set("mem_max", text) == 0);
}

/* The connection @n before the last: guests lease the first. */
static int from_last(const int fd[PAIRS], int n)
{
	return fd[PAIRS - 1 - n];
}

/* A byte by each, from the last on, until there is no memory for it: how many. */
static int send_by_all(const int fd[PAIRS])
{
	int n = 0;

	while (n < PAIRS - 1 && send(from_last(fd, n), "x", 1, MSG_DONTWAIT) == 1)
		n++;
	return n;
}

static void close_fds(const int fd[PAIRS])
{
	int i;

	for (i = 0; i < PAIRS; i++)
		close(fd[i]);
}

/* Of what a server sends the server pays, and not who connected. */
static void writer(const struct transport *t)
{
	struct guests g = { .t = t };
	int listener, fd[PAIRS], sent;
	char old[32], text[64];
	pid_t pid;
	long ring;

	limit_memory(old, sizeof(old));
	listener = small_listener(&g);
	pid = invite(&g, listener, fd);
	sent = send_by_all(fd);
	proc_speed_column(from_last(fd, 0), "ring", text, sizeof(text));
	ring = atol(text);
	WANT_ERR(send(from_last(fd, sent), "x", 1, MSG_DONTWAIT), ENOBUFS,
		 "one more than there is for");
	/* A ring that nobody reads any more gives way to the end, not to memory. */
	close(g.done[1]);
	WANT(process_join(pid), 0, 0, "who connected");
	WANT_ERR(send(from_last(fd, sent), "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL), EPIPE,
		 "nobody reads");
	WANT_TRUE(ring * sent > MEM_MAX / 2, "more than a user's half: %d of %ld bytes", sent,
		  ring);
	MUST(sysctl_set("mem_max", old) == 0);
	close_fds(fd);
	close(g.done[0]);
	close(listener);
}

/* Who maps what it may read, before a byte was sent, does it at its own expense. */
static void reader(const struct transport *t)
{
	struct guests g = { .t = t, .leases = true };
	int listener, fd[PAIRS], sent, leases;
	char old[32];
	pid_t pid;

	limit_memory(old, sizeof(old));
	listener = small_listener(&g);
	pid = invite(&g, listener, fd);
	sent = send_by_all(fd);
	close(g.done[1]);
	leases = process_join(pid);
	WANT_TRUE(leases >= 4 && leases <= MEM_MAX / 2 / RING, "a user's half: %d", leases);
	WANT_TRUE(sent >= 4, "the server has the rest: %d", sent);
	MUST(sysctl_set("mem_max", old) == 0);
	close_fds(fd);
	close(g.done[0]);
	close(listener);
}

static const struct test_case cases[] = {
	{ "writer", writer, CASE_STREAM | CASE_SPEED },
	{ "reader", reader, CASE_BOTH | CASE_SPEED },
};

RUN_CASES(cases)
