// SPDX-License-Identifier: GPL-2.0
/* sendfile, splice and tee: between sockets, pipes and files. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "harness.h"

#define TOTAL	(700 * 1000)

static int make_file(size_t len)
{
	char *buf = malloc(len);
	char name[] = "/tmp/speed-splice-XXXXXX";
	int fd = mkstemp(name);

	MUST(buf && fd >= 0);
	unlink(name);
	stream_fill(buf, len, 0);
	MUST(write(fd, buf, len) == (ssize_t)len);
	free(buf);
	return fd;
}

static void small_file(const struct transport *t)
{
	int file = make_file(10000);
	unsigned char in[10000];
	struct end e[2];
	off_t at = 100;
	int i;

	tp_pair(t, e);
	for (i = 0; i < 3; i++) {
		NOTE(sendfile(e[0].fd, file, &at, 5000), "sendfile from an offset");
		trace_num(at, "the offset then");
		NOTE(end_recv_all(&e[1], in, 5000), "recv");
		trace_num(stream_check(in, 5000, at - 5000), "the bytes");
		at = 100 + i;
		NOTE(end_send(&e[0], "between", 7, 0), "send between");
		NOTE(end_recv_all(&e[1], in, 7), "recv");
	}
	lseek(file, 0, SEEK_SET);
	NOTE(sendfile(e[0].fd, file, NULL, 20000), "sendfile of more than there is");
	NOTE(end_recv_all(&e[1], in, 10000), "recv");
	trace_num(stream_check(in, 10000, 0), "the bytes");
	NOTE(sendfile(e[0].fd, file, NULL, 100), "sendfile at the file's end");
	NOTE(sendfile(e[0].fd, e[1].fd, NULL, 100), "sendfile from a socket");
	pair_close(e);
	close(file);
}

static long send_whole_file(void *arg)
{
	struct { int socket, file; } *s = arg;
	size_t done = 0;
	ssize_t n;

	while ((n = sendfile(s->socket, s->file, NULL, TOTAL)) > 0)
		done += n;
	return n < 0 ? n : (long)done;
}

static void big_file(const struct transport *t)
{
	struct { int socket, file; } s = { -1, make_file(TOTAL) };
	unsigned char *in = malloc(TOTAL);
	struct end e[2];
	struct task k;

	MUST(in);
	lseek(s.file, 0, SEEK_SET);
	tp_pair(t, e);
	s.socket = e[0].fd;
	task_start(&k, send_whole_file, &s);
	NOTE(end_recv_all(&e[1], in, TOTAL), "recv");
	NOTE(task_join(&k), "sendfile");
	trace_num(stream_check(in, TOTAL, 0), "the bytes");
	pair_close(e);
	close(s.file);
	free(in);
}

/* A file that changes after sendfile() has returned: what was sent is sent. */
static void file_changes(const struct transport *t)
{
	int file = make_file(4096);
	char in[4096];
	struct end e[2];
	off_t at = 0;

	tp_pair(t, e);
	NOTE(sendfile(e[0].fd, file, &at, 4096), "sendfile");
	NOTE(end_recv(&e[1], in, 4096, MSG_PEEK | MSG_WAITALL), "peek");
	trace_num(stream_check(in, 4096, 0), "the bytes");
	NOTE(end_recv_all(&e[1], in, 4096), "recv");
	pair_close(e);
	close(file);
}

static void to_pipe(const struct transport *t)
{
	unsigned char buf[4000];
	struct end e[2];
	int p[2], i;

	MUST(pipe(p) == 0);
	tp_pair(t, e);
	for (i = 0; i < 3; i++) {
		stream_fill(buf, sizeof(buf), i);
		NOTE(end_send(&e[0], buf, 4000, 0), "send");
		tp_settle(t);
		NOTE(splice(e[1].fd, NULL, p[1], NULL, 1000, 0), "splice a part");
		NOTE(splice(e[1].fd, NULL, p[1], NULL, 100000, 0), "splice the rest");
		NOTE(read(p[0], buf, 4000), "read the pipe");
		trace_num(stream_check(buf, 4000, i), "the bytes");
	}
	NOTE(splice(e[1].fd, NULL, p[1], NULL, 1000, SPLICE_F_NONBLOCK), "splice of nothing");
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	tp_settle(t);
	NOTE(splice(e[1].fd, NULL, p[1], NULL, 1000, 0), "splice at the end");
	pair_close(e);
	close(p[0]);
	close(p[1]);
}

