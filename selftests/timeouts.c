// SPDX-License-Identifier: GPL-2.0
/* SO_RCVTIMEO and SO_SNDTIMEO: how long a call waits, and what it returns then. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "harness.h"

/* The clock of an emulated machine is not exact; returning at once would show. */
#define LIMIT_MS	160
#define SIP_MS		10000	/* long after that, and long before a slow reader has all */

static void note_elapsed(long begin)
{
	trace_num(ticked_ms() - begin >= LIMIT_MS / 2, "not before its time");
}

static void receiving(const struct transport *t)
{
	struct iovec iov;
	struct end e[2];
	char buf[16];
	long begin;

	iov = (struct iovec){ buf, 16 };
	tp_pair(t, e);
	NOTE(set_timeout(e[0].fd, SO_RCVTIMEO, LIMIT_MS), "SO_RCVTIMEO");
	begin = ticked_ms();
	NOTE(end_recv(&e[0], buf, 16, 0), "recv");
	note_elapsed(begin);
	begin = ticked_ms();
	NOTE(end_recvv(&e[0], &iov, 1, 0), "recvmsg");
	note_elapsed(begin);
	begin = ticked_ms();
	NOTE(read(e[0].fd, buf, 16), "read");
	note_elapsed(begin);
	begin = ticked_ms();
	NOTE(end_recv(&e[0], buf, 16, MSG_PEEK), "peek");
	note_elapsed(begin);
	NOTE(end_send(&e[1], "abc", 3, 0), "send");
	tp_settle(t);
	NOTE(end_recv(&e[0], buf, 16, 0), "recv when there is something");
	NOTE(set_timeout(e[0].fd, SO_RCVTIMEO, 0), "no limit");
	pair_close(e);
}

static void partial_waitall(const struct transport *t)
{
	struct end e[2];
	char buf[16];
	long begin;

	tp_pair(t, e);
	NOTE(set_timeout(e[0].fd, SO_RCVTIMEO, LIMIT_MS), "SO_RCVTIMEO");
	NOTE(end_send(&e[1], "abc", 3, 0), "send");
	tp_settle(t);
	begin = ticked_ms();
	NOTE(end_recv(&e[0], buf, 16, MSG_WAITALL), "recv with WAITALL");
	note_elapsed(begin);
	trace_bytes(buf, 3, "the bytes");
	begin = ticked_ms();
	NOTE(end_recv(&e[0], buf, 16, MSG_WAITALL), "recv with WAITALL of nothing");
	note_elapsed(begin);
	pair_close(e);
}

/* False: time was up before all was seen, and may be next time. */
static bool late_once(struct end e[2], long limit, bool last, bool peek)
{
	char buf[16], peeked[3] = "";
	struct call c = { &e[0], buf, 16, MSG_WAITALL };
	bool waits, waits_on;
	struct task k;
	int sent_err, got_err;
	ssize_t sent;
	long got;

	MUST(set_timeout(e[0].fd, SO_RCVTIMEO, limit) == 0);
	task_start(&k, call_recv, &c);
	waits = task_sleeps(&k);
	sent = end_send(&e[1], "abc", 3, 0);
	sent_err = sent < 0 ? errno : 0;
	waits_on = task_sleeps(&k);
	/* By system call, which ends a lease. */
	if (peek)
		recv(e[0].fd, peeked, 3, MSG_PEEK | MSG_DONTWAIT);
	got = task_join(&k);
	got_err = errno;
	if (!last && !(waits && waits_on))
		return false;
	trace_num(waits, "recv waits");
	trace_ret(sent, sent_err, "send");
	trace_num(waits_on, "recv waits for more");
	trace_ret(got, got_err, "recv");
	trace_bytes(buf, 3, "the bytes");
	return true;
}

static void late(const struct transport *t, bool peek)
{
	long limit = 10 * LIMIT_MS;
	struct end e[2];
	bool seen;

	do {
		tp_pair(t, e);
		seen = late_once(e, limit, limit > 100 * LIMIT_MS, peek);
		pair_close(e);
		limit *= 4;
	} while (!seen);
}

