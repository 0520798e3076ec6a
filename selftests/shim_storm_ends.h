/* SPDX-License-Identifier: GPL-2.0 */
/* The lives of a storm's ends: streams both ways, or in turn. */
#ifndef SPEED_SELFTESTS_SHIM_STORM_ENDS_H
#define SPEED_SELFTESTS_SHIM_STORM_ENDS_H

#include "shim_storm_ways.h"

/* TCP must come to its end before the ring is used again: leave it that chance. */
static void let_drain(int end)
{
	/* With hardly a window it waits for its timers. */
	int i, most = storm->tight ? 2500 : 25;

	end_count(end);
	/* What MSG_MORE holds back goes out. */
	set_int(storm->fd[end], IPPROTO_TCP, TCP_NODELAY, 1);
	for (i = 0; i < most && !storm->stop && storm->got[!end] != storm->sent[end]; i++)
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
	int end = *(int *)arg;
	struct task k;
	long n;

	end_enter(end);
	task_start(&k, sender, arg);
	n = receiver(arg);
	n |= task_join(&k);
	end_leave(end);
	return n != 0;
}

/* Send, then wait for the answer: a wake-up that is lost ends it. */
static int turns(int end)
{
	static unsigned char buf[LARGEST];
	struct chance c = { storm->seed * 9 + end };
	int fd = storm->fd[end];
	size_t len;

	for (;;) {
		size_t at = storm->sent[end];

		if (end == 0 && storm->stop)
			return shutdown(fd, SHUT_WR);
		if (end == 1 && get(fd, &len, sizeof(len), MSG_WAITALL) != sizeof(len))
			return 0;
		if (end == 0)
			len = 1 + chance_below(&c, storm->largest);
		if (end == 0 && put(fd, &len, sizeof(len), MSG_NOSIGNAL) != sizeof(len))
			return 1;
		if (end == 0 && put(fd, stream_at(at), len, MSG_NOSIGNAL) != (ssize_t)len)
			return 2;
		if (get(fd, buf, len, MSG_WAITALL) != (ssize_t)len ||
		    memcmp(buf, stream_at(at), len))
			wrong(end, at);
		if (end == 1 && put(fd, stream_at(at), len, MSG_NOSIGNAL) != (ssize_t)len)
			return 3;
		storm->sent[end] += len;
		storm->got[end] += len;
		end_count(end);
	}
}

static int in_turn(void *arg)
{
	int end = *(int *)arg, n;

	end_enter(end);
	n = turns(end);
	end_leave(end);
	return n;
}

#endif
