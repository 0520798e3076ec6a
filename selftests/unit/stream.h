/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Streams whose bytes tell their place, for the tests of speed_pair().
 */
#ifndef STREAM_H
#define STREAM_H

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <speed.h>

#include "rig.h"
#include "tap.h"

static inline unsigned char stream_byte(__u64 at)
{
	return at * 0x9e3779b97f4a7c15ull >> 56;
}

static inline void stream_fill(unsigned char *buf, __u64 at, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = stream_byte(at + i);
}

/* Whether the bytes are those that belong there. */
static inline int stream_holds(const unsigned char *buf, __u64 at, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (buf[i] != stream_byte(at + i))
			return 0;
	return 1;
}

/* A length to send or receive at once: most are short, some longer than a ring. */
static inline size_t stream_length(__u64 *seed, size_t most)
{
	__u64 pick = rig_random(seed);

	return pick % 8 ? pick / 8 % 200 % most + 1 : pick / 8 % most + 1;
}

enum { STREAM_BUF = 40000 };

/*
 * Send the bytes [0, total) of a stream. @how: 0 copies, 1 spans, 2 either.
 * A message is at most @most bytes.
 */
static inline void stream_send(struct speed *s, __u64 total, size_t most, int how, __u64 seed)
{
	unsigned char *buf = malloc(STREAM_BUF);
	__u64 at = 0;
	size_t len;
	void *span;
	ssize_t n;

	while (at < total) {
		len = stream_length(&seed, most < STREAM_BUF ? most : STREAM_BUF);
		len = len < total - at ? len : total - at;
		if (how == 0 || (how == 2 && rig_random(&seed) % 2)) {
			stream_fill(buf, at, len);
			n = speed_send(s, buf, len, MSG_NOSIGNAL);
		} else {
			n = speed_reserve(s, len, &span, 0);
			if (n > 0) {
				stream_fill(span, at, n);
				n = speed_commit(s, n, MSG_NOSIGNAL);
			}
		}
		if (!need(n > 0 && (size_t)n <= len))
			break;
		at += n;
	}
	need(at == total);
	free(buf);
}

/* Receive and check the bytes [0, total), by at most @most at once. */
static inline void stream_recv(struct speed *s, __u64 total, size_t most, int how, __u64 seed)
{
	unsigned char *buf = malloc(STREAM_BUF);
	const void *span;
	__u64 at = 0;
	size_t len;
	ssize_t n;

	while (at < total) {
		len = stream_length(&seed, most < STREAM_BUF ? most : STREAM_BUF);
		if (how == 0 || (how == 2 && rig_random(&seed) % 2)) {
			n = speed_recv(s, buf, len, 0);
			if (!need(n > 0 && (size_t)n <= len) || !need(stream_holds(buf, at, n)))
				break;
		} else {
			n = speed_peek(s, len, &span, 0);
			if (!need(n > 0 && (size_t)n <= len) || !need(stream_holds(span, at, n)))
				break;
			n = (n + 1) / 2;
			if (!need(!speed_release(s, n)))
				break;
		}
		at += n;
	}
	need(at == total);
	free(buf);
}

/* Messages: the length of each follows from its number, its bytes from both. */
static inline size_t message_length(__u64 i, size_t most)
{
	__u64 seed = i * 2654435761u + 1;

	return i % 50 == 49 ? 0 : stream_length(&seed, most);
}

static inline void message_send(struct speed *s, __u64 i, size_t most, int zero_copy)
{
	size_t len = message_length(i, most);
	unsigned char buf[4096];
	void *span = buf;

	if (zero_copy && !need(speed_reserve(s, len, &span, 0) == (ssize_t)len))
		return;
	stream_fill(span, i * 7919, len);
	if (zero_copy)
		need(speed_commit(s, len, MSG_NOSIGNAL) == (ssize_t)len);
	else
		need(speed_send(s, buf, len, MSG_NOSIGNAL) == (ssize_t)len);
}

static inline int message_recv(struct speed *s, __u64 i, size_t most, int zero_copy)
{
	size_t len = message_length(i, most);
	unsigned char buf[4096];
	const void *span = buf;

	if (zero_copy)
		return need(speed_peek(s, 1, &span, 0) == (ssize_t)len) &&
		       need(stream_holds(span, i * 7919, len)) && need(!speed_release(s, len));
	return need(speed_recv(s, buf, sizeof(buf), 0) == (ssize_t)len) &&
	       need(stream_holds(buf, i * 7919, len));
}

#endif /* STREAM_H */
