// SPDX-License-Identifier: GPL-2.0
/* Transports by system call: pipes and sockets. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "bench.h"
#include "transport.h"

/* Without waiting where --nonblocking asks for it; false: it is to be tried again. */
static bool tried(int fd, ssize_t n, short events)
{
	struct pollfd one = { .fd = fd, .events = events };

	if (n >= 0 || errno != EAGAIN || !opt.nonblocking)
		return true;
	if (poll(&one, 1, -1) < 0)
		die("poll: %m");
	return false;
}

void socket_put(struct end *e, const void *from, size_t len)
{
	int flags = MSG_NOSIGNAL | (opt.nonblocking ? MSG_DONTWAIT : 0);

	e->bytes[0] += len;
	while (len) {
		ssize_t n = send(e->out, from, len, flags);

		if (!tried(e->out, n, POLLOUT))
			continue;

		if (n <= 0)
			die("%s: send: %m", e->transport->name);
		from = (const char *)from + n;
		len -= (size_t)n;
	}
}

size_t socket_get_some(struct end *e, void *to, size_t len)
{
	ssize_t n;

	do {
		n = recv(e->in, to, len, opt.nonblocking ? MSG_DONTWAIT : 0);
	} while (!tried(e->in, n, POLLIN));
	if (n < 0)
		die("%s: recv: %m", e->transport->name);
	if (!n)
		die("%s: the peer has closed", e->transport->name);
	e->bytes[1] += (size_t)n;
	return (size_t)n;
}

void socket_get(struct end *e, void *to, size_t len)
{
	while (len) {
		size_t n = socket_get_some(e, to, len);

		to = (char *)to + n;
		len -= n;
	}
}

/* Messages that keep their bounds: both sides cut what is too long for one alike. */
void packet_put(struct end *e, const void *from, size_t len)
{
	while (len) {
		size_t n = len < PACKET_MAX ? len : PACKET_MAX;

		socket_put(e, from, n);
		from = (const char *)from + n;
		len -= n;
	}
}

static size_t packet_get_some(struct end *e, void *to, size_t len)
{
	return socket_get_some(e, to, len < PACKET_MAX ? len : PACKET_MAX);
}

void packet_get(struct end *e, void *to, size_t len)
{
	while (len) {
		size_t n = packet_get_some(e, to, len);

		to = (char *)to + n;
		len -= n;
	}
}

void pipe_open(const struct transport *t, struct link *l)
{
	int way[2][2];

	(void)t;
	if (pipe2(way[0], O_CLOEXEC) || pipe2(way[1], O_CLOEXEC))
		die("pipe: %m");
	l->end[0].in = way[1][0];
	l->end[0].out = way[0][1];
	l->end[1].in = way[0][0];
	l->end[1].out = way[1][1];
}

void pipe_put(struct end *e, const void *from, size_t len)
{
	while (len) {
		ssize_t n = write(e->out, from, len);

		if (n <= 0)
			die("pipe: write: %m");
		from = (const char *)from + n;
		len -= (size_t)n;
	}
}

size_t pipe_get_some(struct end *e, void *to, size_t len)
{
	ssize_t n = read(e->in, to, len);

	if (n < 0)
		die("pipe: read: %m");
	if (!n)
		die("pipe: the peer has closed");
	return (size_t)n;
}

void pipe_get(struct end *e, void *to, size_t len)
{
	while (len) {
		size_t n = pipe_get_some(e, to, len);

		to = (char *)to + n;
		len -= n;
	}
}

static int family_unix(void)
{
	return AF_UNIX;
}

int family_inet(void)
{
	return AF_INET;
}

#define ABLE_SOCKET	(ABLE_LINK | ABLE_STREAM | ABLE_DOOR | ABLE_MEMORY | ABLE_EPOLL | \
			 ABLE_NONBLOCKING)

const struct transport transport_pipe = {
	.name = "pipe",
	.why_unable = "a pipe comes with both its ends: nobody connects",
	.able = ABLE_LINK | ABLE_STREAM,
	.open = pipe_open,
	.put = pipe_put,
	.get = pipe_get,
	.get_some = pipe_get_some,
};

const struct transport transport_unix = {
	.name = "unix",
	.able = ABLE_SOCKET,
	.family = family_unix,
	.open = socket_link,
	.put = socket_put,
	.get = socket_get,
	.get_some = socket_get_some,
};

const struct transport transport_tcp = {
	.name = "tcp",
	.able = ABLE_SOCKET,
	.family = family_inet,
	.open = socket_link,
	.put = socket_put,
	.get = socket_get,
	.get_some = socket_get_some,
};

const struct transport transport_speed = {
	.name = "speed",
	.able = ABLE_SOCKET,
	.family = speed_family_or_die,
	.open = socket_link,
	.put = socket_put,
	.get = socket_get,
	.get_some = socket_get_some,
};

const struct transport transport_unix_packet = {
	.name = "unix-seqpacket",
	.able = ABLE_SOCKET,
	.family = family_unix,
	.type = SOCK_SEQPACKET,
	.open = socket_link,
	.put = packet_put,
	.get = packet_get,
	.get_some = packet_get_some,
};

const struct transport transport_speed_packet = {
	.name = "speed-seqpacket",
	.able = ABLE_SOCKET,
	.family = speed_family_or_die,
	.type = SOCK_SEQPACKET,
	.open = socket_link,
	.put = packet_put,
	.get = packet_get,
	.get_some = packet_get_some,
};
