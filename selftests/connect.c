// SPDX-License-Identifier: GPL-2.0
/* connect(): once, to the right type, and by those who may. */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "harness.h"

static void once(const struct transport *t)
{
	struct address a, b;
	int listener = tp_listen(t, 4, &a), other = tp_listen(t, 4, &b);
	int fd = tp_socket(t, 0);

	NOTE(connect_to(fd, &a), "connect");
	NOTE(connect_to(fd, &a), "connect again");
	NOTE(connect_to(fd, &b), "connect elsewhere");
	close(accept(listener, NULL, NULL));
	tp_settle(t);
	NOTE(connect_to(fd, &b), "connect when the peer has gone");
	close(fd);
	close(listener);
	close(other);
}

static void nonblocking(const struct transport *t)
{
	struct address a;
	int listener = tp_listen(t, 4, &a), fd = tp_socket(t, SOCK_NONBLOCK);
	struct address nobody;

	tp_address(t, &nobody);
	NOTE(connect_to(fd, &nobody), "connect where nobody is");
	NOTE(connect_to(fd, &a), "connect, non-blocking");
	trace_mask(poll_now(fd, POLL_ALL), "poll at once");
	NOTE(get_int(fd, SOL_SOCKET, SO_ERROR), "SO_ERROR");
	close(fd);
	close(listener);
}

static void wrong_type(const struct transport *t)
{
	struct address a;
	int listener = tp_socket(t, 0), fd;
	int other = t->type == SOCK_STREAM ? SOCK_SEQPACKET : SOCK_STREAM;

	tp_path_address(t, &a);
	MUST(bind_to(listener, &a) == 0);
	MUST(listen(listener, 4) == 0);
	fd = socket(t->family, other, 0);
	MUST(fd >= 0);
	NOTE(connect_to(fd, &a), "connect to the other type");
	NOTE(bind_to(fd, &a), "bind the other type to the same name");
	close(fd);
	fd = tp_socket(t, 0);
	NOTE(connect_to(fd, &a), "connect to the same type");
	close(fd);
	close(listener);
}

static void both_ways(const struct transport *t)
{
	struct address a;
	int listener = tp_listen(t, 4, &a), client = tp_connect(t, &a), server;
	char buf[16];

	NOTE(send(client, "first", 5, 0), "send before accept");
	NOTE(recv(client, buf, sizeof(buf), MSG_DONTWAIT), "recv before accept");
	trace_mask(poll_now(client, POLL_ALL), "poll before accept");
	server = accept(listener, NULL, NULL);
	NOTE(recv(server, buf, sizeof(buf), 0), "recv");
	NOTE(send(server, "second", 6, 0), "send back");
	NOTE(recv(client, buf, sizeof(buf), 0), "recv back");
	close(client);
	close(server);
	close(listener);
}

/* ---- who may connect: AF_UNIX by its file's mode, AF_SPEED by SPEED_MODE ---- */

#define OWNER	1000
#define MEMBER	1001
#define OTHER	1002

static int set_mode(const struct transport *t, int fd, const struct address *a, unsigned int mode)
{
	if (tp_is_unix(t))
		return chmod(((const struct sockaddr_un *)&a->sa)->sun_path, mode);
	return set_int(fd, SOL_SPEED, SPEED_MODE, mode);
}

static unsigned int mode_of(const struct transport *t, int fd, const struct address *a)
{
	struct stat st;

	if (!tp_is_unix(t))
		return get_int(fd, SOL_SPEED, SPEED_MODE);
	MUST(stat(((const struct sockaddr_un *)&a->sa)->sun_path, &st) == 0);
	return st.st_mode & 0777;
}

static void become(uid_t uid, gid_t gid)
{
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		_exit(255);
}

struct visit {
	const struct transport *t;
	const struct address *a;
	uid_t uid;
	gid_t gid;
};

static int visit(void *arg)
{
	struct visit *v = arg;
	int fd = tp_socket(v->t, SOCK_NONBLOCK);

	become(v->uid, v->gid);
	return connect_to(fd, v->a) ? errno : 0;
}

/* The errno of a connect by that user; EAGAIN (a full backlog) never comes. */
static void note_visit(const struct transport *t, const struct address *a, uid_t uid, gid_t gid,
		       const char *who)
{
	struct visit v = { t, a, uid, gid };

	trace_str(strerrorname_np(process_join(process_start(visit, &v))), "connect by %s", who);
}

static void note_visits(const struct transport *t, const struct address *a)
{
	note_visit(t, a, OWNER, OWNER, "the owner");
	note_visit(t, a, MEMBER, OWNER, "one of the group");
	note_visit(t, a, OTHER, OTHER, "another");
	note_visit(t, a, 0, 0, "root");
}

#define MODE_OF_SOCKETS	0777

