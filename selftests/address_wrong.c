// SPDX-License-Identifier: GPL-2.0
/* Addresses that are refused, and sockets that cannot be: each mistake its errno. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "harness.h"

static void wrong_lengths(const struct transport *t)
{
	int fd = tp_socket(t, 0);
	struct sockaddr *sa;
	struct address a;
	int too_long = (tp_is_unix(t) ? sizeof(struct sockaddr_un) :
					sizeof(struct speed_sockaddr)) + 1;

	tp_address(t, &a);
	sa = (struct sockaddr *)&a.sa;
	NOTE(bind(fd, sa, 0), "bind, length 0");
	NOTE(bind(fd, sa, 1), "bind, length 1");
	NOTE(bind(fd, sa, too_long), "bind, a byte too long");
	NOTE(bind(fd, sa, sizeof(a.sa) + 1), "bind, longer than any");
	NOTE(bind(fd, sa, -1), "bind, length -1");
	NOTE(bind(fd, bad_pointer(), a.len), "bind, bad pointer");
	NOTE(connect(fd, sa, 0), "connect, length 0");
	NOTE(connect(fd, sa, 1), "connect, length 1");
	NOTE(connect(fd, sa, 2), "connect, the family alone");
	NOTE(connect(fd, sa, too_long), "connect, a byte too long");
	NOTE(connect(fd, sa, -1), "connect, length -1");
	NOTE(connect(fd, bad_pointer(), a.len), "connect, bad pointer");
	NOTE(get_sockname(fd, &a), "getsockname after all that");
	trace_num(address_unnamed(&a), "it is unnamed");
	close(fd);
}

static void wrong_family(const struct transport *t)
{
	int fd = tp_socket(t, 0);
	struct address a;

	tp_address(t, &a);
	a.sa.ss_family = AF_INET6;
	NOTE(bind_to(fd, &a), "bind, another family");
	NOTE(connect_to(fd, &a), "connect, another family");
	a.sa.ss_family = AF_UNSPEC;
	NOTE(bind_to(fd, &a), "bind, no family");
	NOTE(connect_to(fd, &a), "connect, no family");
	a.sa.ss_family = t->family;
	NOTE(bind_to(fd, &a), "bind, the right family");
	close(fd);
}

static void result_lengths(const struct transport *t)
{
	struct address a, got;
	int listener = tp_listen(t, 1, &a);
	socklen_t len;

	memset(&got, 0x55, sizeof(got));
	len = 4;
	NOTE(getsockname(listener, (struct sockaddr *)&got.sa, &len), "getsockname, short buffer");
	trace_num(len == a.len, "its length is the whole address's");
	trace_bytes((char *)&got.sa + 4, 4, "nothing beyond it was written");
	len = 0;
	NOTE(getsockname(listener, NULL, &len), "getsockname, no buffer");
	len = -1;
	NOTE(getsockname(listener, (struct sockaddr *)&got.sa, &len), "getsockname, length -1");
	len = sizeof(got.sa);
	NOTE(getsockname(listener, bad_pointer(), &len), "getsockname, bad pointer");
	close(listener);
}

static void sockets(const struct transport *t)
{
	int fd;

	NOTE(socket(t->family, SOCK_RDM, 0), "SOCK_RDM");
	NOTE(socket(t->family, t->type, 99), "protocol 99");
	NOTE(socket(t->family, t->type | 0x10000, 0), "unknown type flag");
	fd = socket(t->family, t->type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	MUST(fd >= 0);
	trace_num(!!(fcntl(fd, F_GETFL) & O_NONBLOCK), "SOCK_NONBLOCK");
	trace_num(!!(fcntl(fd, F_GETFD) & FD_CLOEXEC), "SOCK_CLOEXEC");
	close(fd);
}

static void bind_sp(int fd, const struct speed_sockaddr *sp, socklen_t len, int err,
		    const char *what)
{
	const struct sockaddr *sa = (const struct sockaddr *)sp;
	int other = socket(sp->sp_family, SOCK_STREAM, 0);

	WANT_ERR(bind(fd, sa, len), err, "bind, %s", what);
	WANT_ERR(connect(other, sa, len), err, "connect, %s", what);
	WANT_ERR(sendto(other, "x", 1, 0, sa, len), err, "sendto, %s", what);
	close(other);
}

static void validation(const struct transport *t)
{
	struct speed_sockaddr sp = { .sp_family = t->family, .sp_number = 5000 };
	int fd = tp_socket(t, 0);
	socklen_t len;

	WANT_ERR(socket(t->family, SOCK_DGRAM, 0), ESOCKTNOSUPPORT, "SOCK_DGRAM");
	WANT_ERR(socket(t->family, SOCK_RAW, 0), ESOCKTNOSUPPORT, "SOCK_RAW");
	for (len = 3; len < 8; len++)
		bind_sp(fd, &sp, len, EINVAL, "a cut address");
	sp.sp_reserved = 1;
	bind_sp(fd, &sp, 8, EINVAL, "reserved field");
	sp.sp_reserved = 0;
	strcpy(sp.sp_name, "both");
	bind_sp(fd, &sp, 8 + 4, EINVAL, "number and name");
	sp.sp_number = 0;
	bind_sp(fd, &sp, sizeof(sp) + 1, EINVAL, "longer than any address");
	sp.sp_family = AF_UNIX;
	WANT_ERR(bind(fd, (struct sockaddr *)&sp, 8 + 4), EINVAL, "bind, family AF_UNIX");
	close(fd);
}

static const struct test_case cases[] = {
	{ "wrong_lengths", wrong_lengths, CASE_BOTH },
	{ "wrong_family", wrong_family, CASE_BOTH },
	{ "result_lengths", result_lengths, CASE_BOTH },
	{ "sockets", sockets, CASE_BOTH },
	{ "validation", validation, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
