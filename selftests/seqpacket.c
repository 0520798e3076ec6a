// SPDX-License-Identifier: GPL-2.0
/* Messages: their boundaries, lengths, truncation, and what is too long. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness.h"

#define ROOM	(256 << 10)

static void boundaries(const struct transport *t)
{
	static const int lens[] = { 1, 3, 8, 100, 4096, 7, 20000, 1, 65535, 15, 60000 };
	unsigned char *out = malloc(ROOM), *in = malloc(ROOM);
	size_t i, n = sizeof(lens) / sizeof(lens[0]);
	struct end e[2];

	MUST(out && in);
	tp_pair_sized(t, e, 512 << 10);
	for (i = 0; i < n; i++) {
		stream_fill(out, lens[i], i * 1000);
		NOTE(end_send(&e[0], out, lens[i], 0), "send %d", lens[i]);
		if (i % 3 == 2)
			NOTE(end_recv(&e[1], in, ROOM, 0), "recv one early");
	}
	for (; i > n / 3; i--) {
		ssize_t got = end_recv(&e[1], in, ROOM, MSG_DONTWAIT);

		trace_num(got, "recv");
		trace_bytes(in, got < 0 ? 0 : got, "the bytes");
	}
	NOTE(end_recv(&e[1], in, ROOM, MSG_DONTWAIT), "recv of nothing");
	pair_close(e);
	free(in);
	free(out);
}

static void truncation(const struct transport *t)
{
	char out[100], in[100];
	struct end e[2];

	stream_fill(out, sizeof(out), 0);
	tp_pair(t, e);
	NOTE(end_send(&e[0], out, 100, 0), "send 100");
	NOTE(end_send(&e[0], out, 50, 0), "send 50");
	NOTE(end_send(&e[0], out, 70, 0), "send 70");
	NOTE(end_send(&e[0], out, 60, 0), "send 60");
	NOTE(end_recv(&e[1], in, 10, 0), "recv 10");
	trace_bytes(in, 10, "the first 10");
	NOTE(end_recv(&e[1], in, 100, 0), "the next message");
	NOTE(end_recv(&e[1], in, 10, MSG_TRUNC), "recv with TRUNC");
	NOTE(end_recv(&e[1], in, 0, 0), "recv of length 0");
	NOTE(end_recv(&e[1], in, 100, MSG_DONTWAIT), "it is gone");
	pair_close(e);
}

static void note_recvmsg(int fd, size_t len, int flags, const char *what)
{
	char buf[256], control[64];
	struct iovec iov = { buf, len };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
		.msg_namelen = 17, .msg_flags = -1,
	};

	NOTE(recvmsg(fd, &m, flags), "recvmsg, %s", what);
	trace_num(m.msg_flags & ~MSG_CMSG_CLOEXEC, "its msg_flags");
	trace_num(m.msg_controllen, "its msg_controllen");
}

static void message_flags(const struct transport *t)
{
	struct end e[2];
	char c[200];

	memset(c, 'm', sizeof(c));
	tp_pair(t, e);
	NOTE(end_send(&e[0], c, 200, 0), "send 200");
	NOTE(end_send(&e[0], c, 200, MSG_EOR), "send 200 with EOR");
	NOTE(end_send(&e[0], c, 200, 0), "send 200");
	NOTE(end_send(&e[0], c, 0, 0), "send 0");
	NOTE(end_send(&e[0], c, 200, 0), "send 200");
	note_recvmsg(e[1].fd, 200, 0, "room for it");
	note_recvmsg(e[1].fd, 256, MSG_PEEK, "peek, room for more");
	note_recvmsg(e[1].fd, 100, MSG_PEEK, "peek, room for half");
	note_recvmsg(e[1].fd, 256, 0, "room for more");
	note_recvmsg(e[1].fd, 100, 0, "room for half");
	note_recvmsg(e[1].fd, 256, 0, "nothing in it");
	note_recvmsg(e[1].fd, 256, MSG_CMSG_CLOEXEC, "CMSG_CLOEXEC");
	note_recvmsg(e[1].fd, 256, MSG_DONTWAIT, "none");
	pair_close(e);
}

static void empty(const struct transport *t)
{
	struct end e[2];
	char buf[16];

	tp_pair(t, e);
	NOTE(end_send(&e[0], "", 0, 0), "send nothing");
	trace_mask(poll_now(e[1].fd, POLL_ALL), "poll");
	NOTE(end_send(&e[0], "a", 1, 0), "send one");
	NOTE(end_sendv(&e[0], NULL, 0, 0), "send no buffers");
	NOTE(end_send(&e[0], "b", 1, 0), "send one");
	NOTE(end_recv(&e[1], buf, 16, 0), "recv nothing");
	NOTE(end_recv(&e[1], buf, 16, 0), "recv one");
	NOTE(end_recv(&e[1], buf, 16, MSG_PEEK), "peek at nothing");
	NOTE(end_recv(&e[1], buf, 16, 0), "recv nothing");
	NOTE(end_recv(&e[1], buf, 16, 0), "recv one");
	NOTE(end_recv(&e[1], buf, 16, MSG_DONTWAIT), "recv none");
	NOTE(write(e[0].fd, "", 0), "write nothing");
	NOTE(read(e[1].fd, buf, 0), "read with length 0");
	NOTE(end_recv(&e[1], buf, 16, MSG_DONTWAIT), "recv");
	NOTE(end_recv(&e[1], buf, 16, MSG_DONTWAIT), "recv again");
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	NOTE(end_recv(&e[1], buf, 16, 0), "recv at the end");
	pair_close(e);
}

static void too_long(const struct transport *t)
{
	size_t len = 64u << 20;
	unsigned char *buf = calloc(1, len);
	struct end e[2];
	char c[4];

	MUST(buf);
	tp_pair(t, e);
	NOTE(end_send(&e[0], buf, len, 0), "send 64 MiB");
	NOTE(end_send(&e[0], buf, len, MSG_DONTWAIT), "send 64 MiB with DONTWAIT");
	NOTE(end_send(&e[0], "abc", 3, 0), "send 3 bytes");
	NOTE(end_recv(&e[1], c, 4, MSG_DONTWAIT), "recv");
	NOTE(end_recv(&e[1], c, 4, MSG_DONTWAIT), "recv of nothing");
	pair_close(e);
	free(buf);
}

/*
 * What SO_SNDBUF says can be sent in one message, and twice that cannot. A
 * message is sent whole or not at all: it waits, or EAGAIN, but is never cut.
 */
