// SPDX-License-Identifier: GPL-2.0
/*
 * A socket that connects again under the library: what was found out of its number was
 * of the connection before, and the next one is looked at anew.
 *
 * The peer works past the library, so that what is mapped is the socket's own.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "preload/calls.h"
#include "tcp_pair.h"

#define ALLOWED		7777
#define DENIED		7778
#define NOBODY		7779
#define ROUNDS		8
#define SOON_MS		20000

/**
 * struct place - where to connect to
 * @a: its address
 * @listener: who listens there
 */
struct place {
	struct address a;
	int listener;
};

static struct place place_at(int port)
{
	struct place p;

	p.listener = tcp_listen_at(LOCAL4, port, &p.a);
	return p;
}

static int call_connect(const struct call_name *n, int fd, const struct address *to)
{
	return n->join(call_function(n->name), fd, &to->sa, to->len);
}

static void give_up(const struct call_name *n, int fd)
{
	struct address none = { .sa.ss_family = AF_UNSPEC, .len = sizeof(none.sa) };

	NOTE(call_connect(n, fd, &none), "%s: connect(AF_UNSPEC)", n->name);
}

/* Both ends' next bytes use a ring, and the library has seen none of those before. */
static void fuse_past(int fd, int peer)
{
	const int both[2] = { fd, peer };
	long until = now_ms() + SOON_MS;
	char byte;
	int i;

	do {
		for (i = 0; i < 2; i++) {
			MUST(plain_send(both[i], "f", 1, 0) == 1);
			MUST(plain_recv(both[!i], &byte, 1, 0) == 1);
		}
	} while (!tcp_fused(both) && now_ms() < until);
	MUST(tcp_fused(both));
}

/* Return: the peer's descriptor. */
static int join(const struct call_name *n, int fd, const struct place *p)
{
	int peer;

	MUST(call_connect(n, fd, &p->a) == 0);
	peer = tcp_accept(p->listener);
	fuse_past(fd, peer);
	return peer;
}

static void talk(int fd, int peer)
{
	int i, out, in, wrong = 0;

	for (i = 0; i < ROUNDS; i++) {
		out = 1000 + i;
		MUST(send(fd, &out, sizeof(out), 0) == sizeof(out));
		wrong += plain_recv(peer, &in, sizeof(in), MSG_WAITALL) != sizeof(in) || in != out;
		MUST(plain_send(peer, &out, sizeof(out), 0) == sizeof(out));
		wrong += recv(fd, &in, sizeof(in), MSG_WAITALL) != sizeof(in) || in != out;
	}
	WANT(wrong, 0, 0, "messages that are wrong");
}

static void talk_unmapped(const struct call_name *n, int fd, int peer)
{
	talk(fd, peer);
	WANT(under_regions(), 0, 0, "%s: that port is not to be mapped", n->name);
}

static void talk_mapped(const struct call_name *n, int fd, int peer)
{
	talk(fd, peer);
	WANT_TRUE(!under_library() || under_regions() > 0, "%s: it is mapped", n->name);
}

/* To a port that is not to be mapped, to one that is, and back: SPEED_PORTS. */
static void ports(const struct call_name *n, const struct place *allowed,
		  const struct place *denied)
{
	int fd = tcp_socket(&denied->a), peer;

	peer = join(n, fd, denied);
	talk_unmapped(n, fd, peer);
	give_up(n, fd);
	plain_close(peer);
	peer = join(n, fd, allowed);
	talk_mapped(n, fd, peer);
	give_up(n, fd);
	plain_close(peer);
	WANT(under_regions(), 0, 0, "%s: nothing is mapped without a connection", n->name);
	peer = join(n, fd, denied);
	talk_unmapped(n, fd, peer);
	plain_close(peer);
	close(fd);
}

/* What a duplicate knows was of the connection before, too. */
static void duplicates(const struct call_name *n, const struct place *allowed,
		       const struct place *denied)
{
	int fd = tcp_socket(&denied->a), other = dup(fd), peer;

	MUST(other >= 0);
	peer = join(n, fd, allowed);
	talk_mapped(n, fd, peer);
	talk_mapped(n, other, peer);
	give_up(n, fd);
	plain_close(peer);
	peer = join(n, fd, denied);
	talk_unmapped(n, other, peer);
	talk_unmapped(n, fd, peer);
	plain_close(peer);
	close(other);
	close(fd);
}

