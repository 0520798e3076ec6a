// SPDX-License-Identifier: GPL-2.0
/* ioctl() on sockets: what is there to read, what is on its way, and the rest. */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness.h"

static void readable_bytes(const struct transport *t)
{
	struct address a;
	struct end e[2];
	char buf[16];
	int n, fd;

#define NOTE_BYTES(fd, what)							\
	do {									\
		n = -1;								\
		NOTE(ioctl(fd, FIONREAD, &n), "FIONREAD, %s", what);		\
		trace_num(n, "it says");					\
	} while (0)

	tp_pair(t, e);
	NOTE_BYTES(e[1].fd, "nothing there");
	NOTE(end_send(&e[0], "abcdef", 6, 0), "send 6");
	tp_settle(t);
	NOTE_BYTES(e[1].fd, "6");
	NOTE(end_send(&e[0], "ghi", 3, 0), "send 3");
	tp_settle(t);
	NOTE_BYTES(e[1].fd, "6 and 3");
	NOTE(end_recv(&e[1], buf, 4, 0), "recv 4");
	NOTE_BYTES(e[1].fd, "after that");
	end_close(&e[0]);
	tp_settle(t);
	NOTE_BYTES(e[1].fd, "when the peer has gone");
	NOTE(end_recv(&e[1], buf, 16, 0), "recv the rest");
	NOTE_BYTES(e[1].fd, "after that");
	end_close(&e[1]);
	NOTE(ioctl(tp_socket(t, 0), FIONREAD, bad_pointer()), "FIONREAD, bad pointer");
	fd = tp_socket(t, 0);
	NOTE_BYTES(fd, "unconnected");
	close(fd);
	fd = tp_listen(t, 1, &a);
	NOTE_BYTES(fd, "a listener");
	close(fd);
}

/* AF_UNIX counts buffers where AF_SPEED counts bytes: only zero is the same, see exceptions.h. */
static void unread_bytes(const struct transport *t)
{
	struct end e[2];
	char buf[4000] = { 0 };
	int before, full, half, after;

	tp_pair(t, e);
	NOTE(ioctl(e[0].fd, SIOCOUTQ, &before), "SIOCOUTQ");
	trace_num(before, "it says, nothing sent");
	NOTE(end_send(&e[0], buf, 4000, 0), "send 4000");
	NOTE(end_send(&e[0], buf, 4000, 0), "send 4000");
	NOTE(ioctl(e[0].fd, SIOCOUTQ, &full), "SIOCOUTQ");
	trace_num(full, "it says, 8000 sent");
	NOTE(end_recv(&e[1], buf, 4000, 0), "recv 4000");
	NOTE(ioctl(e[0].fd, SIOCOUTQ, &half), "SIOCOUTQ");
	trace_num(half, "it says, 4000 of them read");
	NOTE(end_recv(&e[1], buf, 4000, 0), "recv 4000");
	NOTE(ioctl(e[0].fd, SIOCOUTQ, &after), "SIOCOUTQ");
	trace_num(after, "it says, all read");
	NOTE(ioctl(e[0].fd, SIOCOUTQ, bad_pointer()), "SIOCOUTQ, bad pointer");
	pair_close(e);
}

static void other_ioctls(const struct transport *t)
{
	struct end e[2];
	int n = 0;

	tp_pair(t, e);
	NOTE(ioctl(e[0].fd, 0xdead, &n), "an unknown ioctl");
	NOTE(ioctl(e[0].fd, TIOCGWINSZ, &n), "a terminal's ioctl");
	NOTE(ioctl(e[0].fd, FIONBIO, bad_pointer()), "FIONBIO, bad pointer");
	NOTE(ioctl(e[0].fd, FIOCLEX), "FIOCLEX");
	NOTE(ioctl(e[0].fd, FIOSETOWN, &(int){ getpid() }), "FIOSETOWN");
	NOTE(ioctl(e[0].fd, FIOGETOWN, &n), "FIOGETOWN");
	trace_num(n == getpid(), "it is this process");
	pair_close(e);
}

static void at_mark(const struct transport *t)
{
	struct end e[2];
	int n = -1;

	tp_pair(t, e);
	NOTE(ioctl(e[0].fd, SIOCATMARK, &n), "SIOCATMARK");
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "readable_bytes", readable_bytes, CASE_BOTH | CASE_PATHS },
	{ "unread_bytes", unread_bytes, CASE_BOTH | CASE_PATHS },
	{ "other_ioctls", other_ioctls, CASE_BOTH },
	{ "at_mark", at_mark, CASE_STREAM },
};

RUN_CASES(cases)