static void as_long_as_the_buffer(const struct transport *t)
{
	size_t len = 64 << 10;
	unsigned char *buf = malloc(len), *in = malloc(len);
	struct end e[2];
	int i, sent;

	MUST(buf && in);
	stream_fill(buf, len, 0);
	tp_pair_sized(t, e, 128 << 10);
	for (i = 0; i < 3; i++) {
		NOTE(end_send(&e[0], buf, len, 0), "send 64 KiB of a buffer of 128");
		NOTE(end_recv(&e[1], in, len, 0), "recv");
		trace_num(stream_check(in, len, 0), "the bytes");
	}
	for (sent = 0; end_send(&e[0], buf, len, MSG_DONTWAIT) == (ssize_t)len; sent++)
		;
	trace_num(errno == EAGAIN, "EAGAIN when it is full");
	trace_num(sent > 0, "some were sent before");
	for (i = 0; end_recv(&e[1], in, len, MSG_DONTWAIT) == (ssize_t)len; i++)
		;
	trace_num(i == sent, "as many came");
	pair_close(e);
	free(in);
	free(buf);
}

static void vectors(const struct transport *t)
{
	char a[10], b[20], c[30], in[64] = { 0 };
	struct iovec out[3] = { { a, 10 }, { b, 20 }, { c, 30 } };
	struct iovec back[3] = { { in, 5 }, { in + 5, 0 }, { in + 5, 40 } };
	struct end e[2];

	stream_fill(a, 10, 0);
	stream_fill(b, 20, 10);
	stream_fill(c, 30, 30);
	tp_pair(t, e);
	NOTE(end_sendv(&e[0], out, 3, 0), "send three buffers");
	NOTE(end_sendv(&e[0], out, 2, 0), "send two buffers");
	NOTE(end_recvv(&e[1], back, 3, 0), "receive into too few bytes");
	trace_bytes(in, 64, "the bytes");
	NOTE(end_recvv(&e[1], back, 3, 0), "receive the next");
	trace_bytes(in, 64, "the bytes");
	pair_close(e);
}

static void peek(const struct transport *t)
{
	char in[16];
	struct end e[2];
	int i;

	tp_pair(t, e);
	NOTE(end_recv(&e[1], in, 16, MSG_PEEK | MSG_DONTWAIT), "peek at none");
	NOTE(end_send(&e[0], "first", 5, 0), "send");
	NOTE(end_send(&e[0], "second", 6, 0), "send");
	for (i = 0; i < 3; i++) {
		NOTE(end_recv(&e[1], in, 16, MSG_PEEK), "peek");
		NOTE(end_recv(&e[1], in, 2, MSG_PEEK), "peek at two bytes");
		NOTE(end_recv(&e[1], in, 2, MSG_PEEK | MSG_TRUNC), "peek with TRUNC");
	}
	NOTE(end_recv(&e[1], in, 16, 0), "recv");
	trace_bytes(in, 5, "the first");
	NOTE(end_recv(&e[1], in, 16, MSG_PEEK), "peek");
	NOTE(end_recv(&e[1], in, 16, 0), "recv");
	trace_bytes(in, 6, "the second");
	pair_close(e);
}

