// SPDX-License-Identifier: GPL-2.0
/*
 * A descriptor that two users have: what one of them sent or received the other does not
 * see in the ring's pages, and cannot change, so neither gets a lease (EACCES). On a stock
 * socket nothing of it could be seen either.
 */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "procfile.h"
#include "stress.h"

#define OTHER	12345

/**
 * struct ask - what a child does with an inherited descriptor
 * @uid: as which user
 * @send: bytes to send by plain call, or NULL
 * @role: to ask a lease of, or SPEED_ROLES
 */
struct ask {
	int fd;
	int uid;
	const char *send;
	int role;
};

/* 0, the errno, or 255 where it could not begin. */
static int ask(void *arg)
{
	struct speed_lease l;
	struct ask *a = arg;
	ssize_t n;

	if (setgid(a->uid) || setuid(a->uid))
		return 255;
	n = a->send ? strlen(a->send) : 0;
	if (n && send(a->fd, a->send, n, 0) != n)
		return 254;
	if (a->role == SPEED_ROLES)
		return 0;
	return lease_role(a->fd, a->role, &l) ? errno : 0;
}

static int asked(int fd, int uid, const char *sends, int role)
{
	struct ask a = { fd, uid, sends, role };

	return process_join(process_start(ask, &a));
}

static void need_root(void)
{
	if (geteuid())
		trace_skip("needs root, to be another user");
}

/* The peer has its role mapped: nothing is cleared for whoever comes. */
static void sent(const struct transport *t)
{
	struct raw peer;
	struct end e[2];

	need_root();
	tp_pair(t, e);
	raw_open(&peer, e[1].fd, SPEED_ROLE_RX);
	WANT(send(e[0].fd, "secret", 6, 0), 6, 0, "send");
	raw_publish(&peer, peer.l.own + 6);
	WANT(asked(e[0].fd, OTHER, NULL, SPEED_ROLE_TX), EACCES, 0, "another user");
	WANT(asked(e[0].fd, OTHER, NULL, SPEED_ROLE_RX), EACCES, 0, "the other way");
	WANT(asked(e[0].fd, 0, NULL, SPEED_ROLE_TX), 0, 0, "the same user's other process");
	raw_unmap(&peer);
	pair_close(e);
}

static void received(const struct transport *t)
{
	char got[8] = "";
	struct raw peer;
	struct end e[2];

	need_root();
	tp_pair(t, e);
	raw_open(&peer, e[1].fd, SPEED_ROLE_TX);
	memcpy((char *)peer.r.data + peer.l.own % peer.l.size, "secret", 6);
	raw_publish(&peer, peer.l.own + 6);
	WANT(recv(e[0].fd, got, 8, 0), 6, 0, "recv");
	WANT_TRUE(!memcmp(got, "secret", 6), "the bytes");
	WANT(asked(e[0].fd, OTHER, NULL, SPEED_ROLE_RX), EACCES, 0, "another user");
	WANT(asked(e[0].fd, 0, NULL, SPEED_ROLE_RX), 0, 0, "the same user's other process");
	raw_unmap(&peer);
	pair_close(e);
}

/* What is sent and not read yet lies in pages that a producer may write. */
static void unread(const struct transport *t)
{
	char got[8] = "";
	struct end e[2];

	need_root();
	tp_pair(t, e);
	WANT(send(e[0].fd, "good", 4, 0), 4, 0, "send");
	WANT(asked(e[0].fd, OTHER, NULL, SPEED_ROLE_TX), EACCES, 0, "another user");
	WANT(recv(e[1].fd, got, 8, 0), 4, 0, "recv");
	WANT_TRUE(!memcmp(got, "good", 4), "the bytes");
	pair_close(e);
}

/* Who has the lease when another sends loses it for good; the peer keeps its own. */
static void meanwhile(const struct transport *t)
{
	volatile struct speed_kern *kern;
	struct raw own, peer;
	struct speed_lease l;
	unsigned long shared;
	struct end e[2];
	int i;

	need_root();
	raw_pair(t, e, 0, &own, NULL);
	raw_open(&peer, e[1].fd, SPEED_ROLE_RX);
	memcpy((char *)own.r.data + own.l.own % own.l.size, "one", 3);
	raw_publish(&own, own.l.own + 3);
	WANT(asked(e[0].fd, OTHER, "two", SPEED_ROLES), 0, 0, "another user sends");
	WANT_TRUE(!memcmp((char *)peer.r.data + peer.l.own % peer.l.size, "onetwo", 6), "the bytes");
	WANT(*own.own, 0, 0, "a page of nobody's");
	shared = stat_number("lease_shared");
	for (i = 0; i < 2; i++)
		WANT_ERR(lease_role(e[0].fd, i, &l), EACCES, "role %d again", i);
	WANT(stat_number("lease_shared") - shared, 2, 0, "lease_shared");
	kern = (void *)peer.r.peer;
	WANT_TRUE(kern->epoch[SPEED_ROLE_RX] == peer.l.epoch, "the peer's is in force");
	raw_unmap(&own);
	raw_unmap(&peer);
	pair_close(e);
}

/* Who made the socket has not used it: a server that gets it from there is alone. */
static void handed_over(const struct transport *t)
{
	struct speed_lease l;
	struct end e[2];

	need_root();
	tp_pair(t, e);
	WANT(asked(e[0].fd, OTHER, NULL, SPEED_ROLE_RX), 0, 0, "the first who uses it");
	WANT_ERR(lease_role(e[0].fd, SPEED_ROLE_TX, &l), EACCES, "who made it, then");
	WANT_OK(lease_role(e[1].fd, SPEED_ROLE_TX, &l), "the peer");
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "sent", sent, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "received", received, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "unread", unread, CASE_BOTH | CASE_SPEED | CASE_FUSED },
	{ "meanwhile", meanwhile, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "handed_over", handed_over, CASE_BOTH | CASE_SPEED },
};

RUN_CASES(cases)
