// SPDX-License-Identifier: GPL-2.0
/*
 * Each name that libspeed-preload exports: called with a mapped connection it gives what
 * it gives without the library. The library's own list of names is the list here.
 *
 * The peer works past the library, so that what the library counts is the name's doing.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "preload/calls.h"
#include "tcp_pair.h"

#define ROUNDS	4

/* One transfer by the name: from or to the number. */
static ssize_t transfer(const struct call_name *n, int fd, char *buf, size_t len)
{
	return n->move(call_function(n->name), fd, buf, len);
}

static void receiving(const struct call_name *n, const int fd[2])
{
	char buf[32];
	int i;

	for (i = 0; i < ROUNDS; i++) {
		memset(buf, '.', sizeof(buf));
		MUST(plain_send(fd[1], "abcdefgh", 5 + i, 0) == 5 + i);
		NOTE(transfer(n, fd[0], buf, 4), "a part");
		trace_bytes(buf, sizeof(buf), "its bytes");
		NOTE(transfer(n, fd[0], buf, 16), "the rest");
		trace_bytes(buf, sizeof(buf), "their bytes");
	}
	MUST(set_nonblock(fd[0], true) == 0);
	NOTE(transfer(n, fd[0], buf, 16), "nothing there");
	NOTE(transfer(n, fd[0], buf, 0), "no bytes wanted");
	plain_close(fd[1]);
	MUST(poll_wait(fd[0], POLLIN, 20000));
	NOTE(transfer(n, fd[0], buf, 16), "at the end");
}

static void sending(const struct call_name *n, const int fd[2])
{
	char buf[32], out[32] = "abcdefghijklmnop";
	int i;

	for (i = 0; i < 2 * ROUNDS; i++) {
		memset(buf, '.', sizeof(buf));
		NOTE(transfer(n, fd[0], out, 5 + i), "sent");
		NOTE(plain_recv(fd[1], buf, sizeof(buf), 0), "received");
		trace_bytes(buf, sizeof(buf), "its bytes");
	}
	NOTE(transfer(n, fd[0], out, 0), "no bytes");
	NOTE(plain_recv(fd[1], buf, sizeof(buf), MSG_DONTWAIT), "and none came");
	plain_close(fd[1]);
	MUST(poll_wait(fd[0], POLLIN, 20000) & POLLIN);
	transfer(n, fd[0], out, 1);	/* TCP takes one before it learns of it */
	poll_wait(fd[0], 0, 20000);
	NOTE(transfer(n, fd[0], out, 1), "to nobody");
}

static void one(const struct transport *t, const struct under_case *c)
{
	const struct call_name *n = call_find(c->name);
	int fd[2];

	under_pair(t, fd);
	if (n->receives)
		receiving(n, fd);
	else
		sending(n, fd);
	close(fd[0]);
}

/* Makes a number's connection mapped: both of its roles. */
static void map_number(int fd, int peer)
{
	char buf[4];
	int i;

	for (i = 0; i < 3; i++) {
		MUST(send(fd, "map", 3, 0) == 3 && plain_recv(peer, buf, 4, 0) == 3);
		MUST(plain_send(peer, "too", 3, 0) == 3 && recv(fd, buf, 4, 0) == 3);
	}
}

/*
 * The number is closed unseen, and a duplicate keeps the connection; what has the number
 * next must not be taken for it. A byte of its own is there first, for a read to find.
 */
static void made(const struct transport *t, const struct call_name *n)
{
	char buf[8];
	int fd[2], copy, got;

	under_pair(t, fd);
	copy = dup(fd[0]);
	MUST(copy >= 0);
	map_number(fd[0], fd[1]);
	MUST(plain_send(fd[1], "mine", 4, 0) == 4 && plain_close(fd[0]) == 0);
	got = n->make(call_function(n->name));
	NOTE(got == fd[0] ? 0 : -1, "%s takes the number", n->name);
	set_nonblock(got, true);
	NOTE(send(got, "x", 1, MSG_NOSIGNAL), "%s: send", n->name);
	NOTE(recv(got, buf, 1, 0), "%s: recv", n->name);
	NOTE(plain_recv(fd[1], buf, 8, MSG_DONTWAIT), "%s: nothing was sent", n->name);
	NOTE(recv(copy, buf, 8, 0), "%s: nothing was taken", n->name);
	close(got);
	close(copy);
	plain_close(fd[1]);
	call_made_end();
}

static void makers(const struct transport *t, const struct under_case *c)
{
	size_t i;

	for (i = 0; i < call_names_count; i++)
		if (call_names[i].make)
			made(t, &call_names[i]);
}

