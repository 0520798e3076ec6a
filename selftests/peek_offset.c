// SPDX-License-Identifier: GPL-2.0
/* SO_PEEK_OFF: where a peek begins, and how it moves. */
#define _GNU_SOURCE
#include <string.h>

#include "harness.h"

static void in_one(const struct transport *t)
{
	struct end e[2];
	char buf[16];

	tp_pair(t, e);
	NOTE(get_int(e[1].fd, SOL_SOCKET, SO_PEEK_OFF), "SO_PEEK_OFF at first");
	NOTE(set_int(e[1].fd, SOL_SOCKET, SO_PEEK_OFF, 2), "set 2");
	NOTE(get_int(e[1].fd, SOL_SOCKET, SO_PEEK_OFF), "it is now");
	NOTE(end_send(&e[0], "abcdefgh", 8, 0), "send");
	memset(buf, 0, sizeof(buf));
	NOTE(end_recv(&e[1], buf, 3, MSG_PEEK | MSG_DONTWAIT), "peek");
	trace_bytes(buf, 3, "the bytes");
	NOTE(get_int(e[1].fd, SOL_SOCKET, SO_PEEK_OFF), "it is now");
	NOTE(end_recv(&e[1], buf, 16, MSG_PEEK | MSG_DONTWAIT), "peek at the rest");
	trace_bytes(buf, 3, "the bytes");
	NOTE(get_int(e[1].fd, SOL_SOCKET, SO_PEEK_OFF), "it is now");
	NOTE(end_recv(&e[1], buf, 4, MSG_DONTWAIT), "recv 4");
	NOTE(get_int(e[1].fd, SOL_SOCKET, SO_PEEK_OFF), "it is now");
	NOTE(set_int(e[1].fd, SOL_SOCKET, SO_PEEK_OFF, -1), "no more of it");
	NOTE(end_recv(&e[1], buf, 16, MSG_PEEK | MSG_DONTWAIT), "peek");
	pair_close(e);
}

/* Over several messages, or pieces: an offset passes over those that it has behind it. */
static void over_several(const struct transport *t)
{
	struct end e[2];
	char buf[16];
	int i;

	tp_pair(t, e);
	NOTE(set_int(e[1].fd, SOL_SOCKET, SO_PEEK_OFF, 0), "SO_PEEK_OFF");
	NOTE(end_send(&e[0], "first", 5, 0), "send");
	NOTE(end_send(&e[0], "second", 6, 0), "send");
	for (i = 0; i < 4; i++) {
		memset(buf, 0, sizeof(buf));
		NOTE(end_recv(&e[1], buf, i ? 5 : 3, MSG_PEEK | MSG_DONTWAIT), "peek");
		trace_bytes(buf, 5, "the bytes");
		NOTE(get_int(e[1].fd, SOL_SOCKET, SO_PEEK_OFF), "it is now");
	}
	NOTE(set_timeout(e[1].fd, SO_RCVTIMEO, 60), "SO_RCVTIMEO");
	NOTE(set_int(e[1].fd, SOL_SOCKET, SO_PEEK_OFF, 11), "behind all");
	/* Linux 6.1 has AF_UNIX begin anew with a stream there. */
	if (t->type == SOCK_SEQPACKET)
		NOTE(end_recv(&e[1], buf, 5, MSG_PEEK), "peek waits");
	NOTE(end_send(&e[0], "third", 5, 0), "send");
	NOTE(end_recv(&e[1], buf, 16, MSG_PEEK), "peek");
	NOTE(end_recv(&e[1], buf, 5, 0), "recv");
	NOTE(get_int(e[1].fd, SOL_SOCKET, SO_PEEK_OFF), "it is now");
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	NOTE(end_recv(&e[1], buf, 16, MSG_PEEK), "peek, at the end");
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "in_one", in_one, CASE_BOTH | CASE_PATHS },
	{ "over_several", over_several, CASE_BOTH | CASE_PATHS },
};

RUN_CASES(cases)
