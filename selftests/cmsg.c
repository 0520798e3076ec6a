// SPDX-License-Identifier: GPL-2.0
/* Control messages: descriptors are refused, and bad ones as AF_UNIX refuses them. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

union control {
	char buf[256];
	struct cmsghdr head;
};

static ssize_t send_control(int fd, int level, int type, const void *data, size_t len,
			    size_t claimed)
{
	union control c = { 0 };
	struct iovec iov = { "x", 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = c.buf, .msg_controllen = CMSG_SPACE(len),
	};

	c.head.cmsg_level = level;
	c.head.cmsg_type = type;
	c.head.cmsg_len = claimed;
	memcpy(CMSG_DATA(&c.head), data, len);
	return sendmsg(fd, &m, MSG_DONTWAIT);
}

static void bad(const struct transport *t)
{
	struct end e[2];
	int fd = 0;

	tp_pair(t, e);
	NOTE(send_control(e[0].fd, SOL_SOCKET, SCM_RIGHTS, &fd, 4, 0), "length 0");
	NOTE(send_control(e[0].fd, SOL_SOCKET, SCM_RIGHTS, &fd, 4, sizeof(struct cmsghdr) - 1),
	     "length short of a header");
	NOTE(send_control(e[0].fd, SOL_SOCKET, SCM_RIGHTS, &fd, 4, 1000),
	     "length beyond the buffer");
	NOTE(send_control(e[0].fd, SOL_SOCKET, SCM_RIGHTS, &fd, 4, ~0ul), "length -1");
	NOTE(send_control(e[0].fd, SOL_SOCKET, 77, &fd, 4, CMSG_LEN(4)), "an unknown type");
	NOTE(recv(e[1].fd, &(char){ 0 }, 1, MSG_DONTWAIT), "nothing came");
	pair_close(e);
}

static void other_level(const struct transport *t)
{
	struct end e[2];
	int value = 0;
	char buf[4];

	tp_pair(t, e);
	NOTE(send_control(e[0].fd, IPPROTO_IP, 1, &value, 4, CMSG_LEN(4)), "a level of IP");
	NOTE(send_control(e[0].fd, 4711, 1, &value, 4, CMSG_LEN(4)), "an unknown level");
	NOTE(recv(e[1].fd, buf, sizeof(buf), MSG_DONTWAIT), "what came");
	pair_close(e);
}

/* AF_UNIX takes one's own, and TCP does not look at them. */
static void credentials(const struct transport *t)
{
	struct ucred own = { getpid(), getuid(), getgid() }, ones = { 1, 4711, 4711 };
	struct end e[2];
	char c;

	tp_pair(t, e);
	NOTE(send_control(e[0].fd, SOL_SOCKET, SCM_CREDENTIALS, &own, 4, CMSG_LEN(4)),
	     "credentials cut short");
	NOTE(send_control(e[0].fd, SOL_SOCKET, SCM_CREDENTIALS, &own, sizeof(own),
			  CMSG_LEN(sizeof(own))), "credentials of one's own");
	MUST(recv(e[1].fd, &c, 1, MSG_DONTWAIT) == 1 || errno == EAGAIN);
	MUST(!setuid(4711));
	NOTE(send_control(e[0].fd, SOL_SOCKET, SCM_CREDENTIALS, &ones, sizeof(ones),
			  CMSG_LEN(sizeof(ones))), "those of process 1");
	NOTE(recv(e[1].fd, &c, 1, MSG_DONTWAIT), "nothing came");
	pair_close(e);
}

/* AF_UNIX takes them (0), or has an errno of its own; a ring refuses all. */
static void want_rights(const struct transport *t, int fd, const int *fds, size_t len, int err,
			const char *what)
{
	int want = tp_is_unix(t) ? err : EOPNOTSUPP;

	WANT(send_control(fd, SOL_SOCKET, SCM_RIGHTS, fds, len, CMSG_LEN(len)), want ? -1 : 1, want,
	     "%s", what);
}

/* What came beside descriptors, where they came. */
static void discard(struct end *e)
{
	char c;

	while (end_recv(e, &c, 1, MSG_DONTWAIT) > 0)
		;
}

