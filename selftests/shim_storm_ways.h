/* SPDX-License-Identifier: GPL-2.0 */
/* All the ways to send and to receive, of which a storm takes one at random. */
#ifndef SPEED_SELFTESTS_SHIM_STORM_WAYS_H
#define SPEED_SELFTESTS_SHIM_STORM_WAYS_H

#include "shim_storm.h"

/* ---- sending ---- */

static ssize_t send_vector(int fd, const unsigned char *at, size_t len)
{
	struct iovec iov[3] = {
		{ (void *)at, len / 3 }, { (void *)(at + len / 3), len / 3 },
		{ (void *)(at + len / 3 * 2), len - len / 3 * 2 },
	};
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 3 };

	if (handle && len % 8)
		return speed_sendv(handle, iov, 3, MSG_NOSIGNAL);
	return sendmsg(fd, &m, MSG_NOSIGNAL);
}

/* Through a pipe, as splice() has it; of this end alone. */
static __thread int through[2] = { -1, -1 };

static ssize_t send_spliced(int fd, const unsigned char *at, size_t len)
{
	ssize_t n, sent = 0;

	if (through[0] < 0)
		MUST(pipe(through) == 0);
	len = len < 30000 ? len : 30000;
	MUST(write(through[1], at, len) == (ssize_t)len);
	while (sent < (ssize_t)len) {
		n = splice(through[0], NULL, fd, NULL, len - sent, 0);
		if (n <= 0)
			return -1;
		sent += n;
	}
	return sent;
}

static ssize_t recv_spliced(int fd, unsigned char *buf, size_t len)
{
	ssize_t n, got = 0, m;

	if (through[0] < 0)
		MUST(pipe(through) == 0);
	n = splice(fd, NULL, through[1], NULL, len < 30000 ? len : 30000, 0);
	for (; got < n; got += m) {
		m = read(through[0], buf + got, n - got);
		MUST(m > 0);
	}
	return n;
}

static ssize_t send_nowait(int fd, const unsigned char *at, size_t len)
{
	ssize_t n = put(fd, at, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n >= 0 || errno != EAGAIN)
		return n;
	poll_wait(fd, POLLOUT, 1000);
	return 0;
}

static ssize_t send_some(int fd, struct chance *c, const unsigned char *at, size_t len)
{
	ssize_t n;

	switch (some_way(c, 3, 12)) {
	case 0:
		return tcp_send_odd(fd, at, len, MSG_NOSIGNAL);
	case 1:
		n = tcp_send_odd(fd, at, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		return n < 0 && errno == EAGAIN ? 0 : n;
	case 2:
		return storm->repairs ? 0 : send_spliced(fd, at, len);
	case 3:
		return put(fd, at, len, MSG_MORE | MSG_NOSIGNAL);
	case 4:
		return send_vector(fd, at, len);
	case 5: case 6:
		return send_nowait(fd, at, len);
	default:
		return put(fd, at, len, MSG_NOSIGNAL);
	}
}

/* ---- receiving ---- */

static ssize_t recv_some(int fd, struct chance *c, unsigned char *buf, size_t len, bool *peek)
{
	ssize_t n;

	*peek = false;
	switch (storm->splices ? 1 : some_way(c, 2, 8)) {
	case 0:
		*peek = true;
		return recv(fd, buf, len, MSG_PEEK);
	case 1:
		return storm->repairs ? recv(fd, buf, len, 0) : recv_spliced(fd, buf, len);
	case 2:
		return get(fd, buf, len, MSG_WAITALL);
	case 3: case 4:
		n = get(fd, buf, len, MSG_DONTWAIT);
		if (n >= 0 || errno != EAGAIN)
			return n;
		poll_wait(fd, POLLIN, 1000);
		*peek = true;
		return recv(fd, buf, 1, MSG_PEEK);
	default:
		return get(fd, buf, len, 0);
	}
}

#endif
