// SPDX-License-Identifier: GPL-2.0
/*
 * Many threads and processes on one connection, by both paths at once: what
 * arrives is what was sent, whole, each once, and of each sender in order.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "tally.h"

#define READERS		4
#define RECORDS		3000	/* of each sender */

/**
 * struct worker - a sender or a reader
 * @id: which sender
 * @count: records of each sender
 * @plain: by system call, whatever the end's path is
 */
struct worker {
	struct end *e;
	struct tally *y;
	int id;
	int count;
	bool plain;
};

static long send_records(void *arg)
{
	struct worker *w = arg;
	struct record r;
	int i;

	for (i = 0; i < w->count; i++) {
		ssize_t n;

		(w->y->parted ? bytes_make : record_make)(&r, w->id, i);
		n = w->plain ? send(w->e->fd, &r, sizeof(r), MSG_NOSIGNAL) :
			       end_send(w->e, &r, sizeof(r), MSG_NOSIGNAL);
		if (n != sizeof(r))
			return -1;
	}
	return 0;
}

static long read_records(void *arg)
{
	int64_t last[SENDERS] = { -1, -1, -1, -1 };
	struct worker *w = arg;
	struct record r;
	ssize_t n;

	while (1) {
		n = w->plain ? recv(w->e->fd, &r, sizeof(r), MSG_WAITALL) :
			       end_recv(w->e, &r, sizeof(r), MSG_WAITALL);
		if (n != sizeof(r))
			break;
		if (w->y->parted)
			note_bytes(w->y, &r);
		else
			note_record(w->y, w->count, &r, last);
	}
	return n;	/* 0: the end */
}

static int send_in_process(void *arg)
{
	return send_records(arg) ? 1 : 0;
}

static int read_in_process(void *arg)
{
	return read_records(arg) ? 1 : 0;
}

static void workers(struct worker w[], int n, struct end *e, struct tally *y, int count,
		    bool mixed)
{
	int i;

	for (i = 0; i < n; i++)
		w[i] = (struct worker){ e, y, i, count, mixed && (i & 1) };
}

/*
 * A stream has one reader: of several, two could each get a part of a record.
 * Messages have as many as there are.
 */
static int readers(const struct transport *t)
{
	return t->type == SOCK_SEQPACKET ? READERS : 1;
}

/* The references are not on trial: a few records show what is right. */
static int records(const struct transport *t, int n)
{
	return t->speed || t->fused ? soak_times(n, 20) : n / 10;
}

static void by_threads(const struct transport *t, bool mixed)
{
	int count = records(t, RECORDS), i;
	struct worker s[SENDERS], r[READERS];
	struct task ks[SENDERS], kr[READERS];
	struct tally *y = tally_create(t, count);
	struct end e[2];

	tp_pair(t, e);
	workers(s, SENDERS, &e[0], y, count, mixed);
	workers(r, readers(t), &e[1], y, count, mixed);
	for (i = 0; i < SENDERS; i++)
		task_start(&ks[i], send_records, &s[i]);
	for (i = 0; i < readers(t); i++)
		task_start(&kr[i], read_records, &r[i]);
	for (i = 0; i < SENDERS; i++)
		NOTE(task_join(&ks[i]), "sender %d", i);
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	for (i = 0; i < readers(t); i++)
		NOTE(task_join(&kr[i]), "reader %d", i);
	tally_note(y, count);
	pair_close(e);
}

static void threads(const struct transport *t)
{
	by_threads(t, false);
}

/* Half of the threads go beside the library. */
static void threads_mixed(const struct transport *t)
{
	by_threads(t, true);
}

