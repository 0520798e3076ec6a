// SPDX-License-Identifier: GPL-2.0
/*
 * Flags of send and recv that mean nothing to a byte stream: TCP, which is the reference
 * here, takes no notice of them, and no more do AF_SPEED and fused TCP.
 */
#define _GNU_SOURCE
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>

#include "harness.h"

#define SOON_MS		10000
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

struct flag {
	const char *name;
	int flags;
};

static const struct flag sent[] = {
	{ "MSG_CONFIRM", MSG_CONFIRM }, { "MSG_DONTROUTE", MSG_DONTROUTE },
	{ "MSG_CMSG_CLOEXEC", MSG_CMSG_CLOEXEC }, { "MSG_EOR", MSG_EOR },
	{ "MSG_TRUNC", MSG_TRUNC }, { "MSG_PEEK", MSG_PEEK }, { "MSG_WAITALL", MSG_WAITALL },
	{ "MSG_ERRQUEUE", MSG_ERRQUEUE }, { "MSG_SYN", MSG_SYN }, { "MSG_RST", MSG_RST },
	{ "MSG_FIN", MSG_FIN }, { "MSG_WAITFORONE", MSG_WAITFORONE },
	{ "bit 21", 1 << 21 }, { "bit 24", 1 << 24 }, { "bit 28", 1 << 28 },
	{ "all of these", MSG_CONFIRM | MSG_DONTROUTE | MSG_CMSG_CLOEXEC | 1 << 28 },
};

static const struct flag received[] = {
	{ "MSG_CONFIRM", MSG_CONFIRM }, { "MSG_DONTROUTE", MSG_DONTROUTE },
	{ "MSG_CMSG_CLOEXEC", MSG_CMSG_CLOEXEC }, { "MSG_EOR", MSG_EOR },
	{ "MSG_MORE", MSG_MORE }, { "MSG_NOSIGNAL", MSG_NOSIGNAL }, { "MSG_SYN", MSG_SYN },
	{ "MSG_RST", MSG_RST }, { "MSG_FIN", MSG_FIN }, { "MSG_WAITFORONE", MSG_WAITFORONE },
	{ "MSG_ZEROCOPY", MSG_ZEROCOPY }, { "MSG_FASTOPEN", MSG_FASTOPEN },
	{ "bit 21", 1 << 21 }, { "bit 24", 1 << 24 }, { "bit 28", 1 << 28 },
	{ "all of these", MSG_CONFIRM | MSG_DONTROUTE | MSG_CMSG_CLOEXEC | 1 << 28 },
};

static void note_received(struct end *e, int flags, const char *name)
{
	char buf[16] = "";

	MUST(poll_wait(e->fd, POLLIN, SOON_MS));
	NOTE(end_recv(e, buf, sizeof(buf), flags), "recv, %s", name);
	trace_bytes(buf, 3, "the bytes");
	NOTE(end_recv(e, buf, sizeof(buf), flags | MSG_DONTWAIT), "no more, %s", name);
}

static void sending(const struct transport *t)
{
	struct iovec iov[2] = { { "a", 1 }, { "bc", 2 } };
	struct end e[2];
	size_t i;

	tp_pair(t, e);
	for (i = 0; i < COUNT(sent); i++) {
		NOTE(end_send(&e[0], "abc", 3, sent[i].flags), "send, %s", sent[i].name);
		note_received(&e[1], 0, sent[i].name);
		NOTE(end_sendv(&e[0], iov, 2, sent[i].flags), "sendmsg, %s", sent[i].name);
		note_received(&e[1], 0, sent[i].name);
	}
	pair_close(e);
}

static void receiving(const struct transport *t)
{
	struct end e[2];
	char buf[16];
	size_t i;

	tp_pair(t, e);
	for (i = 0; i < COUNT(received); i++) {
		NOTE(end_send(&e[0], "abc", 3, 0), "send");
		note_received(&e[1], received[i].flags, received[i].name);
		NOTE(end_send(&e[0], "defg", 4, 0), "send");
		MUST(poll_wait(e[1].fd, POLLIN, SOON_MS));
		NOTE(end_recv(&e[1], buf, 4, received[i].flags | MSG_PEEK), "peek");
		NOTE(end_recv(&e[1], buf, 4, received[i].flags | MSG_WAITALL), "all of it");
		trace_bytes(buf, 4, "the bytes");
	}
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	for (i = 0; i < COUNT(received); i++)
		NOTE(end_recv(&e[1], buf, 4, received[i].flags), "at the end");
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "sending", sending, CASE_STREAM | CASE_LIKE_TCP | CASE_PATHS },
	{ "receiving", receiving, CASE_STREAM | CASE_LIKE_TCP | CASE_PATHS },
};

RUN_CASES(cases)
