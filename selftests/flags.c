// SPDX-License-Identifier: GPL-2.0
/* The flags of send and recv on a byte stream, each of them. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

#define BIG	(4u << 20)

static void peek(const struct transport *t)
{
	char buf[64];
	struct end e[2];
	int i;

	tp_pair(t, e);
	NOTE(end_recv(&e[1], buf, 8, MSG_PEEK | MSG_DONTWAIT), "peek at nothing");
	NOTE(end_send(&e[0], "abcdefgh", 8, 0), "send");
	tp_settle(t);
	for (i = 0; i < 4; i++) {
		NOTE(end_recv(&e[1], buf, 4, MSG_PEEK), "peek at 4");
		trace_bytes(buf, 4, "the first 4");
		NOTE(end_recv(&e[1], buf, 64, MSG_PEEK), "peek at all");
		trace_bytes(buf, 8, "all");
	}
	NOTE(end_recv(&e[1], buf, 3, 0), "recv 3");
	NOTE(end_recv(&e[1], buf, 64, MSG_PEEK), "peek at the rest");
	trace_bytes(buf, 5, "the rest");
	NOTE(end_send(&e[0], "ijkl", 4, 0), "send more");
	tp_settle(t);
	NOTE(end_recv(&e[1], buf, 64, MSG_PEEK), "peek over both");
	trace_bytes(buf, 9, "both");
	NOTE(end_recv(&e[1], buf, 64, 0), "recv both");
	trace_bytes(buf, 9, "both, again");
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	tp_settle(t);
	NOTE(end_recv(&e[1], buf, 64, MSG_PEEK), "peek at the end");
	pair_close(e);
}

static void waitall(const struct transport *t)
{
	unsigned char in[3000], out[3000];
	struct call c;
	struct end e[2];
	struct task k;

	stream_fill(out, sizeof(out), 0);
	tp_pair(t, e);
	c = (struct call){ &e[1], in, sizeof(in), MSG_WAITALL };
	task_start(&k, call_recv, &c);
	NOTE(end_send(&e[0], out, 1000, 0), "the first part");
	trace_num(task_sleeps(&k), "it waits");
	NOTE(end_send(&e[0], out + 1000, 1999, 0), "the second part");
	trace_num(task_sleeps(&k), "it waits");
	NOTE(end_send(&e[0], out + 2999, 1, 0), "the last byte");
	NOTE(task_join(&k), "it returns");
	trace_num(stream_check(in, sizeof(in), 0), "the bytes");

	NOTE(end_send(&e[0], out, 100, 0), "send 100");
	tp_settle(t);
	NOTE(end_recv(&e[1], in, 3000, MSG_WAITALL | MSG_DONTWAIT), "WAITALL and DONTWAIT");
	task_start(&k, call_recv, &c);
	NOTE(end_send(&e[0], out, 10, 0), "send 10");
	trace_num(task_sleeps(&k), "it waits");
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	NOTE(task_join(&k), "it returns what there was");
	NOTE(end_recv(&e[1], in, 3000, MSG_WAITALL), "WAITALL at the end");
	pair_close(e);
}

/* MSG_WAITALL of more than any buffer between the two holds. */
static void waitall_big(const struct transport *t)
{
	unsigned char *out = malloc(BIG), *in = malloc(BIG);
	struct call c, d;
	struct end e[2];
	struct task k;

	MUST(out && in);
	stream_fill(out, BIG, 0);
	tp_pair(t, e);
	c = (struct call){ &e[1], in, BIG, MSG_WAITALL };
	d = (struct call){ &e[0], out, BIG, 0 };
	task_start(&k, call_recv, &c);
	NOTE(call_send_all(&d), "send");
	NOTE(task_join(&k), "recv");
	trace_num(stream_check(in, BIG, 0), "the bytes");
	pair_close(e);
	free(in);
	free(out);
}

