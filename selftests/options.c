// SPDX-License-Identifier: GPL-2.0
/* Socket options of SOL_SOCKET and ioctls, as AF_UNIX has them. */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

static void what_it_is(const struct transport *t)
{
	struct address a;
	struct end e[2];
	int fd = tp_socket(t, 0), i;

	trace_num(get_int(fd, SOL_SOCKET, SO_TYPE) == t->type, "SO_TYPE");
	trace_num(get_int(fd, SOL_SOCKET, SO_DOMAIN) == t->family, "SO_DOMAIN");
	NOTE(get_int(fd, SOL_SOCKET, SO_PROTOCOL), "SO_PROTOCOL");
	NOTE(get_int(fd, SOL_SOCKET, SO_ACCEPTCONN), "SO_ACCEPTCONN");
	NOTE(get_int(fd, SOL_SOCKET, SO_ERROR), "SO_ERROR");
	close(fd);
	fd = tp_listen(t, 1, &a);
	NOTE(get_int(fd, SOL_SOCKET, SO_ACCEPTCONN), "SO_ACCEPTCONN of a listener");
	close(fd);
	tp_pair(t, e);
	for (i = 0; i < 2; i++) {
		trace_num(get_int(e[i].fd, SOL_SOCKET, SO_TYPE) == t->type, "SO_TYPE %d", i);
		trace_num(get_int(e[i].fd, SOL_SOCKET, SO_DOMAIN) == t->family, "SO_DOMAIN %d", i);
		NOTE(get_int(e[i].fd, SOL_SOCKET, SO_PROTOCOL), "SO_PROTOCOL %d", i);
		NOTE(get_int(e[i].fd, SOL_SOCKET, SO_ACCEPTCONN), "SO_ACCEPTCONN %d", i);
		NOTE(get_int(e[i].fd, SOL_SOCKET, SO_ERROR), "SO_ERROR %d", i);
	}
	pair_close(e);
}

static void read_only(const struct transport *t)
{
	static const struct {
		const char *name;
		int option;
	} o[] = {
		{ "SO_TYPE", SO_TYPE }, { "SO_DOMAIN", SO_DOMAIN }, { "SO_PROTOCOL", SO_PROTOCOL },
		{ "SO_ERROR", SO_ERROR }, { "SO_ACCEPTCONN", SO_ACCEPTCONN },
		{ "SO_PEERCRED", SO_PEERCRED }, { "an unknown one", 9999 },
	};
	int fd = tp_socket(t, 0), value;
	socklen_t len;
	size_t i;

	for (i = 0; i < sizeof(o) / sizeof(o[0]); i++)
		NOTE(set_int(fd, SOL_SOCKET, o[i].option, 1), "set %s", o[i].name);
	NOTE(get_int(fd, SOL_SOCKET, 9999), "get an unknown one");
	NOTE(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &value, 3), "set, short");
	NOTE(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, bad_pointer(), 4), "set, bad pointer");
	len = 2;
	NOTE(getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, &len), "get, short");
	trace_num(len, "its length");
	len = -1;
	NOTE(getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, &len), "get, length -1");
	len = 4;
	NOTE(getsockopt(fd, SOL_SOCKET, SO_TYPE, bad_pointer(), &len), "get, bad pointer");
	NOTE(getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, bad_pointer()), "get, bad length pointer");
	NOTE(set_int(fd, 12345, 1, 1), "set, unknown level");
	NOTE(get_int(fd, 12345, 1), "get, unknown level");
	close(fd);
}

