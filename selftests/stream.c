// SPDX-License-Identifier: GPL-2.0
/* The byte stream: sizes, short reads, vectors, both directions at once. */
#define _GNU_SOURCE
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness.h"
#include "preloaded.h"

#define BIG	(4u << 20)

static void sizes(const struct transport *t)
{
	static const size_t lens[] = {
		1, 2, 7, 8, 9, 63, 64, 65, 511, 4095, 4096, 4097, 16384, 32767, 65535, 65536, 65537,
		131072, 262144 + 3, 1u << 20, BIG,
	};
	unsigned char *out = malloc(BIG), *in = malloc(BIG);
	size_t offset = 0, i;
	struct end e[2];

	MUST(out && in);
	tp_pair(t, e);
	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		int from = i & 1;
		struct call c = { &e[from], out, lens[i], 0 };
		struct task k;

		stream_fill(out, lens[i], offset);
		task_start(&k, call_send, &c);
		trace_num(end_recv_all(&e[!from], in, lens[i]), "received of %zu", lens[i]);
		trace_num(stream_check(in, lens[i], offset), "they are the bytes");
		NOTE(task_join(&k), "sent of %zu in one call", lens[i]);
		offset += lens[i];
	}
	pair_close(e);
	free(in);
	free(out);
}

/* Reads of odd sizes cut a stream that was written in other odd sizes. */
static void odd_reads(const struct transport *t)
{
	size_t total = 600000, sent = 0, got = 0;
	unsigned char *out = malloc(total), *in = malloc(total);
	unsigned int seed = 7;
	struct end e[2];

	MUST(out && in);
	stream_fill(out, total, 0);
	tp_pair(t, e);
	while (got < total) {
		size_t want = rand_r(&seed) % 9000;
		ssize_t n;

		if (want > total - sent)
			want = total - sent;
		n = end_send(&e[0], out + sent, want, MSG_DONTWAIT);
		if (n > 0)
			sent += n;
		n = end_recv(&e[1], in + got, 1 + rand_r(&seed) % 9000, MSG_DONTWAIT);
		if (n > 0)
			got += n;
	}
	trace_num(sent, "sent");
	trace_num(got, "received");
	trace_num(!memcmp(in, out, total), "the same bytes");
	pair_close(e);
	free(in);
	free(out);
}

static void short_reads(const struct transport *t)
{
	char buf[256];
	struct end e[2];

	tp_pair(t, e);
	NOTE(end_send(&e[0], memset(buf, 'a', 100), 100, 0), "send 100");
	NOTE(end_recv(&e[1], buf, 30, 0), "recv 30");
	NOTE(end_recv(&e[1], buf, 256, 0), "recv the rest");
	NOTE(end_recv(&e[1], buf, 256, MSG_DONTWAIT), "recv of nothing");
	NOTE(end_send(&e[0], "one", 3, 0), "send one");
	NOTE(end_send(&e[0], "two", 3, 0), "send two");
	tp_settle(t);
	NOTE(end_recv(&e[1], buf, 256, 0), "recv both");
	trace_bytes(buf, 6, "both");
	NOTE(end_send(&e[0], "", 0, 0), "send nothing");
	NOTE(end_recv(&e[1], buf, 256, MSG_DONTWAIT), "recv nothing");
	NOTE(end_send(&e[0], "some", 4, 0), "send some");
	tp_settle(t);
	NOTE(end_recv(&e[1], buf, 0, MSG_DONTWAIT), "recv of length 0, when there is some");
	NOTE(end_recv(&e[1], buf, 256, MSG_DONTWAIT), "recv some");
	pair_close(e);
}

static void length_zero(const struct transport *t)
{
	struct end e[2];
	char c;

	tp_pair(t, e);
	NOTE(end_recv(&e[1], &c, 0, MSG_DONTWAIT), "recv of length 0, when there is nothing");
	NOTE(end_recvv(&e[1], NULL, 0, MSG_DONTWAIT), "recvmsg without buffers");
	NOTE(end_sendv(&e[1], NULL, 0, MSG_DONTWAIT), "sendmsg without buffers");
	NOTE(read(e[1].fd, &c, 0), "read of length 0");
	NOTE(write(e[1].fd, &c, 0), "write of length 0");
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	NOTE(end_recv(&e[1], &c, 0, 0), "recv of length 0, at the end");
	pair_close(e);
}

