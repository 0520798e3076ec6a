/* SPDX-License-Identifier: GPL-2.0 */
/* Transfers without a copy, of the known stream. */
#ifndef SPEED_SELFTESTS_SPAN_H
#define SPEED_SELFTESTS_SPAN_H

#include "harness.h"

/* A connection of which both ends are mapped. */
void span_pair(const struct transport *t, struct end e[2], int bytes);
/* So many bytes of the known stream from there on, or what a span can take of them. */
ssize_t span_put(struct speed *s, size_t len, size_t offset);
/* At most so many of them; -2 where they are wrong. */
ssize_t span_take(struct speed *s, size_t len, size_t offset, int flags);

#endif