/* What was spliced out is a copy: later traffic does not change it. */
static void to_pipe_stays(const struct transport *t)
{
	size_t len = 30000;
	unsigned char *buf = malloc(len), *in = malloc(len);
	struct end e[2];
	int p[2], i;
	ssize_t n = 0;

	MUST(buf && in && pipe(p) == 0);
	tp_pair_sized(t, e, 65536);
	stream_fill(buf, len, 0);
	NOTE(end_send(&e[0], buf, len, 0), "send");
	tp_settle(t);
	while (n < (ssize_t)len) {
		ssize_t got = splice(e[1].fd, NULL, p[1], NULL, len - n, 0);

		MUST(got > 0);
		n += got;
	}
	/* Round the ring several times with other bytes. */
	for (i = 0; i < 12; i++) {
		memset(buf, i, len);
		MUST(end_send_all(&e[0], buf, len) == (ssize_t)len);
		MUST(end_recv_all(&e[1], in, len) == (ssize_t)len);
	}
	for (n = 0; n < (ssize_t)len;) {
		ssize_t got = read(p[0], in + n, len - n);

		MUST(got > 0);
		n += got;
	}
	trace_num(stream_check(in, len, 0), "the spliced bytes are as they were");
	pair_close(e);
	free(in);
	free(buf);
}

static long splice_out(void *arg)
{
	struct { int socket, pipe; } *s = arg;

	return splice(s->socket, NULL, s->pipe, NULL, 100, 0);
}

static void to_pipe_waits(const struct transport *t)
{
	struct { int socket, pipe; } s;
	struct end e[2];
	struct task k;
	char buf[8];
	int p[2];

	MUST(pipe(p) == 0);
	tp_pair(t, e);
	s.socket = e[1].fd;
	s.pipe = p[1];
	task_start(&k, splice_out, &s);
	trace_num(task_sleeps(&k), "splice waits");
	NOTE(end_send(&e[0], "abc", 3, 0), "send");
	NOTE(task_join(&k), "splice");
	NOTE(read(p[0], buf, 8), "read the pipe");
	task_start(&k, splice_out, &s);
	trace_num(task_sleeps(&k), "splice waits");
	end_close(&e[0]);
	NOTE(task_join(&k), "splice at the end");
	end_close(&e[1]);
}

static void from_pipe(const struct transport *t)
{
	unsigned char buf[4000];
	struct end e[2];
	int p[2], i;

	MUST(pipe(p) == 0);
	tp_pair(t, e);
	for (i = 0; i < 3; i++) {
		stream_fill(buf, sizeof(buf), i);
		NOTE(write(p[1], buf, 4000), "write the pipe");
		NOTE(splice(p[0], NULL, e[0].fd, NULL, 1000, SPLICE_F_MORE), "splice a part");
		NOTE(splice(p[0], NULL, e[0].fd, NULL, 100000, 0), "splice the rest");
		NOTE(end_recv_all(&e[1], buf, 4000), "recv");
		trace_num(stream_check(buf, 4000, i), "the bytes");
	}
	NOTE(splice(p[0], NULL, e[0].fd, NULL, 100, SPLICE_F_NONBLOCK), "splice of nothing");
	close(p[1]);
	NOTE(splice(p[0], NULL, e[0].fd, NULL, 100, 0), "splice of a pipe's end");
	NOTE(splice(e[0].fd, NULL, e[1].fd, NULL, 100, 0), "splice without a pipe");
	NOTE(vmsplice(e[0].fd, &(struct iovec){ buf, 10 }, 1, 0), "vmsplice");
	pair_close(e);
}

static void from_pipe_closed(const struct transport *t)
{
	struct end e[2];
	int p[2];

	MUST(pipe(p) == 0);
	tp_pair(t, e);
	end_close(&e[1]);
	NOTE(write(p[1], "abc", 3), "write the pipe");
	NOTE(splice(p[0], NULL, e[0].fd, NULL, 3, 0), "splice to a closed peer");
	end_close(&e[0]);
}