static void vectors(const struct transport *t)
{
	struct iovec iov[64], back[40];
	unsigned char out[4096], in[4096];
	size_t at = 0, i;
	struct end e[2];

	stream_fill(out, sizeof(out), 0);
	memset(in, 0, sizeof(in));
	for (i = 0; i < 64; i++) {
		iov[i].iov_base = out + at;
		iov[i].iov_len = i % 7 ? i : 0;
		at += iov[i].iov_len;
	}
	for (i = 0; i < 40; i++) {
		back[i].iov_base = in + i * 100;
		back[i].iov_len = i % 5 ? 100 : 0;
	}
	tp_pair(t, e);
	NOTE(end_sendv(&e[0], iov, 64, 0), "send 64 buffers");
	tp_settle(t);
	NOTE(end_recvv(&e[1], back, 40, 0), "receive into 40 buffers");
	trace_bytes(in, sizeof(in), "what they hold");
	NOTE(writev(e[0].fd, iov, 64), "writev");
	tp_settle(t);
	NOTE(readv(e[1].fd, back, 40), "readv");
	trace_bytes(in, sizeof(in), "what they hold now");
	NOTE(end_sendv(&e[0], iov, 1, 0), "one buffer of length 0");
	NOTE(end_recvv(&e[1], back, 2, MSG_DONTWAIT), "receive of nothing");
	pair_close(e);
}

static void many_vectors(const struct transport *t)
{
	static struct iovec iov[IOV_MAX + 1];
	static unsigned char out[IOV_MAX + 1], in[IOV_MAX + 1];
	struct end e[2];
	int i;

	stream_fill(out, sizeof(out), 0);
	for (i = 0; i <= IOV_MAX; i++)
		iov[i] = (struct iovec){ out + i, 1 };
	tp_pair(t, e);
	NOTE(end_sendv(&e[0], iov, IOV_MAX, 0), "IOV_MAX buffers");
	NOTE(end_sendv(&e[0], iov, IOV_MAX + 1, 0), "one too many");
	tp_settle(t);
	NOTE(end_recv(&e[1], in, sizeof(in), MSG_WAITALL | MSG_DONTWAIT), "receive them");
	trace_bytes(in, IOV_MAX, "the bytes");
	NOTE(end_recvv(&e[1], iov, IOV_MAX + 1, MSG_DONTWAIT), "receive into one too many");
	pair_close(e);
}

static void unconnected(const struct transport *t)
{
	int fd = tp_socket(t, 0);
	char c;

	NOTE(send(fd, "x", 1, 0), "send");
	NOTE(send(fd, "", 0, 0), "send of nothing");
	NOTE(write(fd, "x", 1), "write");
	NOTE(recv(fd, &c, 1, 0), "recv");
	NOTE(recv(fd, &c, 1, MSG_DONTWAIT), "recv with DONTWAIT");
	NOTE(recv(fd, &c, 1, MSG_PEEK), "peek");
	NOTE(read(fd, &c, 1), "read");
	close(fd);
}

static void seek(const struct transport *t)
{
	struct end e[2];
	char c;

	tp_pair(t, e);
	NOTE(lseek(e[0].fd, 0, SEEK_SET), "lseek");
	NOTE(pread(e[0].fd, &c, 1, 0), "pread");
	NOTE(pwrite(e[0].fd, &c, 1, 0), "pwrite");
	NOTE(ftruncate(e[0].fd, 0), "ftruncate");
	NOTE(fsync(e[0].fd), "fsync");
	pair_close(e);
}

