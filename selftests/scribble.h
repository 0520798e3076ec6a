/* SPDX-License-Identifier: GPL-2.0 */
/* Stores that must not count, and a stream beside them that must be exact. */
#ifndef SPEED_SELFTESTS_SCRIBBLE_H
#define SPEED_SELFTESTS_SCRIBBLE_H

#include "stress.h"

#define RING	8192
#define LENGTH	20000	/* bytes sent after what must not count */

/* A stream of known bytes, piece by piece, both ends by plain call on side 0. */
static void exact(struct end e[2], size_t from, const char *what)
{
	unsigned char out[500], in[500];
	size_t at, wrong = 0;

	for (at = from; at < from + LENGTH; at += sizeof(out)) {
		stream_fill(out, sizeof(out), at);
		wrong += send(e[0].fd, out, sizeof(out), MSG_NOSIGNAL) != sizeof(out);
		wrong += end_recv(&e[1], in, sizeof(in), MSG_WAITALL) != sizeof(in);
		wrong += memcmp(out, in, sizeof(in)) != 0;
		wrong += end_send(&e[1], out, sizeof(out), MSG_NOSIGNAL) != sizeof(out);
		wrong += recv(e[0].fd, in, sizeof(in), MSG_WAITALL) != sizeof(in);
		wrong += memcmp(out, in, sizeof(in)) != 0;
	}
	WANT(wrong, 0, 0, "%s: wrong pieces", what);
}

struct scribbler {
	struct raw *tx, *rx;
	atomic_bool stop;
};

static long scribble(void *arg)
{
	struct scribbler *s = arg;
	struct chance c = { 77 };

	while (!s->stop) {
		raw_publish(s->tx, chance64(&c));
		raw_publish(s->rx, chance64(&c));
		memset(s->tx->r.data + 64 * chance_below(&c, RING / 64), 0xee, 64);
	}
	return 0;
}

#endif