/* What came while it waited, and was not enough, is returned when time is up. */
static void late_waitall(const struct transport *t)
{
	late(t, false);
}

/* The same where somebody looks at it meanwhile. */
static void late_peeked(const struct transport *t)
{
	late(t, true);
}

static void sending(const struct transport *t)
{
	struct end e[2];
	char buf[4096] = { 0 };
	long begin;

	tp_pair(t, e);
	NOTE(set_timeout(e[0].fd, SO_SNDTIMEO, LIMIT_MS), "SO_SNDTIMEO");
	end_fill(&e[0], sizeof(buf));
	/* What little room is left would make the first of these shorter. */
	while (end_send(&e[0], buf, 1, MSG_DONTWAIT) == 1)
		;
	begin = ticked_ms();
	NOTE(end_send(&e[0], buf, sizeof(buf), 0), "send");
	note_elapsed(begin);
	begin = ticked_ms();
	NOTE(write(e[0].fd, buf, sizeof(buf)), "write");
	note_elapsed(begin);
	pair_close(e);
}

static void partial_send(const struct transport *t)
{
	size_t len = 32u << 20;
	unsigned char *buf = malloc(len);
	struct end e[2];
	long begin;
	ssize_t n;

	MUST(buf);
	stream_fill(buf, len, 0);
	tp_pair(t, e);
	NOTE(set_timeout(e[0].fd, SO_SNDTIMEO, LIMIT_MS), "SO_SNDTIMEO");
	begin = ticked_ms();
	n = end_send(&e[0], buf, len, 0);
	note_elapsed(begin);
	trace_num(n > 0 && n < (ssize_t)len, "a part was taken");
	trace_num((ssize_t)end_drain_late(&e[1], 0, n) == n, "that part came");
	pair_close(e);
	free(buf);
}

/**
 * struct sips - how somebody reads
 * @len: bytes at a time
 * @ms: from one to the next
 */
struct sips {
	struct end *e;
	size_t len;
	int ms;
};

/* Takes a little now and then, so that there is always room again before long. */
static long sip(void *arg)
{
	static char buf[1 << 18];
	struct sips *s = arg;
	ssize_t n;

	while ((n = end_recv(s->e, buf, s->len, 0)) > 0)
		sleep_ms(s->ms);
	return n;
}

/* What a call may wait is for all its waits together. */
static void sipped(const struct transport *t, size_t each, int ms)
{
	size_t len = 32u << 20;
	unsigned char *buf = calloc(1, len);
	struct end e[2];
	struct sips s = { &e[1], each, ms };
	struct task k;
	ssize_t n;
	long begin;

	MUST(buf);
	tp_pair(t, e);
	NOTE(set_timeout(e[0].fd, SO_SNDTIMEO, LIMIT_MS), "SO_SNDTIMEO");
	task_start(&k, sip, &s);
	begin = now_ms();
	n = end_send(&e[0], buf, len, 0);
	trace_num(n > 0 && n < (ssize_t)len, "a part was taken");
	trace_num(now_ms() - begin < SIP_MS, "before long");
	/* Nor need all of that part be taken, a little at a time. */
	shutdown(e[1].fd, SHUT_RD);
	shutdown(e[0].fd, SHUT_RDWR);
	task_join(&k);
	pair_close(e);
	free(buf);
}

static void slow_reader(const struct transport *t)
{
	sipped(t, 2000, 5);
}

/* Each wait is short: there is room again before any limit. */
static void brisk_reader(const struct transport *t)
{
	sipped(t, 1 << 17, 60);
}

static long pour(void *arg)
{
	static char buf[1 << 17];
	struct end *e = arg;

	while (end_send(e, buf, sizeof(buf), MSG_NOSIGNAL) > 0)
		sleep_ms(60);
	return 0;
}