static void kept(const struct transport *t)
{
	static const struct {
		const char *name;
		int option;
		int value;
	} o[] = {
		{ "SO_REUSEADDR", SO_REUSEADDR, 1 }, { "SO_KEEPALIVE", SO_KEEPALIVE, 1 },
		{ "SO_BROADCAST", SO_BROADCAST, 1 }, { "SO_OOBINLINE", SO_OOBINLINE, 1 },
		{ "SO_PRIORITY", SO_PRIORITY, 3 }, { "SO_MARK", SO_MARK, 7 },
		{ "SO_TIMESTAMP", SO_TIMESTAMP, 1 }, { "SO_RXQ_OVFL", SO_RXQ_OVFL, 1 },
		{ "SO_DONTROUTE", SO_DONTROUTE, 1 },
	};
	int fd = tp_socket(t, 0);
	size_t i;

	for (i = 0; i < sizeof(o) / sizeof(o[0]); i++) {
		NOTE(get_int(fd, SOL_SOCKET, o[i].option), "%s at first", o[i].name);
		NOTE(set_int(fd, SOL_SOCKET, o[i].option, o[i].value), "set %s", o[i].name);
		NOTE(get_int(fd, SOL_SOCKET, o[i].option), "%s then", o[i].name);
		NOTE(set_int(fd, SOL_SOCKET, o[i].option, 0), "clear %s", o[i].name);
	}
	close(fd);
}

static void passing(const struct transport *t)
{
	int fd = tp_socket(t, 0);

	NOTE(get_int(fd, SOL_SOCKET, SO_PASSCRED), "SO_PASSCRED at first");
	NOTE(set_int(fd, SOL_SOCKET, SO_PASSCRED, 1), "set SO_PASSCRED");
	NOTE(get_int(fd, SOL_SOCKET, SO_PASSCRED), "SO_PASSCRED then");
	close(fd);
}

static void buffers(const struct transport *t)
{
	static const int v[] = { 0, 1, 4096, 65536, 100000, 1 << 20, 0x7fffffff, -1 };
	int fd = tp_socket(t, 0);
	size_t i;

	trace_num(get_int(fd, SOL_SOCKET, SO_SNDBUF) >= 65536, "a SO_SNDBUF at first");
	trace_num(get_int(fd, SOL_SOCKET, SO_RCVBUF) >= 65536, "a SO_RCVBUF at first");
	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		NOTE(set_int(fd, SOL_SOCKET, SO_SNDBUF, v[i]), "SO_SNDBUF %d", v[i]);
		NOTE(get_int(fd, SOL_SOCKET, SO_SNDBUF), "it is now");
		NOTE(set_int(fd, SOL_SOCKET, SO_RCVBUF, v[i]), "SO_RCVBUF %d", v[i]);
		NOTE(get_int(fd, SOL_SOCKET, SO_RCVBUF), "it is now");
	}
	close(fd);
}

/* Smaller buffers take less, larger ones more; both at any time. */
static void buffers_count(const struct transport *t)
{
	struct end e[2];
	size_t small, large;

	tp_pair_sized(t, e, 16384);
	small = end_fill(&e[0], 1000);
	trace_num(end_drain(&e[1], 0) == small, "all of it came");
	pair_close(e);
	tp_pair_sized(t, e, 1 << 18);
	large = end_fill(&e[0], 1000);
	trace_num(end_drain(&e[1], 0) == large, "all of that came");
	trace_num(large > 4 * small, "sixteen times the buffer takes over four times the bytes");
	trace_num(large >= 1 << 17, "of a buffer half at least is bytes");
	trace_num(small <= 1 << 16, "and no more than four times of it");
	NOTE(set_int(e[0].fd, SOL_SOCKET, SO_SNDBUF, 8192), "shrink a connected one");
	NOTE(set_int(e[1].fd, SOL_SOCKET, SO_RCVBUF, 8192), "its peer, too");
	small = end_fill(&e[0], 1000);
	trace_num(small > 0 && small < large, "it takes less");
	NOTE(set_int(e[0].fd, SOL_SOCKET, SO_SNDBUF, 1 << 19), "grow it while it is full");
	NOTE(set_int(e[1].fd, SOL_SOCKET, SO_RCVBUF, 1 << 19), "its peer, too");
	trace_num(end_drain(&e[1], 0) == small, "all of it came, again");
	pair_close(e);
}

static int become_and_connect(void *arg)
{
	struct { const struct transport *t; struct address a; } *c = arg;
	struct ucred cred;
	socklen_t len = sizeof(cred);
	int fd = tp_socket(c->t, 0);

	if (setresgid(2000, 2000, 2000) || setresuid(2001, 2001, 2001))
		return 1;
	if (connect_to(fd, &c->a))
		return 2;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return 3;
	/* What the listener was, not what it became. */
	return cred.uid == 0 && cred.gid == 0 && cred.pid == getppid() ? 0 : 4;
}

