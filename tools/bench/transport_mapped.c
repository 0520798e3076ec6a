// SPDX-License-Identifier: GPL-2.0
/*
 * AF_SPEED by way of libspeed, which works on the rings itself: copying,
 * without ever spinning, without copying, and as call and reply; and libspeed
 * on a memfd, without the module.
 *
 * A lease that is refused ends the program, and so does a trial in which
 * libspeed used system calls instead: the figures are of the mapped path.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <speed.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "transport.h"

int speed_family_or_die(void)
{
	int fd = speed_socket(SOCK_STREAM);

	if (fd < 0)
		die("no AF_SPEED here (family %d): %m", speed_family());
	close(fd);
	return speed_family();
}

/* Where the peer maps at the same instant one of the two is told to try again. */
#define MAP_TRIES	10000

static void mapped_enter(struct end *e)
{
	int tries = 0;

	e->speed = speed_attach(e->in, 0);
	if (!e->speed)
		die("%s: speed_attach: %m", e->transport->name);
	while (speed_map(e->speed, SPEED_MAP_BOTH)) {
		if (errno != EAGAIN || ++tries == MAP_TRIES)
			die("%s: speed_map: %m", e->transport->name);
		sched_yield();
	}
}

/* What waits, waits in the kernel at once. */
static void sleeping_enter(struct end *e)
{
	mapped_enter(e);
	if (speed_set_spin(e->speed, 0))
		die("%s: speed_set_spin: %m", e->transport->name);
}

static void mapped_leave(struct end *e)
{
	struct speed_stats stats;

	if (speed_get_stats(e->speed, &stats))
		die("%s: speed_get_stats: %m", e->transport->name);
	/* The end of the peer may well be learnt by a call. */
	if (stats.calls > 16 || stats.revocations)
		die("%s: not mapped all the time: %llu calls, %llu revocations",
		    e->transport->name, (unsigned long long)stats.calls,
		    (unsigned long long)stats.revocations);
	speed_detach(e->speed);
	e->speed = NULL;
}

static void mapped_put(struct end *e, const void *from, size_t len)
{
	while (len) {
		ssize_t n = speed_send(e->speed, from, len, MSG_NOSIGNAL);

		if (n <= 0)
			die("%s: speed_send: %m", e->transport->name);
		from = (const char *)from + n;
		len -= (size_t)n;
	}
}

static size_t mapped_get_some(struct end *e, void *to, size_t len)
{
	ssize_t n = speed_recv(e->speed, to, len, 0);

	if (n < 0)
		die("%s: speed_recv: %m", e->transport->name);
	if (!n)
		die("%s: the peer has closed", e->transport->name);
	return (size_t)n;
}

static void mapped_get(struct end *e, void *to, size_t len)
{
	while (len) {
		size_t n = mapped_get_some(e, to, len);

		to = (char *)to + n;
		len -= n;
	}
}

/* ---- zero copy: the program works in the ring ---- */

static size_t zc_span(struct end *e, size_t len, void **span)
{
	ssize_t n = speed_reserve(e->speed, len, span, 0);

	if (n <= 0)
		die("speed_reserve: %m");
	return (size_t)n;
}

static void zc_commit(struct end *e, size_t len)
{
	if (speed_commit(e->speed, len, MSG_NOSIGNAL) != (ssize_t)len)
		die("speed_commit: %m");
}

static size_t zc_peek(struct end *e, size_t want, const void **span)
{
	ssize_t n = speed_peek(e->speed, want, span, 0);

	if (n < 0)
		die("speed_peek: %m");
	if (!n)
		die("%s: the peer has closed", e->transport->name);
	return (size_t)n;
}

static void zc_release(struct end *e, size_t len)
{
	if (speed_release(e->speed, len))
		die("speed_release: %m");
}

static void zc_put(struct end *e, const void *from, size_t len)
{
	while (len) {
		void *span;
		size_t n = zc_span(e, len, &span);

		memcpy(span, from, n);
		zc_commit(e, n);
		from = (const char *)from + n;
		len -= n;
	}
}