/* The mode is what fchmod() before bind() and the umask leave. */
static int owned_by_mode(const struct transport *t, struct address *a, unsigned int mode,
			 unsigned int mask)
{
	int fd;

	if (geteuid())
		trace_skip("needs root, to be several users");
	umask(mask);
	MUST(setresgid(OWNER, OWNER, 0) == 0);
	MUST(setresuid(OWNER, OWNER, 0) == 0);
	fd = tp_socket(t, 0);
	if (mode != MODE_OF_SOCKETS)
		NOTE(fchmod(fd, mode), "fchmod before bind");
	tp_path_address(t, a);
	MUST(bind_to(fd, a) == 0);
	MUST(listen(fd, 100) == 0);
	MUST(setresuid(0, 0, 0) == 0);
	MUST(setresgid(0, 0, 0) == 0);
	return fd;
}

static int owned_listener(const struct transport *t, struct address *a, unsigned int mask)
{
	return owned_by_mode(t, a, MODE_OF_SOCKETS, mask);
}

static void by_mode(const struct transport *t)
{
	static const unsigned int modes[] = { 0777, 0666, 0222, 0600, 0660, 0606, 0444, 0200, 0 };
	struct address a;
	int fd = owned_listener(t, &a, 0);
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		NOTE(set_mode(t, fd, &a, modes[i]), "set mode %03o", modes[i]);
		trace_num(mode_of(t, fd, &a), "it is now");
		note_visits(t, &a);
	}
	close(fd);
}

static void by_umask(const struct transport *t)
{
	static const unsigned int masks[] = { 0, 022, 027, 077, 0777 };
	struct address a;
	size_t i;

	for (i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		int fd = owned_listener(t, &a, masks[i]);

		trace_num(mode_of(t, fd, &a), "the mode after bind with umask %03o", masks[i]);
		note_visits(t, &a);
		close(fd);
	}
}

/* After bind() it changes the socket's file alone, and who may connect stays as it is. */
static void by_fchmod(const struct transport *t)
{
	static const unsigned int modes[] = { 0666, 0660, 0600, 0555, 0 }, masks[] = { 0, 022 };
	struct address a;
	size_t i, n;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
	for (n = 0; n < sizeof(masks) / sizeof(masks[0]); n++) {
		int fd = owned_by_mode(t, &a, modes[i], masks[n]);

		trace_num(mode_of(t, fd, &a), "the mode after %03o, umask %03o", modes[i], masks[n]);
		note_visits(t, &a);
		NOTE(fchmod(fd, 0777), "fchmod after bind");
		trace_num(mode_of(t, fd, &a), "the mode stays");
		note_visit(t, &a, OTHER, OTHER, "another");
		close(fd);
	}
}

/* A refused user keeps a usable socket, and a later mode lets it in. */
static void refused_then_let_in(const struct transport *t)
{
	struct address a;
	int fd = owned_listener(t, &a, 077), client = tp_socket(t, 0);

	MUST(setresuid(OTHER, OTHER, 0) == 0);
	NOTE(connect_to(client, &a), "connect, refused");
	trace_mask(poll_now(client, POLL_ALL), "poll the refused socket");
	NOTE(get_int(client, SOL_SOCKET, SO_ERROR), "its SO_ERROR");
	MUST(setresuid(0, 0, 0) == 0);
	NOTE(set_mode(t, fd, &a, 0777), "let everyone in");
	MUST(setresuid(OTHER, OTHER, 0) == 0);
	NOTE(connect_to(client, &a), "connect, let in");
	MUST(setresuid(0, 0, 0) == 0);
	NOTE(set_mode(t, fd, &a, 0), "let no one in");
	NOTE(send(client, "x", 1, 0), "send on a connection from before");
	close(client);
	close(fd);
}

/* Who may not come in is told so, and does not wait, where the queue is full, too. */
static void refused_when_full(const struct transport *t)
{
	int fd, client[16], n = 0;
	struct address a;

	fd = owned_listener(t, &a, 077);
	NOTE(listen(fd, 0), "listen");
	do
		client[n] = tp_socket(t, SOCK_NONBLOCK);
	while (!connect_to(client[n], &a) && ++n < 16);
	MUST(n < 16);
	trace_num(n, "connections that wait");
	note_visit(t, &a, 0, 0, "root");
	note_visit(t, &a, OTHER, OTHER, "another");
	for (; n >= 0; n--)
		close(client[n]);
	close(fd);
}

static const struct test_case cases[] = {
	{ "once", once, CASE_BOTH },
	{ "nonblocking", nonblocking, CASE_BOTH },
	{ "wrong_type", wrong_type, CASE_BOTH },
	{ "both_ways", both_ways, CASE_BOTH | CASE_TCP },
	{ "by_mode", by_mode, CASE_BOTH },
	{ "by_umask", by_umask, CASE_BOTH },
	{ "by_fchmod", by_fchmod, CASE_BOTH },
	{ "refused_then_let_in", refused_then_let_in, CASE_BOTH },
	{ "refused_when_full", refused_when_full, CASE_BOTH },
};

RUN_CASES(cases)
