// SPDX-License-Identifier: GPL-2.0
/* shutdown(): each way, by each side, with and without data under way. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

static const char *const ways[] = { "SHUT_RD", "SHUT_WR", "SHUT_RDWR" };

static void note_polls(struct end e[2], const char *when)
{
	trace_mask(poll_now(e[0].fd, POLL_ALL), "poll 0 %s", when);
	trace_mask(poll_now(e[1].fd, POLL_ALL), "poll 1 %s", when);
}

static void note_transfers(const struct transport *t, struct end e[2], const char *when)
{
	char buf[16];
	int i;

	for (i = 0; i < 2; i++) {
		NOTE(end_send(&e[i], "abc", 3, MSG_DONTWAIT), "send by %d %s", i, when);
		tp_settle(t);
	}
	for (i = 0; i < 2; i++) {
		NOTE(end_recv(&e[i], buf, 2, MSG_DONTWAIT), "recv by %d %s", i, when);
		NOTE(end_recv(&e[i], buf, 16, MSG_DONTWAIT), "recv by %d of more %s", i, when);
		NOTE(end_recv(&e[i], buf, 16, MSG_DONTWAIT), "recv by %d of the end %s", i, when);
	}
}

static void matrix_of(const struct transport *t, int first_how, int last_how)
{
	struct end e[2];
	int how, side, data;

	for (how = first_how; how <= last_how; how++) {
		for (side = 0; side < 2; side++) {
			for (data = 0; data < 4; data++) {
				tp_pair(t, e);
				trace_str(ways[how], "side %d, data %d", side, data);
				if (data & 1)
					NOTE(end_send(&e[0], "pending", 7, 0), "send by 0");
				if (data & 2)
					NOTE(end_send(&e[1], "waiting", 7, 0), "send by 1");
				tp_settle(t);
				NOTE(shutdown(e[side].fd, how), "shutdown");
				tp_settle(t);
				note_polls(e, "after it");
				note_transfers(t, e, "after it");
				note_polls(e, "after transfers");
				note_transfers(t, e, "once more");
				pair_close(e);
			}
		}
	}
}

static void matrix(const struct transport *t)
{
	matrix_of(t, SHUT_RD, SHUT_RDWR);
}

/* Of the ways, this is the one in which TCP and AF_UNIX have the same idea. */
static void half_close(const struct transport *t)
{
	matrix_of(t, SHUT_WR, SHUT_WR);
}

/* Any two after one another, by any side. */
static void twice(const struct transport *t)
{
	struct end e[2];
	int i, j, side;

	for (i = 0; i < 3; i++) {
		for (j = 0; j < 3; j++) {
			for (side = 0; side < 2; side++) {
				tp_pair(t, e);
				NOTE(end_send(&e[0], "abc", 3, 0), "send by 0");
				NOTE(end_send(&e[1], "abc", 3, 0), "send by 1");
				NOTE(shutdown(e[0].fd, i), "side 0: %s", ways[i]);
				NOTE(shutdown(e[side].fd, j), "side %d: %s", side, ways[j]);
				note_polls(e, "after both");
				note_transfers(t, e, "after both");
				pair_close(e);
			}
		}
	}
}

static void arguments(const struct transport *t)
{
	struct end e[2];
	int fd = tp_socket(t, 0);

	NOTE(shutdown(fd, SHUT_WR), "an unconnected socket");
	trace_mask(poll_now(fd, POLL_ALL), "poll it");
	NOTE(send(fd, "x", 1, 0), "send on it");
	NOTE(recv(fd, &(char){ 0 }, 1, MSG_DONTWAIT), "recv on it");
	close(fd);
	tp_pair(t, e);
	NOTE(shutdown(e[0].fd, 3), "how 3");
	NOTE(shutdown(e[0].fd, -1), "how -1");
	note_polls(e, "after that");
	NOTE(shutdown(e[0].fd, SHUT_RDWR), "both ways");
	tp_settle(t);
	end_close(&e[1]);
	tp_settle(t);
	NOTE(shutdown(e[0].fd, SHUT_RDWR), "again, when the peer has gone");
	end_close(&e[0]);
}

static void wakes_reader(const struct transport *t)
{
	struct end e[2];
	int how, side;
	char c;

	for (how = SHUT_RD; how <= SHUT_RDWR; how++) {
		for (side = 0; side < 2; side++) {
			struct call call = { &e[1], &c, 1, 0 };
			struct task k;

			/* SHUT_RD of the writer is not the reader's business. */
			if (side == 0 && how == SHUT_RD)
				continue;
			/* Nor is SHUT_WR of the reader its own. */
			if (side == 1 && how == SHUT_WR)
				continue;
			tp_pair(t, e);
			task_start(&k, call_recv, &call);
			trace_num(task_sleeps(&k), "recv waits");
			NOTE(shutdown(e[side].fd, how), "side %d: %s", side, ways[how]);
			NOTE(task_join(&k), "recv");
			pair_close(e);
		}
	}
}

static void wakes_writer(const struct transport *t)
{
	size_t len = 8u << 20;
	char *buf = calloc(1, len);
	struct end e[2];
	int how, side;

	MUST(buf);
	for (how = SHUT_RD; how <= SHUT_RDWR; how++) {
		for (side = 0; side < 2; side++) {
			struct call call = { &e[0], buf, 4096, 0 };
			struct task k;

			if (side == 0 && how == SHUT_RD)
				continue;
			if (side == 1 && how == SHUT_WR)
				continue;
			tp_pair(t, e);
			end_fill(&e[0], 4096);
			task_start(&k, call_send, &call);
			trace_num(task_sleeps(&k), "send waits");
			NOTE(shutdown(e[side].fd, how), "side %d: %s", side, ways[how]);
			NOTE(task_join(&k), "send");
			pair_close(e);
		}
	}
	free(buf);
}

/* What was accepted before the shutdown arrives, however much it is. */
static void all_arrives(const struct transport *t)
{
	struct end e[2];
	size_t sent;
	char c;

	tp_pair(t, e);
	sent = end_fill(&e[0], 4096);
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown of a full connection");
	NOTE(end_send(&e[0], "x", 1, MSG_DONTWAIT), "send after it");
	tp_settle(t);
	trace_num(end_drain_late(&e[1], 0, sent) == sent, "all of it came");
	NOTE(end_recv(&e[1], &c, 1, 0), "and the end");
	NOTE(end_send(&e[1], "back", 4, 0), "send back");
	NOTE(end_recv(&e[0], &c, 1, 0), "recv it");
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "matrix", matrix, CASE_BOTH | CASE_PATHS },
	{ "half_close", half_close, CASE_ALL },
	{ "twice", twice, CASE_BOTH | CASE_PATHS },
	{ "arguments", arguments, CASE_BOTH },
	{ "wakes_reader", wakes_reader, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "wakes_writer", wakes_writer, CASE_BOTH | CASE_PATHS },
	{ "all_arrives", all_arrives, CASE_BOTH | CASE_TCP | CASE_PATHS },
};

RUN_CASES(cases)
