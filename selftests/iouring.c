// SPDX-License-Identifier: GPL-2.0
/* io_uring: each operation that takes a socket. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness.h"
#include "uring.h"

static void send_recv(const struct transport *t)
{
	struct uring u;
	struct end e[2];
	char buf[64];
	int i;

	need_uring(&u);
	tp_pair(t, e);
	for (i = 0; i < 4; i++) {
		uring_prepare(&u, IORING_OP_SEND, e[0].fd, "by ring", 7, 1);
		NOTE(uring_submit(&u), "submit send");
		note_completion(&u, "send");
		NOTE(end_recv(&e[1], buf, 64, 0), "recv");
		trace_bytes(buf, 7, "the bytes");
		NOTE(end_send(&e[0], "by call", 7, 0), "send");
		uring_prepare(&u, IORING_OP_RECV, e[1].fd, buf, 64, 2);
		NOTE(uring_submit(&u), "submit recv");
		note_completion(&u, "recv");
		trace_bytes(buf, 7, "the bytes");
		uring_prepare(&u, IORING_OP_RECV, e[1].fd, buf, 64, 3);
		NOTE(uring_submit(&u), "submit recv of what is not there yet");
		note_none(&u, "it waits");
		NOTE(end_send(&e[0], "later", 5, 0), "send");
		note_completion(&u, "recv");
		trace_bytes(buf, 5, "the bytes");
	}
	pair_close(e);
	uring_close(&u);
}

static void dontwait(const struct transport *t)
{
	struct uring u;
	struct end e[2];
	char buf[64];

	need_uring(&u);
	tp_pair(t, e);
	uring_prepare(&u, IORING_OP_RECV, e[1].fd, buf, 64, 1)->msg_flags = MSG_DONTWAIT;
	NOTE(uring_submit(&u), "submit recv with DONTWAIT");
	note_completion(&u, "recv");
	NOTE(set_nonblock(e[1].fd, true), "O_NONBLOCK");
	uring_prepare(&u, IORING_OP_RECV, e[1].fd, buf, 64, 2);
	NOTE(uring_submit(&u), "submit recv");
	note_none(&u, "a ring waits for the socket, non-blocking or not");
	NOTE(end_send(&e[0], "x", 1, 0), "send");
	note_completion(&u, "recv, non-blocking");
	pair_close(e);
	uring_close(&u);
}

static void read_write(const struct transport *t)
{
	char a[8], b[8], fixed[4096];
	struct iovec out[2] = { { "first", 5 }, { "second", 6 } }, in[2] = { { a, 4 }, { b, 8 } };
	struct iovec reg = { fixed, sizeof(fixed) };
	struct uring u;
	struct end e[2];

	need_uring(&u);
	tp_pair(t, e);
	uring_prepare(&u, IORING_OP_WRITEV, e[0].fd, out, 2, 1);
	NOTE(uring_submit(&u), "submit writev");
	note_completion(&u, "writev");
	tp_settle(t);
	uring_prepare(&u, IORING_OP_READV, e[1].fd, in, 2, 2);
	NOTE(uring_submit(&u), "submit readv");
	note_completion(&u, "readv");
	trace_bytes(a, 4, "the one buffer");
	trace_bytes(b, 7, "the other");
	uring_prepare(&u, IORING_OP_READV, e[1].fd, in, 2, 3);
	NOTE(uring_submit(&u), "submit readv of what is not there");
	note_none(&u, "it waits");
	uring_prepare(&u, IORING_OP_WRITE, e[0].fd, "third", 5, 4);
	NOTE(uring_submit(&u), "submit write");
	note_completion(&u, "one");
	note_completion(&u, "other");

	NOTE(syscall(SYS_io_uring_register, u.fd, IORING_REGISTER_BUFFERS, &reg, 1), "register");
	strcpy(fixed, "fixed");
	uring_prepare(&u, IORING_OP_WRITE_FIXED, e[0].fd, fixed, 5, 5);
	NOTE(uring_submit(&u), "submit write of a fixed buffer");
	note_completion(&u, "write");
	tp_settle(t);
	uring_prepare(&u, IORING_OP_READ_FIXED, e[1].fd, fixed + 100, 100, 6);
	NOTE(uring_submit(&u), "submit read into a fixed buffer");
	note_completion(&u, "read");
	trace_bytes(fixed + 100, 5, "the bytes");
	pair_close(e);
	uring_close(&u);
}

static void messages(const struct transport *t)
{
	char buf[16];
	struct iovec out = { "message", 7 }, in = { buf, sizeof(buf) };
	struct msghdr mo = { .msg_iov = &out, .msg_iovlen = 1 };
	struct msghdr mi = { .msg_iov = &in, .msg_iovlen = 1 };
	struct uring u;
	struct end e[2];

	need_uring(&u);
	tp_pair(t, e);
	uring_prepare(&u, IORING_OP_RECVMSG, e[1].fd, &mi, 1, 1);
	NOTE(uring_submit(&u), "submit recvmsg");
	note_none(&u, "it waits");
	uring_prepare(&u, IORING_OP_SENDMSG, e[0].fd, &mo, 1, 2);
	NOTE(uring_submit(&u), "submit sendmsg");
	note_completion(&u, "one");
	note_completion(&u, "other");
	trace_bytes(buf, 7, "the bytes");
	pair_close(e);
	uring_close(&u);
}

static void accepting(const struct transport *t)
{
	struct io_uring_cqe c;
	struct address a;
	struct uring u;
	int listener = tp_listen(t, 4, &a), client;

	need_uring(&u);
	uring_prepare(&u, IORING_OP_ACCEPT, listener, NULL, 0, 1)->accept_flags = SOCK_CLOEXEC;
	NOTE(uring_submit(&u), "submit accept");
	note_none(&u, "it waits");
	client = tp_connect(t, &a);
	trace_num(uring_wait(&u, &c, URING_SOON_MS) && c.res >= 0, "accept");
	NOTE(send(client, "x", 1, 0), "send");
	NOTE(recv(c.res, &(char){ 0 }, 1, 0), "recv");
	close(client);
	close(listener);
	uring_close(&u);
}

static void connecting(const struct transport *t)
{
	struct address a, nobody;
	struct uring u;
	int listener = tp_listen(t, 4, &a), fd = tp_socket(t, 0);

	need_uring(&u);
	tp_address(t, &nobody);
	uring_prepare(&u, IORING_OP_CONNECT, fd, &nobody.sa, 0, 1)->off = nobody.len;
	NOTE(uring_submit(&u), "submit connect");
	note_completion(&u, "connect where nobody is");
	uring_prepare(&u, IORING_OP_CONNECT, fd, &a.sa, 0, 2)->off = a.len;
	NOTE(uring_submit(&u), "submit connect");
	note_completion(&u, "connect");
	uring_prepare(&u, IORING_OP_SHUTDOWN, fd, NULL, SHUT_WR, 3);
	NOTE(uring_submit(&u), "submit shutdown");
	note_completion(&u, "shutdown");
	NOTE(send(fd, "x", 1, 0), "send");
	close(fd);
	close(listener);
	uring_close(&u);
}

static const struct test_case cases[] = {
	{ "send_recv", send_recv, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "dontwait", dontwait, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "read_write", read_write, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "messages", messages, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "accepting", accepting, CASE_BOTH | CASE_TCP },
	{ "connecting", connecting, CASE_BOTH | CASE_TCP },
};

RUN_CASES(cases)
