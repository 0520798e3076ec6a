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
 * @tight: the buffers are the smallest there are
 * @mapped: ends that map the connection, a bit each
 * @in_ring: transfers of each end through its mapping
 * @stop: senders come to their end
 * @sent: bytes of each end
 * @got: bytes that each end received
 * @wrong: ends that saw something wrong, and after how many bytes
 * @error: errno then, or zero where it was the bytes
 * @instead: the place in the stream of what came instead, modulo its period
 * @flips: of each kind
 * @least: moves back to TCP that it takes, or 0: as many as there are seconds
 */
struct storm {
	int fd[2];
	size_t largest;
	bool repairs;
	bool splices;
	bool tight;
	int mapped;
	atomic_ulong in_ring[2];
	atomic_bool stop;
	atomic_ulong sent[2], got[2];
	atomic_long wrong[2];
	long error[2], instead[2];
	atomic_ulong flips[FLIPS];
	unsigned long least;
	uint64_t seed;
};

static unsigned char stream[PERIOD + LARGEST];
static struct storm *storm;
static struct speed *handle;	/* of this process's end, or NULL */

static void end_enter(int end)
{
	handle = NULL;
	if (storm->mapped & (1 << end)) {
		handle = speed_attach(storm->fd[end], 0);
		MUST(handle);
	}
}

static void end_count(int end)
{
	struct speed_stats st = { 0 };

	if (!handle)
		return;
	speed_get_stats(handle, &st);
	storm->in_ring[end] = st.mapped_sends + st.mapped_recvs;
}

static void end_leave(int end)
{
	end_count(end);
	if (handle)
		speed_detach(handle);
}

static ssize_t put(int fd, const void *buf, size_t len, int flags)
{
	return handle ? speed_send(handle, buf, len, flags) : send(fd, buf, len, flags);
}

static ssize_t get(int fd, void *buf, size_t len, int flags)
{
	return handle ? speed_recv(handle, buf, len, flags) : recv(fd, buf, len, flags);
}

/* A way of so many; who maps takes one of the plain calls now and then only. */
static int some_way(struct chance *c, int plain, int ways)
{
	if (handle && chance_below(c, 40))
		return plain + chance_below(c, ways - plain);
	return chance_below(c, ways);
}

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

#endif