/* The number is closed or replaced by the name, and is another connection's then. */
static void closed(const struct transport *t, const struct call_name *n)
{
	int (*duplicate)(int, int) = under_plain("dup2");
	int fd[2], other[2], copy;
	char buf[8];

	under_pair(t, other);
	under_pair(t, fd);
	copy = dup(fd[0]);
	map_number(other[0], other[1]);
	map_number(fd[0], fd[1]);
	NOTE(n->shut(call_function(n->name), fd[0], other[0]), "%s", n->name);
	if (fcntl(fd[0], F_GETFD) < 0)
		MUST(duplicate(other[0], fd[0]) == fd[0]);
	NOTE(send(fd[0], "new", 3, MSG_NOSIGNAL), "%s: send", n->name);
	memset(buf, 0, sizeof(buf));
	NOTE(plain_recv(other[1], buf, 8, MSG_DONTWAIT), "%s: for the new one", n->name);
	trace_str(buf, "%s: what", n->name);
	NOTE(plain_recv(fd[1], buf, 8, MSG_DONTWAIT), "%s: none for the old one", n->name);
	plain_send(other[1], "back", 4, 0);
	NOTE(recv(fd[0], buf, 8, 0), "%s: recv", n->name);
	close(fd[0]);
	close(copy);
	close(other[0]);
	plain_close(fd[1]);
	plain_close(other[1]);
}

static void closers(const struct transport *t, const struct under_case *c)
{
	size_t i;

	for (i = 0; i < call_names_count; i++)
		if (call_names[i].shut)
			closed(t, &call_names[i]);
}

static void standing(const struct transport *t, const struct under_case *c)
{
	Dl_info info;
	bool ours;
	size_t i;

	for (i = 0; i < call_names_count; i++) {
		const struct call_name *n = &call_names[i];

		WANT_TRUE(n->move || n->make || n->shut || n->join || n->watch,
			  "%s is called", n->name);
		WANT_TRUE(dladdr(call_function(n->name), &info), "%s is there", n->name);
		/* A sanitizer's functions stand before the library's. */
		ours = strstr(info.dli_fname, "libspeed-preload");
		WANT_TRUE(ours == under_library() || getenv("SPEED_TEST_BEFORE"),
			  "%s is the library's", n->name);
	}
}

static const char *const transfers[] = {
	"read", "__read", "__read_chk", "readv", "recv", "__recv_chk", "recvfrom",
	"__recvfrom_chk", "recvmsg", "recvmmsg", "write", "__write", "writev", "send", "__send",
	"sendto", "sendmsg", "sendmmsg",
};

#define TRANSFERS	(sizeof(transfers) / sizeof(transfers[0]))

/* The dynamic symbols that the library's file defines, against the list. */
static void complete(const struct transport *t, const struct under_case *c)
{
	static char names[256][64];
	int n = call_exports(under_path(), names, 256), i;
	size_t k, found = 0;

	WANT_TRUE(n > 0, "the library's names are read");
	for (i = 0; i < n; i++)
		WANT_TRUE(call_find(names[i]), "%s is in the list", names[i]);
	for (k = 0; k < call_names_count; k++)
		for (i = 0; i < n; i++)
			found += !strcmp(names[i], call_names[k].name);
	WANT((long)found, n, 0, "the list has no others");
	for (found = 0, k = 0; k < call_names_count; k++)
		found += !!call_names[k].move;
	WANT((long)found, TRANSFERS, 0, "each transfer is a case");
}

/* Each way to change a set, and to ask it. */
static void watchers(const struct transport *t, const struct under_case *c)
{
	size_t k;

	for (k = 0; k < call_names_count; k++) {
		const struct call_name *n = &call_names[k];
		struct epoll_event e = { .events = EPOLLIN };
		int fd[2], ep, i;

		if (!n->watch)
			continue;
		under_mapped_pair(t, fd);
		ep = epoll_create1(0);
		e.data.u64 = fd[0];
		MUST(ep >= 0 && epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &e) == 0);
		NOTE(send(fd[1], "x", 1, 0), "sent");
		for (i = 0; i < 3; i++)
			WANT(n->watch(call_function(n->name), ep, fd[0]), 1, 0, "%s", n->name);
		close(ep);
		tcp_close(fd);
	}
}

static struct under_case cases[TRANSFERS + 5] = {
	{ "complete", complete, UNDER_FUSED, UNDER_IDLE, UNDER_IDLE },
	{ "standing", standing, UNDER_FUSED, UNDER_IDLE, UNDER_IDLE },
	{ "makers", makers, UNDER_FUSED, 1, 1 },
	{ "closers", closers, UNDER_BOTH, 1, 1 },
	{ "watchers", watchers, UNDER_BOTH, 1, 1 },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; i < TRANSFERS; i++) {
		bool receives = call_find(transfers[i])->receives;

		cases[5 + i] = (struct under_case){
			.name = transfers[i], .body = one, .flags = UNDER_BOTH,
			.sent = receives ? 0 : 2 * ROUNDS - 1,
			.received = receives ? 2 * ROUNDS - 1 : 0,
		};
	}
	return under_main(argc, argv, cases, TRANSFERS + 5);
}
