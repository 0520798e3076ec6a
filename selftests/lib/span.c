// SPDX-License-Identifier: GPL-2.0
/* Transfers without a copy: see span.h. */
#define _GNU_SOURCE
#include "span.h"

void span_pair(const struct transport *t, struct end e[2], int bytes)
{
	struct transport mapped = *t;

	mapped.path[0] = PATH_MAPPED;
	mapped.path[1] = PATH_MAPPED;
	tp_pair_sized(&mapped, e, bytes);
}

ssize_t span_put(struct speed *s, size_t len, size_t offset)
{
	void *span;
	ssize_t n = speed_reserve(s, len, &span, 0);

	if (n < 0)
		return n;
	stream_fill(span, n, offset);
	return speed_commit(s, n, 0);
}

ssize_t span_take(struct speed *s, size_t len, size_t offset, int flags)
{
	const void *span;
	ssize_t n = speed_peek(s, len, &span, flags);
	bool right = n <= 0 || stream_check(span, n, offset);

	if (n <= 0)
		return n;
	if (speed_release(s, n))
		return -1;
	return right ? n : -2;
}
