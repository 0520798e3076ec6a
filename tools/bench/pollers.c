// SPDX-License-Identifier: GPL-2.0
/* The ways to wait: see poller.h. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "poller.h"
#include "transport.h"

#define WORD	(8 * sizeof(unsigned long))

struct set {
	const int *fds;
	unsigned int count;
	int highest;
	size_t words;
	unsigned long *wanted;	/* select() */
	unsigned long *found;
	struct pollfd *polled;
	int epoll;
};

static void *zeroed(size_t count, size_t size)
{
	void *at = calloc(count, size);

	if (!at)
		die("no memory");
	return at;
}

static struct set *set_new(const int *fds, unsigned int count)
{
	struct set *s = zeroed(1, sizeof(*s));

	s->fds = fds;
	s->count = count;
	return s;
}

/* The kernel takes sets of any size; FD_SETSIZE is the C library's. */
static void *select_start(const int *fds, unsigned int count)
{
	struct set *s = set_new(fds, count);
	unsigned int i;

	for (i = 0; i < count; i++)
		if (fds[i] > s->highest)
			s->highest = fds[i];
	s->words = (size_t)s->highest / WORD + 1;
	s->wanted = zeroed(s->words, sizeof(long));
	s->found = zeroed(s->words, sizeof(long));
	for (i = 0; i < count; i++)
		s->wanted[(size_t)fds[i] / WORD] |= 1ul << ((size_t)fds[i] % WORD);
	return s;
}

static unsigned int select_wait(void *state)
{
	struct set *s = state;
	unsigned int i;

	memcpy(s->found, s->wanted, s->words * sizeof(long));
	if (syscall(SYS_pselect6, s->highest + 1, s->found, NULL, NULL, NULL, NULL) != 1)
		die("select: %m");
	for (i = 0; i < s->count; i++)
		if (s->found[(size_t)s->fds[i] / WORD] & 1ul << ((size_t)s->fds[i] % WORD))
			return i;
	return s->count;
}

static void *poll_start(const int *fds, unsigned int count)
{
	struct set *s = set_new(fds, count);
	unsigned int i;

	s->polled = zeroed(count, sizeof(*s->polled));
	for (i = 0; i < count; i++)
		s->polled[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	return s;
}

static unsigned int poll_wait(void *state)
{
	struct set *s = state;
	unsigned int i;

	if (poll(s->polled, s->count, -1) != 1)
		die("poll: %m");
	for (i = 0; i < s->count; i++)
		if (s->polled[i].revents)
			return i;
	return s->count;
}

static void *epoll_start(const int *fds, unsigned int count, uint32_t events)
{
	struct set *s = set_new(fds, count);
	unsigned int i;

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		die("epoll_create: %m");
	for (i = 0; i < count; i++) {
		struct epoll_event event = { .events = events, .data.u32 = i };

		if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fds[i], &event))
			die("epoll_ctl: %m");
	}
	return s;
}

static void *level_start(const int *fds, unsigned int count)
{
	return epoll_start(fds, count, EPOLLIN);
}

static void *edge_start(const int *fds, unsigned int count)
{
	return epoll_start(fds, count, EPOLLIN | EPOLLET);
}

static unsigned int level_wait(void *state)
{
	struct set *s = state;
	struct epoll_event event[16];

	if (epoll_wait(s->epoll, event, 16, -1) != 1)
		die("epoll_wait: %m");
	return event[0].data.u32;
}

static void set_stop(void *state)
{
	struct set *s = state;

	if (s->epoll)
		close(s->epoll);
	free(s->wanted);
	free(s->found);
	free(s->polled);
	free(s);
}

static const struct poller by_select = {
	.name = "select", .scans = true, .start = select_start, .wait = select_wait,
	.stop = set_stop,
};

static const struct poller by_poll = {
	.name = "poll", .scans = true, .start = poll_start, .wait = poll_wait, .stop = set_stop,
};

static const struct poller by_level = {
	.name = "epoll_level", .start = level_start, .wait = level_wait, .stop = set_stop,
};

static const struct poller by_edge = {
	.name = "epoll_edge", .start = edge_start, .wait = level_wait, .stop = set_stop,
};

#ifdef FULL

#include <errno.h>
#include <liburing.h>

/*
 * What an arriving byte leaves to be done is done in the wait, as it is by the others:
 * without DEFER_TASKRUN it is done at the end of the send(), which nobody times.
 */
static void *uring_start(const int *fds, unsigned int count)
{
	struct io_uring *ring = zeroed(1, sizeof(*ring));
	int error = io_uring_queue_init(256, ring, URING_DEFERRED);
	unsigned int i;

	if (error)
		die("io_uring: %s", strerror(-error));
	for (i = 0; i < count; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

		if (!sqe) {
			io_uring_submit(ring);
			sqe = io_uring_get_sqe(ring);
		}
		io_uring_prep_poll_multishot(sqe, fds[i], POLLIN);
		io_uring_sqe_set_data64(sqe, i);
	}
	if (io_uring_submit(ring) < 0)
		die("io_uring_submit: %m");
	return ring;
}

/* Armed once for good: each byte that arrives leaves one completion. */
static unsigned int uring_wait(void *state)
{
	struct io_uring *ring = state;
	struct io_uring_cqe *cqe;
	unsigned int which;

	if (io_uring_cq_ready(ring))
		die("io_uring: a poll was done before the wait, and its work is not timed");
	if (io_uring_wait_cqe(ring, &cqe))
		die("io_uring_wait_cqe: %m");
	which = (unsigned int)cqe->user_data;
	if (cqe->res < 0 || !(cqe->flags & IORING_CQE_F_MORE))
		die("io_uring: a poll ended with %d", cqe->res);
	io_uring_cqe_seen(ring, cqe);
	return which;
}

static void uring_stop(void *state)
{
	io_uring_queue_exit(state);
	free(state);
}

#else

#define uring_start	NULL
#define uring_wait	NULL
#define uring_stop	NULL

#endif

static const struct poller by_uring = {
	.name = "io_uring", .missing = uring_deferred_missing, .start = uring_start,
	.wait = uring_wait, .stop = uring_stop,
};

const struct poller *const pollers[] = {
	&by_select, &by_poll, &by_level, &by_edge, &by_uring, NULL
};