static void given_up(const struct transport *t, const struct under_case *c)
{
	struct place allowed = place_at(ALLOWED), denied = place_at(DENIED);
	size_t i;

	for (i = 0; i < call_names_count; i++)
		if (call_names[i].join)
			ports(&call_names[i], &allowed, &denied);
	duplicates(call_find("connect"), &allowed, &denied);
}

/* Used in vain, it is soon looked at no more. */
static void use_in_vain(int fd)
{
	char byte;
	int i;

	for (i = 0; i < 4; i++) {
		NOTE(send(fd, "x", 1, MSG_NOSIGNAL), "%d: send", i);
		NOTE(recv(fd, &byte, 1, MSG_DONTWAIT), "%d: recv", i);
	}
}

static void refused(const struct call_name *n, const struct place *there, bool nonblock)
{
	int fd = tcp_socket(&there->a), peer;
	struct address nobody;

	tcp_address(&nobody, LOCAL4, NOBODY);
	MUST(set_nonblock(fd, nonblock) == 0);
	NOTE(call_connect(n, fd, &nobody), "%s: refused", n->name);
	MUST(poll_wait(fd, POLLIN | POLLOUT, SOON_MS));
	use_in_vain(fd);
	/* The socket is free to try again when a connect() has told of the failure, too. */
	if (nonblock)
		NOTE(call_connect(n, fd, &nobody), "%s: told", n->name);
	NOTE(call_connect(n, fd, &there->a), "%s: connects", n->name);
	peer = tcp_accept(there->listener);
	MUST(poll_wait(fd, POLLOUT, SOON_MS) == POLLOUT);
	MUST(set_nonblock(fd, false) == 0);
	fuse_past(fd, peer);
	talk_mapped(n, fd, peer);
	plain_close(peer);
	close(fd);
}

static void after_refusal(const struct transport *t, const struct under_case *c)
{
	struct place there = place_at(ALLOWED);
	size_t i;

	for (i = 0; i < call_names_count; i++) {
		if (!call_names[i].join)
			continue;
		refused(&call_names[i], &there, false);
		refused(&call_names[i], &there, true);
	}
}

/* Told by the set it is in, before and after. */
static void told(int ep, int fd, int peer)
{
	struct epoll_event e;
	char byte;
	int i;

	for (i = 0; i < 20; i++) {
		WANT(epoll_wait(ep, &e, 1, 0), 0, 0, "%d: nothing", i);
		MUST(plain_send(peer, "t", 1, 0) == 1);
		WANT(epoll_wait(ep, &e, 1, SOON_MS), 1, 0, "%d: there", i);
		WANT(e.data.u64 == 77 && e.events == EPOLLIN, 1, 0, "%d: what it is", i);
		WANT(recv(fd, &byte, 1, MSG_DONTWAIT), 1, 0, "%d: the byte", i);
	}
}

static void watched(const struct transport *t, const struct under_case *c)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = 77 };
	const struct call_name *n = call_find("connect");
	struct place there = place_at(ALLOWED);
	int fd = tcp_socket(&there.a), ep = epoll_create1(0), peer, i;

	MUST(ep >= 0 && epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e) == 0);
	for (i = 0; i < 3; i++) {
		peer = join(n, fd, &there);
		talk_mapped(n, fd, peer);
		told(ep, fd, peer);
		give_up(n, fd);
		plain_close(peer);
	}
	close(fd);
	close(ep);
}

/* A connect() that says that there is a connection leaves it mapped. */
static void connected(const struct transport *t, const struct under_case *c)
{
	const struct call_name *n = call_find("connect");
	struct place there = place_at(ALLOWED);
	int fd = tcp_socket(&there.a), peer = join(n, fd, &there);

	talk_mapped(n, fd, peer);
	NOTE(call_connect(n, fd, &there.a), "again");
	WANT_TRUE(!under_library() || under_regions() > 0, "it is mapped as before");
	talk(fd, peer);
	plain_close(peer);
	close(fd);
}

static const struct under_case cases[] = {
	{ "given_up", given_up, UNDER_FUSED, 3 * 4, 3 * 4, "SPEED_PORTS=7777" },
	{ "after_refusal", after_refusal, UNDER_FUSED, 6 * 4, 6 * 4 },
	{ "watched", watched, UNDER_FUSED, 3 * 4, 3 * 4 },
	{ "connected", connected, UNDER_FUSED, 8, 8 },
};

UNDER_CASES(cases)
