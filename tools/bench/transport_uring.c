// SPDX-License-Identifier: GPL-2.0
/*
 * TCP through io_uring: each end has a ring of its own, a round trip is a send and
 * a linked receive in one system call. Only in the program that is linked with the
 * libraries.
 */
#define _GNU_SOURCE
#include "bench.h"
#include "transport.h"

#ifdef FULL

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES	8

struct rival {
	struct io_uring ring;
};

/*
 * What is to be done is done when this thread asks for it, and wakes it once. Kernels
 * before 6.1 know no such ring. Return: 0 or an error.
 */
static int ring_make(struct io_uring *ring)
{
	int error = io_uring_queue_init(ENTRIES, ring, URING_DEFERRED);

	return error == -EINVAL ? io_uring_queue_init(ENTRIES, ring, 0) : error;
}

static void uring_enter(struct end *e)
{
	int error;

	e->rival = calloc(1, sizeof(*e->rival));
	if (!e->rival)
		die("no memory");
	error = ring_make(&e->rival->ring);
	if (error)
		die("io_uring: %s", strerror(-error));
}

static void uring_leave(struct end *e)
{
	io_uring_queue_exit(&e->rival->ring);
	free(e->rival);
}

/* Waits for so many and returns the last one's result. */
static size_t finish(struct end *e, unsigned int count)
{
	struct io_uring *ring = &e->rival->ring;
	struct io_uring_cqe *cqe;
	int n = 0;

	if (io_uring_submit_and_wait(ring, count) < 0)
		die("io_uring_submit: %m");
	while (count--) {
		if (io_uring_wait_cqe(ring, &cqe))
			die("io_uring_wait_cqe: %m");
		n = cqe->res;
		io_uring_cqe_seen(ring, cqe);
		if (n <= 0)
			die("io_uring: a transfer of %d", n);
	}
	return (size_t)n;
}

static void uring_put(struct end *e, const void *from, size_t len)
{
	while (len) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&e->rival->ring);
		size_t n;

		io_uring_prep_send(sqe, e->out, from, len, MSG_NOSIGNAL | MSG_WAITALL);
		n = finish(e, 1);
		from = (const char *)from + n;
		len -= n;
	}
}

static size_t uring_receive(struct end *e, void *to, size_t len, int flags)
{
	io_uring_prep_recv(io_uring_get_sqe(&e->rival->ring), e->in, to, len, flags);
	return finish(e, 1);
}

static size_t uring_get_some(struct end *e, void *to, size_t len)
{
	return uring_receive(e, to, len, 0);
}

static void uring_get(struct end *e, void *to, size_t len)
{
	while (len) {
		size_t n = uring_receive(e, to, len, MSG_WAITALL);

		to = (char *)to + n;
		len -= n;
	}
}

/* Sends, and receives as much again. */
static void uring_exchange(struct end *e, void *data, size_t len)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&e->rival->ring);

	io_uring_prep_send(sqe, e->out, data, len, MSG_NOSIGNAL | MSG_WAITALL);
	io_uring_sqe_set_flags(sqe, IOSQE_IO_LINK);
	sqe = io_uring_get_sqe(&e->rival->ring);
	io_uring_prep_recv(sqe, e->in, data, len, MSG_WAITALL);
	if (finish(e, 2) != len)
		die("io_uring: a short message");
}

static const char *missing(bool deferred)
{
	struct io_uring ring;
	int error = io_uring_queue_init(1, &ring, deferred ? URING_DEFERRED : 0);

	if (error == -ENOSYS)
		return "this kernel has no io_uring";
	if (error == -EPERM)
		return "io_uring is not allowed here";
	if (error == -EINVAL)
		return "this kernel's io_uring leaves no work to who waits (DEFER_TASKRUN)";
	if (error)
		die("io_uring: %s", strerror(-error));
	io_uring_queue_exit(&ring);
	return NULL;
}

#else

#define uring_enter	NULL
#define uring_leave	NULL
#define uring_put	NULL
#define uring_get	NULL
#define uring_get_some	NULL
#define uring_exchange	NULL

static const char *missing(bool deferred)
{
	(void)deferred;
	return "this speedbench is not linked with liburing";
}

#endif

const char *uring_missing(void)
{
	return missing(false);
}

const char *uring_deferred_missing(void)
{
	return missing(true);
}

const struct transport transport_uring = {
	.name = "tcp-io_uring",
	.why_unable = "connections are opened and used by plain calls here, and are TCP's then",
	.able = ABLE_LINK | ABLE_STREAM,
	.family = family_inet,
	.missing = uring_missing,
	.open = socket_link,
	.enter = uring_enter,
	.leave = uring_leave,
	.put = uring_put,
	.get = uring_get,
	.get_some = uring_get_some,
	.call = uring_exchange,
	.reply_wait = uring_exchange,
};