static void waitall(const struct transport *t)
{
	char in[100];
	struct end e[2];

	tp_pair(t, e);
	NOTE(end_send(&e[0], "abc", 3, 0), "send 3");
	NOTE(end_send(&e[0], "defg", 4, 0), "send 4");
	NOTE(end_recv(&e[1], in, 100, MSG_WAITALL), "WAITALL ends with the message");
	NOTE(end_recv(&e[1], in, 2, MSG_WAITALL), "WAITALL of less");
	NOTE(end_recv(&e[1], in, 100, MSG_DONTWAIT), "recv of none");
	pair_close(e);
}

static void flags(const struct transport *t)
{
	struct end e[2];
	char in[16];

	tp_pair(t, e);
	NOTE(end_send(&e[0], "a", 1, MSG_OOB), "send with OOB");
	NOTE(end_recv(&e[1], in, 16, MSG_OOB | MSG_DONTWAIT), "recv with OOB");
	NOTE(end_send(&e[0], "a", 1, MSG_MORE), "send with MORE");
	NOTE(end_send(&e[0], "b", 1, MSG_EOR), "send with EOR");
	NOTE(end_send(&e[0], "c", 1, 0x10000000), "send with an unknown bit");
	NOTE(end_recv(&e[1], in, 16, MSG_DONTWAIT), "recv");
	NOTE(end_recv(&e[1], in, 16, MSG_DONTWAIT | 0x10000000), "recv with an unknown bit");
	NOTE(end_recv(&e[1], in, 16, MSG_DONTWAIT), "recv");
	NOTE(end_recv(&e[1], in, 16, MSG_DONTWAIT), "recv of none");
	pair_close(e);
}

#define MANY	16

static void many_at_once(const struct transport *t)
{
	char out[MANY][32], in[MANY][32];
	struct mmsghdr m[MANY] = { 0 }, r[MANY] = { 0 };
	struct iovec io[MANY], ri[MANY];
	struct end e[2];
	int i;

	for (i = 0; i < MANY; i++) {
		stream_fill(out[i], 32, i * 32);
		io[i] = (struct iovec){ out[i], i + 1 };
		ri[i] = (struct iovec){ in[i], 32 };
		m[i].msg_hdr.msg_iov = &io[i];
		m[i].msg_hdr.msg_iovlen = 1;
		r[i].msg_hdr.msg_iov = &ri[i];
		r[i].msg_hdr.msg_iovlen = 1;
	}
	tp_pair(t, e);
	NOTE(sendmmsg(e[0].fd, m, MANY, 0), "sendmmsg");
	NOTE(end_recv(&e[1], in[0], 32, 0), "recv one");
	NOTE(recvmmsg(e[1].fd, r, MANY, MSG_DONTWAIT, NULL), "recvmmsg");
	for (i = 0; i < MANY - 1; i++)
		trace_num(r[i].msg_len, "length of %d", i);
	trace_bytes(in[MANY - 2], MANY, "the last one's bytes");
	pair_close(e);
}

static void stream_of_records(const struct transport *t)
{
	unsigned char out[9000], in[9000];
	unsigned int seed = 11, i, wrong = 0;
	size_t offset = 0;
	struct end e[2];

	tp_pair(t, e);
	for (i = 0; i < 2000; i++) {
		size_t len = rand_r(&seed) % sizeof(out);

		stream_fill(out, len, offset);
		wrong += end_send(&e[0], out, len, 0) != (ssize_t)len;
		wrong += end_recv(&e[1], in, sizeof(in), 0) != (ssize_t)len;
		wrong += !stream_check(in, len, offset);
		offset += len;
	}
	trace_num(wrong, "wrong of 2000");
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "boundaries", boundaries, CASE_SEQPACKET | CASE_PATHS },
	{ "truncation", truncation, CASE_SEQPACKET | CASE_PATHS },
	{ "message_flags", message_flags, CASE_SEQPACKET | CASE_PATHS },
	{ "empty", empty, CASE_SEQPACKET | CASE_PATHS },
	{ "too_long", too_long, CASE_SEQPACKET | CASE_PATHS },
	{ "as_long_as_the_buffer", as_long_as_the_buffer, CASE_SEQPACKET | CASE_PATHS },
	{ "vectors", vectors, CASE_SEQPACKET | CASE_PATHS },
	{ "peek", peek, CASE_SEQPACKET | CASE_PATHS },
	{ "waitall", waitall, CASE_SEQPACKET | CASE_PATHS },
	{ "flags", flags, CASE_SEQPACKET | CASE_PATHS },
	{ "many_at_once", many_at_once, CASE_SEQPACKET | CASE_PATHS },
	{ "stream_of_records", stream_of_records, CASE_SEQPACKET | CASE_PATHS },
};

RUN_CASES(cases)