static void peek_waitall(const struct transport *t)
{
	struct call c;
	struct end e[2];
	struct task k;
	char buf[16];

	tp_pair(t, e);
	c = (struct call){ &e[1], buf, 8, MSG_WAITALL };
	task_start(&k, call_recv, &c);
	trace_num(task_sleeps(&k), "it waits");
	NOTE(end_send(&e[0], "abcdefghij", 10, 0), "send");
	NOTE(task_join(&k), "recv");
	NOTE(end_recv(&e[1], buf, 2, MSG_PEEK | MSG_WAITALL), "peek with WAITALL");
	trace_bytes(buf, 2, "the bytes");
	NOTE(end_recv(&e[1], buf, 8, MSG_DONTWAIT), "recv");
	pair_close(e);
}

static void discard(const struct transport *t)
{
	struct end e[2];
	char buf[16];

	tp_pair(t, e);
	NOTE(end_send(&e[0], "abcdef", 6, 0), "send");
	memset(buf, 0, sizeof(buf));
	NOTE(end_recv(&e[1], buf, 3, MSG_TRUNC), "recv with TRUNC");
	trace_bytes(buf, 4, "the bytes");
	NOTE(end_recv(&e[1], buf, 16, MSG_DONTWAIT), "recv the rest");
	pair_close(e);
}

static void sigpipe(const struct transport *t)
{
	struct iovec iov = { "x", 1 };
	struct end e[2];
	int i;

	tp_pair(t, e);
	end_close(&e[1]);
	tp_settle(t);
	/* TCP learns only from the answer to its first byte that nobody reads. */
	send(e[0].fd, "x", 1, MSG_NOSIGNAL);
	tp_settle(t);
	for (i = 0; i < 2; i++) {
		NOTE(end_send(&e[0], "x", 1, 0), "send");
		NOTE(end_send(&e[0], "x", 1, MSG_NOSIGNAL), "send with NOSIGNAL");
		NOTE(end_sendv(&e[0], &iov, 1, 0), "sendmsg");
		NOTE(end_sendv(&e[0], &iov, 1, MSG_NOSIGNAL), "sendmsg with NOSIGNAL");
		NOTE(write(e[0].fd, "x", 1), "write");
		NOTE(writev(e[0].fd, &iov, 1), "writev");
		NOTE(end_send(&e[0], "x", 1, MSG_DONTWAIT), "send with DONTWAIT");
	}
	end_close(&e[0]);
}

static void zero_to_closed(const struct transport *t)
{
	struct end e[2];

	tp_pair(t, e);
	end_close(&e[1]);
	NOTE(end_send(&e[0], "", 0, 0), "send of nothing to a closed peer");
	NOTE(write(e[0].fd, "", 0), "write of nothing to a closed peer");
	end_close(&e[0]);
}

static void flags_sent(const struct transport *t)
{
	static const struct {
		const char *name;
		int flags;
	} f[] = {
		{ "MSG_MORE", MSG_MORE }, { "MSG_EOR", MSG_EOR }, { "MSG_CONFIRM", MSG_CONFIRM },
		{ "MSG_DONTROUTE", MSG_DONTROUTE }, { "MSG_ZEROCOPY", MSG_ZEROCOPY },
		{ "MSG_TRUNC", MSG_TRUNC }, { "MSG_PEEK", MSG_PEEK },
		{ "MSG_WAITALL", MSG_WAITALL }, { "MSG_ERRQUEUE", MSG_ERRQUEUE },
		{ "MSG_CMSG_CLOEXEC", MSG_CMSG_CLOEXEC },
		{ "MSG_FASTOPEN", MSG_FASTOPEN }, { "an unknown bit", 0x10000000 },
	};
	char buf[16];
	struct end e[2];
	size_t i;

	tp_pair(t, e);
	for (i = 0; i < sizeof(f) / sizeof(f[0]); i++) {
		NOTE(end_send(&e[0], "abc", 3, f[i].flags), "send with %s", f[i].name);
		NOTE(end_recv(&e[1], buf, sizeof(buf), MSG_DONTWAIT), "recv");
	}
	pair_close(e);
}