static void credentials(const struct transport *t)
{
	struct { const struct transport *t; struct address a; } c = { t };
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);
	struct end e[2];
	int fd, listener;
	pid_t child;

	if (geteuid())
		trace_skip("needs root, to be another user");
	umask(0);	/* any user may connect */
	listener = tp_listen(t, 4, &c.a);
	child = process_start(become_and_connect, &c);
	fd = accept(listener, NULL, NULL);
	NOTE(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len), "SO_PEERCRED");
	trace_num(cred.uid, "the client's uid");
	trace_num(cred.gid, "the client's gid");
	trace_num(cred.pid == child, "the client's pid");
	trace_num(len, "the length");
	trace_num(process_join(child), "what the client saw");
	len = 4;
	NOTE(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len), "SO_PEERCRED, short");
	close(fd);
	close(listener);
	fd = tp_socket(t, 0);
	len = sizeof(cred);
	NOTE(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len), "of an unconnected socket");
	trace_num(cred.pid, "pid");
	trace_num((int)cred.uid, "uid");
	close(fd);
	tp_pair(t, e);
	end_close(&e[1]);
	len = sizeof(cred);
	NOTE(getsockopt(e[0].fd, SOL_SOCKET, SO_PEERCRED, &cred, &len), "when the peer has gone");
	trace_num(cred.pid == getpid(), "pid");
	end_close(&e[0]);
}

static void peer_groups(const struct transport *t)
{
	struct end e[2];
	gid_t groups[64];
	socklen_t len = sizeof(groups);

	tp_pair(t, e);
	NOTE(getsockopt(e[0].fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len), "SO_PEERGROUPS");
	pair_close(e);
}

static void lingers(const struct transport *t)
{
	struct linger l = { 1, 5 }, got;
	int fd = tp_socket(t, 0);
	socklen_t len = sizeof(got);

	NOTE(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)), "SO_LINGER");
	NOTE(getsockopt(fd, SOL_SOCKET, SO_LINGER, &got, &len), "get");
	trace_num(got.l_onoff, "l_onoff");
	trace_num(got.l_linger, "l_linger");
	NOTE(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, 4), "SO_LINGER, short");
	close(fd);
}

/* A message that was short enough when the call began goes when there is room for it. */
static void buffers_shrink(const struct transport *t)
{
	static char buf[400000];	/* more than a ring holds */
	struct end e[2];
	struct call c = { &e[0], buf, sizeof(buf), 0 };
	struct task k;
	int i;

	tp_pair(t, e);
	NOTE(set_int(e[0].fd, SOL_SOCKET, SO_SNDBUF, 212992), "a large SO_SNDBUF");
	while (end_send(&e[0], buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
	task_start(&k, call_send, &c);
	trace_num(task_sleeps(&k), "send waits");
	NOTE(set_int(e[0].fd, SOL_SOCKET, SO_SNDBUF, 4096), "a small SO_SNDBUF");
	for (i = 0; i < 500 && !task_ends(&k, 20); i++)
		end_discard(&e[1]);
	if (i == 500)
		shutdown(e[0].fd, SHUT_WR);
	NOTE(task_join(&k), "send");
	NOTE(end_send(&e[0], buf, sizeof(buf), MSG_DONTWAIT), "another");
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "what_it_is", what_it_is, CASE_BOTH },
	{ "read_only", read_only, CASE_BOTH },
	{ "kept", kept, CASE_BOTH },
	{ "passing", passing, CASE_BOTH },
	{ "buffers", buffers, CASE_BOTH },
	{ "buffers_count", buffers_count, CASE_STREAM | CASE_PATHS },
	{ "credentials", credentials, CASE_BOTH },
	{ "peer_groups", peer_groups, CASE_BOTH },
	{ "lingers", lingers, CASE_BOTH | CASE_TCP },
	{ "buffers_shrink", buffers_shrink, CASE_SEQPACKET | CASE_PATHS | CASE_UNMAPPED },
};

RUN_CASES(cases)
