// SPDX-License-Identifier: GPL-2.0
/* The ends of a connection and the verbs of both paths: see transport.h. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tcp_pair.h"
#include "trace.h"
#include "transport.h"

#define LATE_MS	5000

void end_init(const struct transport *t, struct end *e, int fd, int side)
{
	memset(e, 0, sizeof(*e));
	e->fd = fd;
	e->path = t->path[side];
	if (e->path == PATH_KERNEL)
		return;
	e->map = speed_attach(fd, 0);
	MUST(e->map);
	/* Not needed, and refused where the peer has gone or another has the role. */
	if (e->path == PATH_MAPPED)
		speed_map(e->map, SPEED_MAP_BOTH);
}

static void count_mapped(struct end *e)
{
	struct speed_stats st = { 0 };

	if (speed_get_stats(e->map, &st) == 0)
		__atomic_add_fetch(&trace->mapped, st.mapped_sends + st.mapped_recvs,
				   __ATOMIC_RELAXED);
}

void end_close(struct end *e)
{
	if (e->map) {
		count_mapped(e);
		speed_detach(e->map);
	}
	e->map = NULL;
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
}

static void sized(const int fd[2], int bytes)
{
	int i;

	for (i = 0; bytes && i < 2; i++) {
		MUST(set_int(fd[i], SOL_SOCKET, SO_SNDBUF, bytes) == 0);
		MUST(set_int(fd[i], SOL_SOCKET, SO_RCVBUF, bytes) == 0);
	}
}

static void connected(const struct transport *t, int fd[2], int bytes)
{
	int listener = tp_socket(t, SOCK_CLOEXEC);
	struct address a;

	fd[0] = tp_socket(t, 0);
	/* The accepted end has its buffers from the listener. */
	sized((int [2]){ listener, fd[0] }, bytes);
	tp_address(t, &a);
	MUST(bind_to(listener, &a) == 0);
	MUST(listen(listener, 1) == 0);
	MUST(connect_to(fd[0], &a) == 0);
	fd[1] = accept(listener, NULL, NULL);
	MUST(fd[1] >= 0);
	close(listener);
	if (tp_is_tcp(t))
		MUST(set_int(fd[1], IPPROTO_TCP, TCP_NODELAY, 1) == 0);
}

/* A few bytes each way, so that it is fused and can be mapped. */
static void fuse(const struct transport *t, const int fd[2])
{
	if (!t->fused)
		return;
	MUST(tcp_exchange(fd));
	MUST(tcp_fused(fd));
}

/* Both roles of an end that is to be mapped; false: refused for now. */
static bool map_roles(struct end *e)
{
	if (e->path != PATH_MAPPED || speed_map(e->map, SPEED_MAP_BOTH) == 0)
		return true;
	MUST(errno == EAGAIN);
	return false;
}

/*
 * A lease is refused while another operation is under way, and taken back from
 * who does not map within a second, which a slow machine may not: once more.
 */
void tp_pair_sized(const struct transport *t, struct end e[2], int bytes)
{
	int tries = 10, fd[2], i;

	while (1) {
		connected(t, fd, bytes);
		fuse(t, fd);
		for (i = 0; i < 2; i++)
			end_init(t, &e[i], fd[i], i);
		if (map_roles(&e[0]) && map_roles(&e[1]))
			return;
		printf("# a fresh lease was refused\n");
		pair_close(e);
		MUST(--tries);
	}
}

void tp_pair(const struct transport *t, struct end e[2])
{
	tp_pair_sized(t, e, 0);
}

void pair_close(struct end e[2])
{
	end_close(&e[0]);
	end_close(&e[1]);
}

/*
 * Which path this call takes. A role that was taken back is not granted again
 * at once, so the alternating path asks for it before each mapped call.
 */
static bool by_map(struct end *e, int role)
{
	if (e->path != PATH_ALTERNATE)
		return e->path == PATH_MAPPED;
	if (atomic_fetch_add(&e->turn, 1) & 1)
		return false;
	speed_map(e->map, 1u << role);
	errno = 0;
	return true;
}