static void processes(const struct transport *t)
{
	int count = records(t, RECORDS / 3), i;
	struct worker s[SENDERS], r[READERS];
	pid_t ps[SENDERS], pr[READERS];
	struct tally *y = tally_create(t, count);
	struct end e[2];

	tp_pair(t, e);
	workers(s, SENDERS, &e[0], y, count, true);
	workers(r, readers(t), &e[1], y, count, true);
	for (i = 0; i < SENDERS; i++)
		ps[i] = process_start(send_in_process, &s[i]);
	for (i = 0; i < readers(t); i++)
		pr[i] = process_start(read_in_process, &r[i]);
	for (i = 0; i < SENDERS; i++)
		NOTE(process_join(ps[i]), "sender %d", i);
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	for (i = 0; i < readers(t); i++)
		NOTE(process_join(pr[i]), "reader %d", i);
	tally_note(y, count);
	pair_close(e);
}

/* Threads that send and receive on both ends, each direction its own stream. */
static void all_at_once(const struct transport *t)
{
	int count = records(t, RECORDS / 2), i, side;
	struct worker s[2][SENDERS], r[2];
	struct task ks[2][SENDERS], kr[2];
	struct tally *y[2];
	struct end e[2];

	tp_pair(t, e);
	for (side = 0; side < 2; side++) {
		y[side] = tally_create(t, count);
		workers(s[side], SENDERS, &e[side], y[side], count, true);
		workers(&r[side], 1, &e[!side], y[side], count, true);
		task_start(&kr[side], read_records, &r[side]);
		for (i = 0; i < SENDERS; i++)
			task_start(&ks[side][i], send_records, &s[side][i]);
	}
	for (side = 0; side < 2; side++) {
		for (i = 0; i < SENDERS; i++)
			NOTE(task_join(&ks[side][i]), "sender %d of side %d", i, side);
		NOTE(shutdown(e[side].fd, SHUT_WR), "shutdown of side %d", side);
	}
	for (side = 0; side < 2; side++) {
		NOTE(task_join(&kr[side]), "reader of side %d", side);
		tally_note(y[side], count);
	}
	pair_close(e);
}

/* Every reader of a stream gets bytes; their sum and number is all of them. */
struct summing {
	struct end *e;
	size_t bytes;
	unsigned long sum;
	bool plain;
};

static long sum_bytes(void *arg)
{
	struct summing *s = arg;
	unsigned char buf[777];
	ssize_t n, i;

	while (1) {
		n = s->plain ? recv(s->e->fd, buf, sizeof(buf), 0) :
			       end_recv(s->e, buf, sizeof(buf), 0);
		if (n <= 0)
			return n;
		s->bytes += n;
		for (i = 0; i < n; i++)
			s->sum += buf[i];
	}
}

static void many_readers(const struct transport *t)
{
	size_t total = 1 << 20, got = 0, i;
	unsigned char *out = malloc(total);
	struct summing s[READERS];
	struct task k[READERS];
	unsigned long want = 0, sum = 0;
	struct end e[2];

	MUST(out);
	stream_fill(out, total, 0);
	for (i = 0; i < total; i++)
		want += out[i];
	tp_pair(t, e);
	for (i = 0; i < READERS; i++) {
		s[i] = (struct summing){ &e[1], 0, 0, i & 1 };
		task_start(&k[i], sum_bytes, &s[i]);
	}
	NOTE(end_send_all(&e[0], out, total), "send");
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	for (i = 0; i < READERS; i++) {
		NOTE(task_join(&k[i]), "reader %zu", i);
		got += s[i].bytes;
		sum += s[i].sum;
	}
	trace_num(got, "bytes");
	trace_num(sum == want, "their sum");
	pair_close(e);
	free(out);
}

static const struct test_case cases[] = {
	{ "threads", threads, CASE_BOTH | CASE_TCP | CASE_PATHS | CASE_LONG },
	{ "threads_mixed", threads_mixed, CASE_BOTH | CASE_TCP | CASE_PATHS | CASE_LONG },
	/* Several processes that want one role settle on system calls. */
	{ "processes", processes,
	  CASE_BOTH | CASE_TCP | CASE_PATHS | CASE_LONG | CASE_UNMAPPED },
	{ "all_at_once", all_at_once, CASE_BOTH | CASE_TCP | CASE_PATHS | CASE_LONG },
	{ "many_readers", many_readers, CASE_STREAM | CASE_TCP | CASE_PATHS | CASE_LONG },
};

RUN_CASES(cases)