static void rights(const struct transport *t)
{
	struct end e[2];
	int fds[2] = { 0, 1 }, closed = 999;
	char c;

	tp_pair(t, e);
	want_rights(t, e[0].fd, fds, 4, 0, "a descriptor");
	want_rights(t, e[0].fd, fds, 8, 0, "two descriptors");
	want_rights(t, e[0].fd, &closed, 4, EBADF, "one that is not open");
	if (!tp_is_unix(t))
		MUST(recv(e[1].fd, &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
	discard(&e[1]);
	NOTE(recv(e[1].fd, &c, 1, MSG_DONTWAIT), "no more comes");
	WANT(send(e[0].fd, "y", 1, 0), 1, 0, "the connection goes on");
	WANT(recv(e[1].fd, &c, 1, MSG_DONTWAIT), 1, 0, "recv");
	pair_close(e);
}

/* Through the mapped path, too, and beside it. AF_UNIX puts nothing between the two. */
static void rights_among_data(const struct transport *t)
{
	bool both = tp_is_unix(t) && t->type == SOCK_STREAM;
	struct end e[2];
	char buf[16];
	int fd = 0, i;

	tp_pair(t, e);
	for (i = 0; i < 3; i++) {
		WANT(end_send(&e[0], "abc", 3, 0), 3, 0, "send");
		want_rights(t, e[0].fd, &fd, 4, 0, "a descriptor");
		WANT(end_recv(&e[1], buf, 16, MSG_DONTWAIT), both ? 4 : 3, 0, "recv");
		WANT_TRUE(!memcmp(buf, "abc", 3), "the bytes");
		discard(&e[1]);
	}
	pair_close(e);
}

static void room_for_control(const struct transport *t)
{
	char data[8];
	union control c;
	struct iovec iov = { data, sizeof(data) };
	struct end e[2];
	int with;

	tp_pair(t, e);
	for (with = 0; with < 2; with++) {
		struct msghdr m = {
			.msg_iov = &iov, .msg_iovlen = 1, .msg_flags = -1,
			.msg_control = with ? c.buf : NULL, .msg_controllen = with ? 256 : 0,
		};
		struct sockaddr_storage from;

		memset(&from, 0x55, sizeof(from));
		m.msg_name = &from;
		m.msg_namelen = sizeof(from);
		NOTE(end_send(&e[0], "abc", 3, 0), "send");
		NOTE(recvmsg(e[1].fd, &m, 0), "recvmsg");
		trace_num(m.msg_flags, "msg_flags");
		trace_num(m.msg_controllen, "msg_controllen");
		trace_num(m.msg_namelen, "msg_namelen");
	}
	pair_close(e);
}

/* AF_UNIX tells with each message who sent it, AF_SPEED once, by SO_PEERCRED. */
static void asked_for_credentials(const struct transport *t)
{
	char data[8];
	union control c;
	struct iovec iov = { data, sizeof(data) };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = c.buf,
		.msg_controllen = sizeof(c),
	};
	struct end e[2];

	tp_pair(t, e);
	NOTE(set_int(e[1].fd, SOL_SOCKET, SO_PASSCRED, 1), "SO_PASSCRED");
	NOTE(send(e[0].fd, "abc", 3, 0), "send");
	NOTE(recvmsg(e[1].fd, &m, 0), "recvmsg");
	trace_num(m.msg_controllen, "msg_controllen");
	trace_num(m.msg_flags, "msg_flags");
	pair_close(e);
}

static void receive_from(const struct transport *t)
{
	struct address a;
	struct end e[2];
	char buf[8];

	tp_pair(t, e);
	NOTE(end_send(&e[0], "abc", 3, 0), "send");
	a.len = sizeof(a.sa);
	NOTE(recvfrom(e[1].fd, buf, 8, 0, (struct sockaddr *)&a.sa, &a.len), "recvfrom");
	trace_num(a.len, "the address's length");
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "bad", bad, CASE_BOTH },
	{ "other_level", other_level, CASE_BOTH },
	{ "credentials", credentials, CASE_BOTH },
	{ "rights", rights, CASE_BOTH },
	{ "rights_among_data", rights_among_data, CASE_BOTH | CASE_PATHS },
	{ "room_for_control", room_for_control, CASE_BOTH | CASE_PATHS | CASE_UNMAPPED },
	{ "asked_for_credentials", asked_for_credentials, CASE_BOTH },
	{ "receive_from", receive_from, CASE_BOTH | CASE_PATHS | CASE_UNMAPPED },
};

RUN_CASES(cases)
