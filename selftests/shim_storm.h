/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stream each way between two processes, of which each byte has its place: the
 * ends send and receive in all the ways there are, and look whether it is so.
 */
#ifndef SPEED_SELFTESTS_SHIM_STORM_H
#define SPEED_SELFTESTS_SHIM_STORM_H

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "stress.h"
#include "tcp_pair.h"

#define PERIOD		1048573		/* of the stream's bytes; a prime */
#define LARGEST		(300 << 10)
#define FLIPS		4		/* kinds of others */

/**
 * struct storm - what the processes share
 * @fd: the connection
 * @largest: bytes of one send at most
 * @repairs: an end is put under repair from time to time
 * @splices: all is received by splice()
 * @stop: senders come to their end
 * @sent: bytes of each end
 * @got: bytes that each end received
 * @wrong: ends that saw something wrong, and after how many bytes
 * @error: errno then, or zero where it was the bytes
 * @instead: the place in the stream of what came instead, modulo its period
 * @flips: of each kind
 */
struct storm {
	int fd[2];
	size_t largest;
	bool repairs;
	bool splices;
	atomic_bool stop;
	atomic_ulong sent[2], got[2];
	atomic_long wrong[2];
	long error[2], instead[2];
	atomic_ulong flips[FLIPS];
	uint64_t seed;
};

static unsigned char stream[PERIOD + LARGEST];
static struct storm *storm;

static void wrong(int end, size_t after)
{
	long none = 0;

	atomic_compare_exchange_strong(&storm->wrong[end], &none, after + 1);
	storm->error[end] = errno;
	storm->stop = true;
}

/* Under repair TCP sends and receives for nobody, for a moment. */
static bool repairing(void)
{
	if (!storm->repairs || (errno != EPERM && errno != EINVAL))
		return false;
	usleep(100);
	return true;
}

static const unsigned char *stream_at(size_t offset)
{
	return stream + offset % PERIOD;
}

/* What came is not what is next: where does it belong? */
static void wrong_bytes(int end, size_t at, const unsigned char *buf, size_t len)
{
	const unsigned char *want = stream_at(at), *found;
	size_t same = 0;

	while (same < len && buf[same] == want[same])
		same++;
	found = memmem(stream, sizeof(stream), buf + same, len - same < 16 ? len - same : 16);
	errno = 0;
	wrong(end, at + same);
	storm->instead[end] = found ? found - stream : -1;
}

/* Most are small, some fill the ring. */
static size_t some_size(struct chance *c)
{
	size_t most = chance_below(c, 4) ? storm->largest / 64 + 1 : storm->largest;

	return 1 + chance_below(c, most);
}

/* ---- sending ---- */

static ssize_t send_vector(int fd, const unsigned char *at, size_t len)
{
	struct iovec iov[3] = {
		{ (void *)at, len / 3 }, { (void *)(at + len / 3), len / 3 },
		{ (void *)(at + len / 3 * 2), len - len / 3 * 2 },
	};
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 3 };

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
	ssize_t n = send(fd, at, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n >= 0 || errno != EAGAIN)
		return n;
	poll_wait(fd, POLLOUT, 1000);
	return 0;
}

