// SPDX-License-Identifier: GPL-2.0
/* io_uring, armed beforehand: polls, multishot operations, chains, cancelling. */
#define _GNU_SOURCE
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "uring.h"

static void polling(const struct transport *t)
{
	struct uring u;
	struct end e[2];
	char buf[16];
	int i;

	need_uring(&u);
	tp_pair(t, e);
	for (i = 0; i < 3; i++) {
		uring_prepare(&u, IORING_OP_POLL_ADD, e[1].fd, NULL, 0, 1)->poll32_events = POLLIN;
		NOTE(uring_submit(&u), "submit poll");
		note_none(&u, "it waits");
		NOTE(end_send(&e[0], "x", 1, 0), "send");
		note_completion(&u, "poll");
		NOTE(end_recv(&e[1], buf, 16, 0), "recv");
	}
	pair_close(e);
	uring_close(&u);
}

/* A multishot poll is not asked again: each publication must tell it. */
static void polling_multishot(const struct transport *t)
{
	struct io_uring_sqe *sqe;
	struct uring u;
	struct end e[2];
	char buf[16];
	int i;

	need_uring(&u);
	tp_pair(t, e);
	sqe = uring_prepare(&u, IORING_OP_POLL_ADD, e[1].fd, NULL, IORING_POLL_ADD_MULTI, 1);
	sqe->poll32_events = POLLIN;
	NOTE(uring_submit(&u), "submit multishot poll");
	note_none(&u, "it waits");
	for (i = 0; i < 5; i++) {
		NOTE(end_send(&e[0], "x", 1, 0), "send");
		note_completion(&u, "poll");
		NOTE(end_recv(&e[1], buf, 16, 0), "recv");
	}
	pair_close(e);
	uring_close(&u);
}

static void accepting_multishot(const struct transport *t)
{
	struct io_uring_cqe c;
	struct address a;
	struct uring u;
	int listener = tp_listen(t, 8, &a), i;

	need_uring(&u);
	uring_prepare(&u, IORING_OP_ACCEPT, listener, NULL, 0, 1)->ioprio =
		IORING_ACCEPT_MULTISHOT;
	NOTE(uring_submit(&u), "submit multishot accept");
	for (i = 0; i < 5; i++) {
		int client = tp_connect(t, &a);

		trace_num(uring_wait(&u, &c, URING_SOON_MS) && c.res >= 0, "accept %d", i);
		trace_num(!!(c.flags & IORING_CQE_F_MORE), "there will be more");
		close(client);
		close(c.res);
	}
	close(listener);
	uring_close(&u);
}

#define BUFFERS		8
#define BUFFER		64

static void recv_multishot(const struct transport *t)
{
	static char pool[BUFFERS][BUFFER];
	struct io_uring_sqe *sqe;
	struct io_uring_cqe c;
	struct uring u;
	struct end e[2];
	int i;

	need_uring(&u);
	if (!uring_has(IORING_OP_SEND_ZC))	/* came with the kernel that has multishot recv */
		trace_skip("the kernel has no multishot recv");
	tp_pair(t, e);
	sqe = uring_prepare(&u, IORING_OP_PROVIDE_BUFFERS, BUFFERS, pool, BUFFER, 1);
	sqe->buf_group = 7;
	NOTE(uring_submit(&u), "submit buffers");
	note_completion(&u, "buffers");
	sqe = uring_prepare(&u, IORING_OP_RECV, e[1].fd, NULL, 0, 2);
	sqe->ioprio = IORING_RECV_MULTISHOT;
	sqe->flags = IOSQE_BUFFER_SELECT;
	sqe->buf_group = 7;
	NOTE(uring_submit(&u), "submit multishot recv");
	note_none(&u, "it waits");
	for (i = 0; i < 5; i++) {
		NOTE(end_send(&e[0], "abcde", i + 1, 0), "send");
		trace_num(uring_wait(&u, &c, URING_SOON_MS), "recv %d", i);
		trace_num(c.res, "its bytes");
		trace_num(!!(c.flags & IORING_CQE_F_MORE), "there will be more");
		trace_bytes(pool[c.flags >> IORING_CQE_BUFFER_SHIFT], c.res > 0 ? c.res : 0,
			    "the bytes");
	}
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	note_completion(&u, "the end");
	pair_close(e);
	uring_close(&u);
}

/* A chain: the second is done only when the first is. */
static void linked(const struct transport *t)
{
	struct uring u;
	struct end e[2];
	char buf[16];

	need_uring(&u);
	tp_pair(t, e);
	uring_prepare(&u, IORING_OP_RECV, e[1].fd, buf, 4, 1)->flags = IOSQE_IO_LINK;
	uring_prepare(&u, IORING_OP_SEND, e[1].fd, "reply", 5, 2);
	NOTE(uring_submit(&u), "submit recv and send");
	note_none(&u, "they wait");
	NOTE(end_send(&e[0], "call", 4, 0), "send");
	NOTE(end_recv(&e[0], buf, 5, MSG_WAITALL), "recv");
	note_completion(&u, "one");
	note_completion(&u, "other");
	pair_close(e);
	uring_close(&u);
}

static void cancelled(const struct transport *t)
{
	struct uring u;
	struct end e[2];
	char buf[16];

	need_uring(&u);
	tp_pair(t, e);
	uring_prepare(&u, IORING_OP_RECV, e[1].fd, buf, 16, 77);
	NOTE(uring_submit(&u), "submit recv");
	note_none(&u, "it waits");
	uring_prepare(&u, IORING_OP_ASYNC_CANCEL, -1, (void *)77, 0, 78);
	NOTE(uring_submit(&u), "submit cancel");
	note_completion(&u, "one");
	note_completion(&u, "other");
	NOTE(end_send(&e[0], "x", 1, 0), "send");
	NOTE(end_recv(&e[1], buf, 16, 0), "recv");
	pair_close(e);
	uring_close(&u);
}

static void ends(const struct transport *t)
{
	struct uring u;
	struct end e[2];
	char buf[16];

	need_uring(&u);
	tp_pair(t, e);
	uring_prepare(&u, IORING_OP_RECV, e[1].fd, buf, 16, 1);
	NOTE(uring_submit(&u), "submit recv");
	note_none(&u, "it waits");
	end_close(&e[0]);
	note_completion(&u, "recv at the end");
	end_close(&e[1]);
	uring_close(&u);
}

static const struct test_case cases[] = {
	{ "polling", polling, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "polling_multishot", polling_multishot, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "accepting_multishot", accepting_multishot, CASE_BOTH | CASE_TCP },
	{ "recv_multishot", recv_multishot, CASE_STREAM | CASE_TCP | CASE_PATHS },
	{ "linked", linked, CASE_STREAM | CASE_TCP | CASE_PATHS },
	{ "cancelled", cancelled, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "ends", ends, CASE_BOTH | CASE_TCP | CASE_PATHS },
};

RUN_CASES(cases)