static void from_pipe_full(const struct transport *t)
{
	static char buf[60000];
	struct end e[2];
	int p[2];

	MUST(pipe(p) == 0);
	tp_pair(t, e);
	end_fill(&e[0], 4096);
	while (end_send(&e[0], buf, 1, MSG_DONTWAIT) == 1)
		;
	MUST(set_nonblock(e[0].fd, true) == 0);
	NOTE(write(p[1], buf, sizeof(buf)), "write the pipe");
	NOTE(splice(p[0], NULL, e[0].fd, NULL, sizeof(buf), SPLICE_F_NONBLOCK),
	     "splice to a full socket");
	pair_close(e);
}

/* Through: a pipe in the middle of two connections, as a proxy has it. */
struct through {
	int from, to;
};

static long forward(void *arg)
{
	struct through *h = arg;
	int p[2];
	ssize_t n;

	MUST(pipe(p) == 0);
	while ((n = splice(h->from, NULL, p[1], NULL, 65536, SPLICE_F_MOVE)) > 0) {
		while (n > 0) {
			ssize_t m = splice(p[0], NULL, h->to, NULL, n, SPLICE_F_MOVE);

			if (m <= 0)
				return -1;
			n -= m;
		}
	}
	shutdown(h->to, SHUT_WR);
	return n;
}

static void proxy(const struct transport *t)
{
	unsigned char *out = malloc(TOTAL), *in = malloc(TOTAL);
	struct end a[2], b[2];
	struct through h;
	struct task k, l;
	struct call c;

	MUST(out && in);
	stream_fill(out, TOTAL, 0);
	tp_pair(t, a);
	tp_pair(t, b);
	h = (struct through){ a[1].fd, b[0].fd };
	c = (struct call){ &a[0], out, TOTAL, 0 };
	task_start(&k, forward, &h);
	task_start(&l, call_send_all, &c);
	NOTE(end_recv_all(&b[1], in, TOTAL), "recv");
	NOTE(task_join(&l), "send");
	NOTE(shutdown(a[0].fd, SHUT_WR), "shutdown");
	NOTE(task_join(&k), "the proxy");
	NOTE(end_recv(&b[1], in + 1, 1, 0), "the end");
	in[1] = out[1];
	trace_num(stream_check(in, TOTAL, 0), "the bytes");
	pair_close(a);
	pair_close(b);
	free(in);
	free(out);
}

static void teed(const struct transport *t)
{
	int p[2], q[2];
	struct end e[2];
	char buf[16];

	MUST(pipe(p) == 0 && pipe(q) == 0);
	tp_pair(t, e);
	NOTE(end_send(&e[0], "abcdef", 6, 0), "send");
	tp_settle(t);
	NOTE(splice(e[1].fd, NULL, p[1], NULL, 100, 0), "splice");
	NOTE(tee(p[0], q[1], 100, 0), "tee");
	NOTE(splice(p[0], NULL, e[1].fd, NULL, 100, 0), "splice back");
	NOTE(end_recv(&e[0], buf, 16, 0), "recv");
	trace_bytes(buf, 6, "the bytes");
	NOTE(read(q[0], buf, 16), "read the other pipe");
	trace_bytes(buf, 6, "the bytes");
	NOTE(tee(e[0].fd, q[1], 10, 0), "tee of a socket");
	pair_close(e);
}

/* Of messages each call makes one, and what comes between stays between. */
static void messages(const struct transport *t)
{
	int file = make_file(4096), p[2], i;
	unsigned char in[8192];
	struct end e[2];
	ssize_t n;

	tp_pair(t, e);
	MUST(pipe(p) == 0);
	for (i = 0; i < 3; i++) {
		off_t at = 100 * i;

		NOTE(sendfile(e[0].fd, file, &at, 1000 + i), "sendfile");
		NOTE(end_send(&e[0], "between", 7, 0), "send");
		n = end_recv(&e[1], in, sizeof(in), 0);
		NOTE(n, "a message");
		trace_num(stream_check(in, n, 100 * i), "its bytes");
		NOTE(end_recv(&e[1], in, sizeof(in), 0), "the one between");
	}
	stream_fill(in, 800, 0);
	NOTE(write(p[1], in, 800), "write to the pipe");
	for (i = 0; i < 2; i++)
		NOTE(splice(p[0], NULL, e[0].fd, NULL, 500, 0), "splice to the socket");
	for (i = 0; i < 2; i++) {
		n = end_recv(&e[1], in, sizeof(in), 0);
		NOTE(n, "a message");
		trace_num(stream_check(in, n, 500 * i), "its bytes");
	}
	pair_close(e);
	close(p[0]);
	close(p[1]);
	close(file);
}