static ssize_t send_some(int fd, struct chance *c, const unsigned char *at, size_t len)
{
	ssize_t n;

	switch (chance_below(c, 12)) {
	case 0:
		return send(fd, at, len, MSG_MORE | MSG_NOSIGNAL);
	case 1:
		return send_vector(fd, at, len);
	case 2:
		return tcp_send_odd(fd, at, len, MSG_NOSIGNAL);
	case 3:
		n = tcp_send_odd(fd, at, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		return n < 0 && errno == EAGAIN ? 0 : n;
	case 4:
		return storm->repairs ? 0 : send_spliced(fd, at, len);
	case 5: case 6:
		return send_nowait(fd, at, len);
	default:
		return send(fd, at, len, MSG_NOSIGNAL);
	}
}

/* TCP must come to its end before the ring is used again: leave it that chance. */
static void let_drain(int end)
{
	int i;

	/* What MSG_MORE holds back goes out. */
	set_int(storm->fd[end], IPPROTO_TCP, TCP_NODELAY, 1);
	for (i = 0; i < 25 && !storm->stop && storm->got[!end] != storm->sent[end]; i++)
		usleep(200);
}

static long sender(void *arg)
{
	int end = *(int *)arg;
	struct chance c = { storm->seed * 5 + end };

	while (!storm->stop) {
		size_t at = storm->sent[end];
		ssize_t n = send_some(storm->fd[end], &c, stream_at(at), some_size(&c));

		if (n < 0 && repairing())
			continue;
		if (n < 0) {
			wrong(end, at);
			break;
		}
		storm->sent[end] += n;
		if (!chance_below(&c, 10))
			let_drain(end);
	}
	return shutdown(storm->fd[end], SHUT_WR);
}

/* ---- receiving ---- */

static ssize_t recv_some(int fd, struct chance *c, unsigned char *buf, size_t len, bool *peek)
{
	ssize_t n;

	*peek = false;
	switch (storm->splices ? 4 : chance_below(c, 8)) {
	case 0:
		*peek = true;
		return recv(fd, buf, len, MSG_PEEK);
	case 1:
		return recv(fd, buf, len, MSG_WAITALL);
	case 2: case 3:
		n = recv(fd, buf, len, MSG_DONTWAIT);
		if (n >= 0 || errno != EAGAIN)
			return n;
		poll_wait(fd, POLLIN, 1000);
		*peek = true;
		return recv(fd, buf, 1, MSG_PEEK);
	case 4:
		return storm->repairs ? recv(fd, buf, len, 0) : recv_spliced(fd, buf, len);
	default:
		return recv(fd, buf, len, 0);
	}
}

static long receiver(void *arg)
{
	static unsigned char buf[LARGEST];
	int end = *(int *)arg;
	struct chance c = { storm->seed * 7 + end };
	ssize_t n;
	bool peek;

	while ((n = recv_some(storm->fd[end], &c, buf, some_size(&c), &peek)) > 0 ||
	       (n < 0 && repairing())) {
		if (n < 0)
			continue;
		if (memcmp(buf, stream_at(storm->got[end]), n))
			wrong_bytes(end, storm->got[end], buf, n);
		if (!peek)
			storm->got[end] += n;
	}
	if (n < 0)
		wrong(end, storm->got[end]);
	return n;
}

static int both_ways(void *arg)
{
	struct task k;

	task_start(&k, sender, arg);
	return receiver(arg) || task_join(&k);
}

/* Send, then wait for the answer: a wake-up that is lost ends it. */
static int in_turn(void *arg)
{
	static unsigned char buf[LARGEST];
	int end = *(int *)arg, fd = storm->fd[end];
	struct chance c = { storm->seed * 9 + end };
	size_t len;

	for (;;) {
		size_t at = storm->sent[end];

		if (end == 0 && storm->stop)
			return shutdown(fd, SHUT_WR);
		if (end == 1 && recv(fd, &len, sizeof(len), MSG_WAITALL) != sizeof(len))
			return 0;
		if (end == 0)
			len = 1 + chance_below(&c, storm->largest);
		if (end == 0 && send(fd, &len, sizeof(len), MSG_NOSIGNAL) != sizeof(len))
			return 1;
		if (end == 0 && send(fd, stream_at(at), len, MSG_NOSIGNAL) != (ssize_t)len)
			return 2;
		if (recv(fd, buf, len, MSG_WAITALL) != (ssize_t)len ||
		    memcmp(buf, stream_at(at), len))
			wrong(end, at);
		if (end == 1 && send(fd, stream_at(at), len, MSG_NOSIGNAL) != (ssize_t)len)
			return 3;
		storm->sent[end] += len;
		storm->got[end] += len;
	}
}

#endif