/* The same of recv(): each wait ends before any limit. */
static void brisk_writer(const struct transport *t)
{
	size_t len = 32u << 20;
	unsigned char *buf = calloc(1, len);
	struct end e[2];
	struct task k;
	ssize_t n;
	long begin;

	MUST(buf);
	tp_pair(t, e);
	NOTE(set_timeout(e[0].fd, SO_RCVTIMEO, LIMIT_MS), "SO_RCVTIMEO");
	task_start(&k, pour, &e[1]);
	begin = now_ms();
	n = end_recv(&e[0], buf, len, MSG_WAITALL);
	trace_num(n > 0 && n < (ssize_t)len, "a part has come");
	trace_num(now_ms() - begin < SIP_MS, "before long");
	shutdown(e[0].fd, SHUT_RDWR);
	task_join(&k);
	pair_close(e);
	free(buf);
}

static void values(const struct transport *t)
{
	static const struct timeval tv[] = {
		{ 0, 1000000 }, { 0, -1 }, { -1, 0 }, { 5, 250000 }, { 0, 0 }, { 1L << 40, 0 },
	};
	int fd = tp_socket(t, 0), opt, i;
	struct timeval got;
	socklen_t len;

	for (opt = 0; opt < 2; opt++) {
		int name = opt ? SO_SNDTIMEO : SO_RCVTIMEO;

		for (i = 0; i < 6; i++) {
			NOTE(setsockopt(fd, SOL_SOCKET, name, &tv[i], sizeof(tv[i])), "set %d", i);
			len = sizeof(got);
			NOTE(getsockopt(fd, SOL_SOCKET, name, &got, &len), "get");
			trace_num(got.tv_sec, "seconds");
			/* The kernel counts in ticks, of 1 to 10 ms. */
			trace_num((got.tv_usec + 9999) / 10000, "hundredths");
		}
		NOTE(setsockopt(fd, SOL_SOCKET, name, &tv[3], 4), "set, short");
	}
	close(fd);
}

/* A negative limit does not wait at all. */
static void negative(const struct transport *t)
{
	struct timeval tv = { -1, 0 };
	struct end e[2];
	char c;

	tp_pair(t, e);
	NOTE(setsockopt(e[0].fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)), "set");
	NOTE(end_recv(&e[0], &c, 1, 0), "recv");
	pair_close(e);
}

/* A limit that is set while nobody waits holds for the next call. */
static void changed(const struct transport *t)
{
	struct end e[2];
	struct call c;
	struct task k;
	char buf[4];
	long begin;

	tp_pair(t, e);
	c = (struct call){ &e[0], buf, 4, 0 };
	task_start(&k, call_recv, &c);
	trace_num(task_sleeps(&k), "recv waits without a limit");
	NOTE(end_send(&e[1], "abc", 3, 0), "send");
	NOTE(task_join(&k), "recv");
	NOTE(set_timeout(e[0].fd, SO_RCVTIMEO, LIMIT_MS), "SO_RCVTIMEO");
	begin = ticked_ms();
	NOTE(end_recv(&e[0], buf, 4, 0), "recv");
	note_elapsed(begin);
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "receiving", receiving, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "partial_waitall", partial_waitall, CASE_ALL },
	{ "late_waitall", late_waitall, CASE_ALL },
	{ "late_peeked", late_peeked, CASE_ALL },
	{ "sending", sending, CASE_BOTH | CASE_PATHS },
	{ "partial_send", partial_send, CASE_ALL },
	{ "slow_reader", slow_reader, CASE_STREAM | CASE_LIKE_TCP | CASE_PATHS },
	{ "brisk_reader", brisk_reader, CASE_STREAM | CASE_LIKE_TCP | CASE_PATHS },
	{ "brisk_writer", brisk_writer, CASE_ALL },
	{ "values", values, CASE_BOTH | CASE_TCP },
	{ "negative", negative, CASE_ALL },
	{ "changed", changed, CASE_BOTH | CASE_TCP | CASE_PATHS },
};

RUN_CASES(cases)