static size_t zc_get_some(struct end *e, void *to, size_t len)
{
	const void *span;
	size_t n = zc_peek(e, len, &span);

	memcpy(to, span, n);
	zc_release(e, n);
	return n;
}

static void zc_get(struct end *e, void *to, size_t len)
{
	while (len) {
		size_t n = zc_get_some(e, to, len);

		to = (char *)to + n;
		len -= n;
	}
}

/* All that is sent is words of eight bytes, so every span is. */
static void zc_put_filled(struct end *e, size_t len, uint64_t seed)
{
	size_t done = 0;

	while (done < len) {
		void *span;
		size_t n = zc_span(e, len - done, &span);

		fill(span, n, seed + done);
		zc_commit(e, n);
		done += n;
	}
}

static size_t zc_get_summed(struct end *e, size_t len, uint64_t *total)
{
	const void *span;
	size_t n = zc_peek(e, len, &span);

	*total += sum(span, n);
	zc_release(e, n);
	return n;
}

/* ---- call and reply: send, wake and wait in one entry ---- */

static void call_call(struct end *e, void *data, size_t len)
{
	ssize_t n = speed_call(e->speed, data, len, data, len, 0);

	if (n != (ssize_t)len)
		die("speed_call: %zd of %zu bytes: %m", n, len);
}

static void call_reply_wait(struct end *e, void *data, size_t len)
{
	ssize_t n = speed_reply_wait(e->speed, data, len, data, len, 0);

	if (n != (ssize_t)len)
		die("speed_reply_wait: %zd of %zu bytes: %m", n, len);
}

/* ---- libspeed on a memfd ---- */

static void ring_open(const struct transport *t, struct link *l)
{
	struct speed *both[2];

	if (speed_pair(SOCK_STREAM | SPEED_PAIR_SINGLE, BARE_BYTES, both))
		die("%s: speed_pair: %m", t->name);
	l->end[0].speed = both[0];
	l->end[1].speed = both[1];
}

#define ABLE_MAPPED	(ABLE_LINK | ABLE_STREAM)

const struct transport transport_mapped = {
	.name = "speed-mapped",
	.maps = true,
	.why_unable = "connections are opened and used by system call here, as AF_SPEED's are",
	.able = ABLE_MAPPED | ABLE_MEMORY,
	.family = speed_family_or_die,
	.open = socket_link,
	.enter = mapped_enter,
	.leave = mapped_leave,
	.put = mapped_put,
	.get = mapped_get,
	.get_some = mapped_get_some,
};

const struct transport transport_mapped_sleep = {
	.name = "speed-mapped-sleep",
	.maps = true,
	.spin = "0",
	.able = ABLE_MAPPED,
	.family = speed_family_or_die,
	.open = socket_link,
	.enter = sleeping_enter,
	.leave = mapped_leave,
	.put = mapped_put,
	.get = mapped_get,
	.get_some = mapped_get_some,
};

const struct transport transport_zc = {
	.name = "speed-zc",
	.maps = true,
	.why_unable = "connections are opened and used by system call, or mapped, as AF_SPEED's are here",
	.able = ABLE_MAPPED,
	.family = speed_family_or_die,
	.open = socket_link,
	.enter = mapped_enter,
	.leave = mapped_leave,
	.put = zc_put,
	.get = zc_get,
	.get_some = zc_get_some,
	.put_filled = zc_put_filled,
	.get_summed = zc_get_summed,
};

const struct transport transport_call = {
	.name = "speed-call",
	.maps = true,
	.able = ABLE_LINK,
	.family = speed_family_or_die,
	.open = socket_link,
	.enter = mapped_enter,
	.leave = mapped_leave,
	.put = mapped_put,
	.get = mapped_get,
	.get_some = mapped_get_some,
	.call = call_call,
	.reply_wait = call_reply_wait,
};

const struct transport transport_ring = {
	.name = "ring",
	.able = ABLE_MAPPED | ABLE_NATIVE,
	.open = ring_open,
	.leave = mapped_leave,
	.put = mapped_put,
	.get = mapped_get,
	.get_some = mapped_get_some,
};
