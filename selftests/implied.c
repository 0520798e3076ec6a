// SPDX-License-Identifier: GPL-2.0
/*
 * Implied connect: sendto() with an address on an unconnected socket connects
 * and sends in one call. The reference connects and sends in two.
 */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "harness.h"

static ssize_t connect_send(const struct transport *t, int fd, const void *buf, size_t len,
			    int flags, const struct address *a)
{
	if (t->speed)
		return sendto(fd, buf, len, flags, (struct sockaddr *)&a->sa, a->len);
	if (connect_to(fd, a))
		return -1;
	return send(fd, buf, len, flags);
}

static ssize_t connect_sendmsg(const struct transport *t, int fd, const struct iovec *iov, int n,
			       const struct address *a)
{
	struct msghdr m = { .msg_iov = (struct iovec *)iov, .msg_iovlen = n };

	if (t->speed) {
		m.msg_name = (void *)&a->sa;
		m.msg_namelen = a->len;
	} else if (connect_to(fd, a)) {
		return -1;
	}
	return sendmsg(fd, &m, 0);
}

static void one_call(const struct transport *t)
{
	struct iovec iov[2] = { { "two ", 4 }, { "buffers", 7 } };
	struct address a, got;
	int listener = tp_listen(t, 4, &a), fd, server;
	char buf[32];

	fd = tp_socket(t, 0);
	NOTE(connect_send(t, fd, "hello", 5, 0, &a), "connect and send");
	NOTE(send(fd, " again", 6, 0), "send again");
	NOTE(get_peername(fd, &got), "getpeername");
	trace_num(address_equal(&got, &a), "it is the listener's");
	server = accept(listener, NULL, NULL);
	NOTE(recv(server, buf, 5, 0), "recv");
	trace_bytes(buf, 5, "the bytes");
	NOTE(recv(server, buf, 32, 0), "recv");
	NOTE(send(server, "reply", 5, 0), "send back");
	NOTE(recv(fd, buf, 32, 0), "recv it");
	close(fd);
	close(server);

	fd = tp_socket(t, 0);
	NOTE(connect_sendmsg(t, fd, iov, 2, &a), "connect and send two buffers");
	server = accept(listener, NULL, NULL);
	NOTE(recv(server, buf, 32, 0), "recv");
	trace_bytes(buf, 11, "the bytes");
	close(fd);
	close(server);

	fd = tp_socket(t, 0);
	NOTE(connect_send(t, fd, "", 0, 0, &a), "connect and send nothing");
	NOTE(get_peername(fd, &got), "getpeername");
	server = accept(listener, NULL, NULL);
	trace_num(server >= 0, "accept");
	close(fd);
	close(server);
	close(listener);
}

static void refused(const struct transport *t)
{
	struct address a;
	int fd = tp_socket(t, 0), listener;

	tp_address(t, &a);
	NOTE(connect_send(t, fd, "hello", 5, 0, &a), "where nobody is");
	NOTE(connect_send(t, fd, "hello", 5, MSG_NOSIGNAL, &a), "again");
	NOTE(get_peername(fd, &a), "getpeername");
	NOTE(send(fd, "x", 1, 0), "send");
	listener = tp_listen(t, 1, &a);
	NOTE(connect_send(t, fd, "hello", 5, 0, &a), "where somebody is");
	close(listener);
	close(fd);
}

/* A full backlog: without blocking EAGAIN, and nothing was sent. */
static void full_backlog(const struct transport *t)
{
	struct address a;
	int listener = tp_listen(t, 0, &a), first = tp_connect(t, &a), server;
	int fd = tp_socket(t, SOCK_NONBLOCK);
	char buf[16];

	NOTE(connect_send(t, fd, "early", 5, 0, &a), "non-blocking");
	server = accept(listener, NULL, NULL);
	close(server);
	NOTE(connect_send(t, fd, "late", 4, 0, &a), "after an accept");
	server = accept(listener, NULL, NULL);
	NOTE(recv(server, buf, 16, 0), "recv");
	trace_bytes(buf, 4, "the bytes");
	close(server);
	close(first);
	close(fd);
	close(listener);
}

/* With an address when connected, as AF_UNIX refuses it. */
static void connected(const struct transport *t)
{
	struct address a;
	struct end e[2];
	int listener = tp_listen(t, 1, &a);

	tp_pair(t, e);
	NOTE(sendto(e[0].fd, "x", 1, 0, (struct sockaddr *)&a.sa, a.len), "sendto when connected");
	NOTE(recv(e[1].fd, &(char){ 0 }, 1, MSG_DONTWAIT), "nothing came");
	pair_close(e);
	close(listener);
}

static void wrong(const struct transport *t)
{
	struct address a;
	int listener = tp_listen(t, 1, &a), fd = tp_socket(t, 0);
	int other = socket(t->family, t->type == SOCK_STREAM ? SOCK_SEQPACKET : SOCK_STREAM, 0);
	struct sockaddr *sa = (struct sockaddr *)&a.sa;

	WANT_ERR(sendto(fd, "x", 1, 0, sa, 1), EINVAL, "a length of 1");
	WANT_ERR(sendto(fd, "x", 1, 0, sa, sizeof(struct speed_sockaddr) + 1), EINVAL, "too long");
	WANT_ERR(sendto(fd, "x", 1, 0, sa, 2), EINVAL, "the family alone");
	WANT_ERR(sendto(other, "x", 1, 0, sa, a.len), EPROTOTYPE, "the other type");
	WANT_ERR(sendto(listener, "x", 1, 0, sa, a.len), EINVAL, "a listener");
	a.sa.ss_family = AF_UNIX;
	WANT_ERR(sendto(fd, "x", 1, 0, sa, a.len), EINVAL, "another family");
	WANT_ERR(send(fd, "x", 1, 0), ENOTCONN, "still unconnected");
	close(listener);
	close(other);
	close(fd);
}

static const struct test_case cases[] = {
	{ "one_call", one_call, CASE_BOTH },
	{ "refused", refused, CASE_BOTH },
	{ "full_backlog", full_backlog, CASE_BOTH },
	{ "connected", connected, CASE_BOTH },
	{ "wrong", wrong, CASE_BOTH | CASE_SPEED },
};

RUN_CASES(cases)
