// SPDX-License-Identifier: GPL-2.0
/* The ends of a connection and the verbs of both paths: see transport.h. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "trace.h"
#include "transport.h"

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

void tp_pair_sized(const struct transport *t, struct end e[2], int bytes)
{
	struct address a;
	int listener = tp_socket(t, SOCK_CLOEXEC);
	int fd[2], i;

	/* The accepted end has its buffers from the listener. */
	fd[0] = tp_socket(t, 0);
	if (bytes) {
		MUST(set_int(listener, SOL_SOCKET, SO_SNDBUF, bytes) == 0);
		MUST(set_int(listener, SOL_SOCKET, SO_RCVBUF, bytes) == 0);
		MUST(set_int(fd[0], SOL_SOCKET, SO_SNDBUF, bytes) == 0);
		MUST(set_int(fd[0], SOL_SOCKET, SO_RCVBUF, bytes) == 0);
	}
	tp_address(t, &a);
	MUST(bind_to(listener, &a) == 0);
	MUST(listen(listener, 1) == 0);
	MUST(connect_to(fd[0], &a) == 0);
	fd[1] = accept(listener, NULL, NULL);
	MUST(fd[1] >= 0);
	close(listener);
	if (tp_is_tcp(t))
		MUST(set_int(fd[1], IPPROTO_TCP, TCP_NODELAY, 1) == 0);
	for (i = 0; i < 2; i++) {
		end_init(t, &e[i], fd[i], i);
		if (e[i].path == PATH_MAPPED)
			MUST(speed_map(e[i].map, SPEED_MAP_BOTH) == 0);
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

unsigned int poll_wait(int fd, short events, int ms)
{
	struct pollfd p = { .fd = fd, .events = events };

	MUST(poll(&p, 1, ms) >= 0);
	return p.revents;
}

unsigned int poll_now(int fd, short events)
{
	return poll_wait(fd, events, 0);
}

void *bad_pointer(void)
{
	void *at = mmap(NULL, 16 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(at != MAP_FAILED);
	return at;
}

int set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	return fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
}

int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

int get_int(int fd, int level, int name)
{
	socklen_t len = sizeof(int);
	int value = 0;

	return getsockopt(fd, level, name, &value, &len) ? -1 : value;
}

int set_timeout(int fd, int name, int ms)
{
	struct timeval tv = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	return setsockopt(fd, SOL_SOCKET, name, &tv, sizeof(tv));
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