static void flags_received(const struct transport *t)
{
	static const struct {
		const char *name;
		int flags;
	} f[] = {
		{ "MSG_CMSG_CLOEXEC", MSG_CMSG_CLOEXEC }, { "MSG_NOSIGNAL", MSG_NOSIGNAL },
		{ "MSG_MORE", MSG_MORE }, { "MSG_EOR", MSG_EOR }, { "MSG_CONFIRM", MSG_CONFIRM },
		{ "MSG_WAITFORONE", MSG_WAITFORONE }, { "MSG_ZEROCOPY", MSG_ZEROCOPY },
		{ "an unknown bit", 0x10000000 },
	};
	char buf[16];
	struct end e[2];
	size_t i;

	tp_pair(t, e);
	for (i = 0; i < sizeof(f) / sizeof(f[0]); i++) {
		NOTE(end_send(&e[0], "abc", 3, 0), "send");
		NOTE(end_recv(&e[1], buf, sizeof(buf), f[i].flags | MSG_DONTWAIT),
		     "recv with %s", f[i].name);
	}
	pair_close(e);
}

static void out_of_band(const struct transport *t)
{
	char buf[16];
	struct end e[2];

	tp_pair(t, e);
	NOTE(end_recv(&e[1], buf, 1, MSG_OOB | MSG_DONTWAIT), "recv with OOB when there is none");
	NOTE(end_send(&e[0], "x", 1, MSG_OOB), "send with OOB");
	NOTE(end_recv(&e[1], buf, 1, MSG_OOB | MSG_DONTWAIT), "recv with OOB");
	pair_close(e);
}

/*
 * What was refused is not in the stream. AF_UNIX refuses it in messages and takes it in a
 * stream, as out_of_band() shows, so that for this there is no stream to compare with.
 */
static void out_of_band_refused(const struct transport *t)
{
	char buf[16];
	struct end e[2];

	tp_pair(t, e);
	WANT(end_send(&e[0], "abc", 3, 0), 3, 0, "send");
	WANT_ERR(end_send(&e[0], "x", 1, MSG_OOB), EOPNOTSUPP, "send with OOB");
	WANT_ERR(end_recv(&e[1], buf, 1, MSG_OOB), EOPNOTSUPP, "recv with OOB");
	WANT(end_send(&e[0], "def", 3, 0), 3, 0, "send");
	WANT(end_recv(&e[1], buf, 3, MSG_WAITALL), 3, 0, "recv");
	WANT(end_recv(&e[1], buf + 3, 3, MSG_WAITALL), 3, 0, "recv");
	WANT_TRUE(!memcmp(buf, "abcdef", 6), "the bytes");
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "peek", peek, CASE_ALL },
	{ "waitall", waitall, CASE_ALL },
	{ "waitall_big", waitall_big, CASE_ALL },
	{ "peek_waitall", peek_waitall, CASE_ALL },
	{ "trunc", discard, CASE_STREAM | CASE_PATHS },
	{ "sigpipe", sigpipe, CASE_ALL },
	{ "zero_to_closed", zero_to_closed, CASE_STREAM | CASE_PATHS },
	{ "flags_sent", flags_sent, CASE_STREAM | CASE_PATHS },
	{ "flags_received", flags_received, CASE_STREAM | CASE_PATHS },
	{ "out_of_band", out_of_band, CASE_STREAM | CASE_PATHS | CASE_UNMAPPED },
	{ "out_of_band_refused", out_of_band_refused, CASE_STREAM | CASE_PATHS | CASE_SPEED },
	{ "out_of_band_messages", out_of_band_refused, CASE_SEQPACKET | CASE_PATHS },
};

RUN_CASES(cases)