struct splice_call {
	int from, to;
};

static long call_splice_now(void *arg)
{
	const struct splice_call *c = arg;

	return splice(c->from, NULL, c->to, NULL, 10, SPLICE_F_NONBLOCK);
}

/* There is no message: the flag need not make the call end, see exceptions.h. */
static void splice_of_none(struct end e[2], const int p[2])
{
	struct splice_call c = { e[1].fd, p[1] };
	struct task k;
	bool waits;
	char in[16];

	task_start(&k, call_splice_now, &c);
	waits = task_sleeps(&k);
	trace_num(waits, "SPLICE_F_NONBLOCK waits");
	if (waits)
		MUST(end_send(&e[0], "x", 1, 0) == 1);
	NOTE(task_join(&k), "SPLICE_F_NONBLOCK");
	if (waits)
		MUST(read(p[0], in, sizeof(in)) == 1);
}

/* A call takes one, of which what it has no room for is lost, as in recv(). */
static void messages_to_pipe(const struct transport *t)
{
	static const size_t len[] = { 10, 5000, 100, 70 }, room[] = { 8192, 8192, 50, 70 };
	unsigned char out[5000], in[8192];
	struct end e[2];
	int p[2], i;

	tp_pair(t, e);
	MUST(pipe(p) == 0);
	for (i = 0; i < 4; i++) {
		stream_fill(out, len[i], i);
		WANT(end_send(&e[0], out, len[i], 0), len[i], 0, "%d: send", i);
	}
	for (i = 0; i < 4; i++) {
		size_t want = len[i] < room[i] ? len[i] : room[i];

		WANT(splice(e[1].fd, NULL, p[1], NULL, room[i], 0), want, 0, "%d: splice", i);
		WANT(read(p[0], in, sizeof(in)), want, 0, "%d: in the pipe", i);
		WANT_TRUE(stream_check(in, want, i), "%d: its bytes", i);
	}
	splice_of_none(e, p);
	MUST(!set_nonblock(e[1].fd, true));
	WANT_ERR(splice(e[1].fd, NULL, p[1], NULL, 10, 0), EAGAIN, "no message");
	WANT_OK(shutdown(e[0].fd, SHUT_WR), "shutdown");
	WANT(splice(e[1].fd, NULL, p[1], NULL, 10, 0), 0, 0, "the end");
	pair_close(e);
	close(p[0]);
	close(p[1]);
}

static const struct test_case cases[] = {
	{ "small_file", small_file, CASE_ALL },
	{ "big_file", big_file, CASE_ALL | CASE_UNMAPPED },
	{ "file_changes", file_changes, CASE_ALL | CASE_UNMAPPED },
	{ "to_pipe", to_pipe, CASE_STREAM | CASE_PATHS },
	{ "to_pipe_stays", to_pipe_stays, CASE_ALL },
	{ "to_pipe_waits", to_pipe_waits, CASE_ALL },
	{ "from_pipe", from_pipe, CASE_ALL },
	{ "from_pipe_closed", from_pipe_closed, CASE_STREAM | CASE_PATHS },
	{ "from_pipe_full", from_pipe_full, CASE_STREAM | CASE_PATHS },
	{ "messages", messages, CASE_SEQPACKET | CASE_PATHS },
	{ "messages_to_pipe", messages_to_pipe, CASE_SEQPACKET | CASE_PATHS },
	{ "proxy", proxy, CASE_ALL },
	{ "teed", teed, CASE_ALL },
};

RUN_CASES(cases)
