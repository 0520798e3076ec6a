// SPDX-License-Identifier: GPL-2.0
/* What goes over TCP connections: see tcp_pair.h. */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>

#include "task.h"
#include "tcp_pair.h"
#include "trace.h"

#define SOON_MS		20000
#define QUIET_MS	600
#define PAUSE_MS	20
#define CHUNK		2048

static bool one_way(int from, int to)
{
	static const char note[TCP_NOTE] = "exchange";
	char got[sizeof(note)];

	return send(from, note, sizeof(note), MSG_NOSIGNAL) == sizeof(note) &&
	       recv(to, got, sizeof(got), MSG_WAITALL) == sizeof(got) &&
	       !memcmp(note, got, sizeof(got));
}

bool tcp_exchange(const int fd[2])
{
	return one_way(fd[0], fd[1]) && one_way(fd[1], fd[0]);
}

#define PUMP	65536

bool tcp_put(int fd, size_t len, size_t offset)
{
	static __thread unsigned char out[PUMP];
	size_t done = 0, n;
	ssize_t sent;

	for (; done < len; done += sent) {
		n = len - done < PUMP ? len - done : PUMP;
		stream_fill(out, n, offset + done);
		sent = send(fd, out, n, MSG_NOSIGNAL);
		if (sent <= 0)
			return false;
	}
	return true;
}

bool tcp_get(int fd, size_t len, size_t offset)
{
	static __thread unsigned char in[PUMP];
	size_t done = 0;
	ssize_t n;

	for (; done < len; done += n) {
		n = recv(fd, in, len - done < PUMP ? len - done : PUMP, 0);
		if (n <= 0 || !stream_check(in, n, offset + done))
			return false;
	}
	return true;
}

bool tcp_pump(int from, int to, size_t len)
{
	static __thread unsigned char out[PUMP], in[PUMP];
	size_t sent = 0, got = 0;
	ssize_t n, m;

	while (got < len) {
		size_t want = len - sent < PUMP ? len - sent : PUMP;

		stream_fill(out, want, sent);
		n = send(from, out, want, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN)
			return false;
		sent += n > 0 ? n : 0;
		m = recv(to, in, PUMP, MSG_DONTWAIT);
		if (m == 0 || (m < 0 && errno != EAGAIN))
			return false;
		if (m > 0 && !stream_check(in, m, got))
			return false;
		got += m > 0 ? m : 0;
		if (m < 0 && (n < 0 || !want) && !poll_wait(to, POLLIN, SOON_MS))
			return false;
	}
	return true;
}

bool tcp_pump_both(const int fd[2], size_t len)
{
	return tcp_pump(fd[0], fd[1], len) && tcp_pump(fd[1], fd[0], len);
}

bool tcp_settled(int fd)
{
	long until = now_ms() + SOON_MS;
	int n = -1;

	while (!ioctl(fd, SIOCOUTQ, &n) && n && now_ms() < until)
		sleep_ms(1);
	return !n;
}

unsigned int tcp_quiet_ms(int fd)
{
	struct tcp_info i;
	socklen_t len = sizeof(i);
	unsigned int until_probe;

	if (get_int(fd, SOL_SOCKET, SO_PROTOCOL) != IPPROTO_TCP)
		return QUIET_MS;
	MUST(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &len) == 0);
	/* It doubles with what is sent again and not taken. */
	until_probe = (i.tcpi_rto >> i.tcpi_backoff) / 1000;
	return 2 * until_probe > QUIET_MS ? 2 * until_probe : QUIET_MS;
}

/* The time is that of the looks: one that a machine stood still in is no longer than others. */
size_t tcp_fill(int fd)
{
	unsigned char buf[CHUNK];
	unsigned int quiet = 0, enough = QUIET_MS;
	size_t done = 0;
	ssize_t n;

	while (quiet < enough) {
		stream_fill(buf, sizeof(buf), done);
		n = send(fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0) {
			done += n;
			quiet = 0;
			continue;
		}
		MUST(errno == EAGAIN);
		enough = tcp_quiet_ms(fd);
		quiet += PAUSE_MS;
		sleep_ms(PAUSE_MS);
	}
	return done;
}

ssize_t tcp_send_odd(int fd, const void *buf, size_t len, int flags)
{
	char control[CMSG_SPACE(sizeof(uint32_t))] = "";
	struct iovec iov = { (void *)buf, len };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SO_MARK;
	c->cmsg_len = CMSG_LEN(sizeof(uint32_t));
	return sendmsg(fd, &m, flags);
}