static void bad_pointers(const struct transport *t)
{
	struct iovec iov[2] = { { "good", 4 }, { bad_pointer(), 4 } };
	char buf[16] = "";
	struct end e[2];

	if (preloaded())
		trace_skip("the preload library has no EFAULT");
	tp_pair(t, e);
	NOTE(send(e[0].fd, bad_pointer(), 4, 0), "send from a bad pointer");
	NOTE(recv(e[1].fd, buf, 16, MSG_DONTWAIT), "nothing came");
	NOTE(send(e[0].fd, "abcd", 4, 0), "send");
	tp_settle(t);
	NOTE(recv(e[1].fd, bad_pointer(), 4, 0), "recv into a bad pointer");
	NOTE(recv(e[1].fd, buf, 16, MSG_DONTWAIT), "it is still there");
	trace_bytes(buf, 4, "the bytes");
	NOTE(writev(e[0].fd, &iov[1], 1), "writev from a bad pointer");
	NOTE(sendmsg(e[0].fd, bad_pointer(), 0), "sendmsg of a bad header");
	NOTE(recvmsg(e[0].fd, bad_pointer(), 0), "recvmsg of a bad header");
	pair_close(e);
}

/* Reading from another socket than was written to: the verbs by their names. */
static void plain_calls(const struct transport *t)
{
	char buf[32];
	struct end e[2];
	int i;

	tp_pair(t, e);
	for (i = 0; i < 6; i++) {
		NOTE(write(e[0].fd, "written", 7), "write");
		NOTE(end_recv(&e[1], buf, 7, MSG_WAITALL), "recv");
		trace_bytes(buf, 7, "the bytes");
		NOTE(end_send(&e[0], "sent", 4, 0), "send");
		NOTE(read(e[1].fd, buf, 32), "read");
		trace_bytes(buf, 4, "the bytes");
		NOTE(end_send(&e[0], "ab", 2, 0), "send ab");
		NOTE(write(e[0].fd, "cd", 2), "write cd");
		NOTE(end_send(&e[0], "ef", 2, 0), "send ef");
		NOTE(end_recv(&e[1], buf, 3, MSG_WAITALL), "recv 3");
		NOTE(read(e[1].fd, buf + 3, 1), "read 1");
		NOTE(end_recv(&e[1], buf + 4, 2, MSG_WAITALL), "recv 2");
		trace_bytes(buf, 6, "abcdef");
	}
	pair_close(e);
}

static void both_directions(const struct transport *t)
{
	size_t len = 1u << 20;
	unsigned char *out[2] = { malloc(len), malloc(len) }, *in[2] = { malloc(len), malloc(len) };
	struct call c[2], d[2];
	struct task k[2], l[2];
	struct end e[2];
	int i;

	tp_pair(t, e);
	for (i = 0; i < 2; i++) {
		MUST(out[i] && in[i]);
		stream_fill(out[i], len, i);
		c[i] = (struct call){ &e[i], out[i], len, 0 };
		d[i] = (struct call){ &e[i], in[i], len, 0 };
		task_start(&k[i], call_send_all, &c[i]);
		task_start(&l[i], call_recv_all, &d[i]);
	}
	for (i = 0; i < 2; i++) {
		NOTE(task_join(&k[i]), "sent by %d", i);
		NOTE(task_join(&l[i]), "received by %d", i);
	}
	for (i = 0; i < 2; i++)
		trace_num(stream_check(in[!i], len, i), "the bytes of %d", i);
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "sizes", sizes, CASE_ALL },
	{ "odd_reads", odd_reads, CASE_ALL },
	{ "short_reads", short_reads, CASE_ALL },
	{ "length_zero", length_zero, CASE_STREAM | CASE_PATHS },
	{ "vectors", vectors, CASE_ALL },
	{ "many_vectors", many_vectors, CASE_ALL },
	{ "unconnected", unconnected, CASE_BOTH },
	{ "seek", seek, CASE_BOTH },
	{ "bad_pointers", bad_pointers, CASE_BOTH | CASE_TCP },
	{ "plain_calls", plain_calls, CASE_ALL },
	{ "both_directions", both_directions, CASE_ALL },
};

RUN_CASES(cases)