static ssize_t moved(ssize_t n)
{
	if (n > 0)
		__atomic_add_fetch(&trace->moved, 1, __ATOMIC_RELAXED);
	return n;
}

ssize_t end_send(struct end *e, const void *buf, size_t len, int flags)
{
	if (by_map(e, SPEED_ROLE_TX))
		return moved(speed_send(e->map, buf, len, flags));
	return send(e->fd, buf, len, flags);
}

ssize_t end_recv(struct end *e, void *buf, size_t len, int flags)
{
	if (by_map(e, SPEED_ROLE_RX))
		return moved(speed_recv(e->map, buf, len, flags));
	return recv(e->fd, buf, len, flags);
}

ssize_t end_sendv(struct end *e, const struct iovec *iov, int n, int flags)
{
	struct msghdr m = { .msg_iov = (struct iovec *)iov, .msg_iovlen = n };

	if (by_map(e, SPEED_ROLE_TX))
		return moved(speed_sendv(e->map, iov, n, flags));
	return sendmsg(e->fd, &m, flags);
}

ssize_t end_recvv(struct end *e, const struct iovec *iov, int n, int flags)
{
	struct msghdr m = { .msg_iov = (struct iovec *)iov, .msg_iovlen = n };

	if (by_map(e, SPEED_ROLE_RX))
		return moved(speed_recvv(e->map, iov, n, flags));
	return recvmsg(e->fd, &m, flags);
}

ssize_t end_send_all(struct end *e, const void *buf, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = end_send(e, (const char *)buf + done, len - done, MSG_NOSIGNAL);
		if (n < 0)
			return n;
		done += n;
	}
	return done;
}

ssize_t end_recv_all(struct end *e, void *buf, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = end_recv(e, (char *)buf + done, len - done, 0);
		if (n < 0)
			return n;
		if (n == 0)
			break;
		done += n;
	}
	return done;
}

size_t end_fill(struct end *e, size_t chunk)
{
	char *buf = malloc(chunk);
	size_t done = 0;
	ssize_t n;

	MUST(buf);
	for (;;) {
		stream_fill(buf, chunk, done);
		n = end_send(e, buf, chunk, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0)
			break;
		done += n;
	}
	MUST(errno == EAGAIN);
	free(buf);
	return done;
}

size_t end_discard(struct end *e)
{
	static char buf[65536];
	size_t done = 0;
	ssize_t n;

	while ((n = end_recv(e, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		done += n;
	return done;
}

size_t end_drain(struct end *e, size_t offset)
{
	size_t size = 65536, done = 0;
	char *buf = malloc(size);
	ssize_t n;

	MUST(buf);
	while ((n = end_recv(e, buf, size, MSG_DONTWAIT)) > 0) {
		if (!stream_check(buf, n, offset + done))
			trace_num(done, "wrong byte in what was drained after");
		done += n;
	}
	free(buf);
	return done;
}

size_t end_drain_late(struct end *e, size_t offset, size_t want)
{
	size_t n, done = end_drain(e, offset);

	while (done < want && (poll_wait(e->fd, POLLIN, LATE_MS) & POLLIN)) {
		n = end_drain(e, offset + done);
		if (!n)
			break;	/* the end, or an error */
		done += n;
	}
	return done;
}

static unsigned char stream_byte(size_t at)
{
	size_t x = at * 0x9e3779b97f4a7c15ull;

	return (x >> 56) ^ (at >> 3);
}

void stream_fill(void *buf, size_t len, size_t offset)
{
	unsigned char *b = buf;
	size_t i;

	for (i = 0; i < len; i++)
		b[i] = stream_byte(offset + i);
}

bool stream_check(const void *buf, size_t len, size_t offset)
{
	const unsigned char *b = buf;
	size_t i;

	for (i = 0; i < len; i++) {
		if (b[i] != stream_byte(offset + i))
			return false;
	}
	return true;
}
