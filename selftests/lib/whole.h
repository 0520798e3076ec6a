/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who got which bytes: a known run of them, of which several receivers have
 * parts, or in which two senders' are mixed. Each byte may be had once.
 */
#ifndef SPEED_SELFTESTS_WHOLE_H
#define SPEED_SELFTESTS_WHOLE_H

#include <stdbool.h>
#include <stddef.h>

#define WHOLE_MAX	(3 * 8192)
#define WHOLE_TAG	8

/* The second sender's bytes; the first's have none of these values. */
extern const unsigned char whole_tag[WHOLE_TAG];

/**
 * struct whole - what was sent, and what of it has been received
 * @all: the bytes, by whole_fill()
 * @size: how many
 * @piece: they are received in multiples of this; 1 for a stream
 * @seen: which have been
 */
struct whole {
	unsigned char all[WHOLE_MAX];
	unsigned char seen[WHOLE_MAX];
	size_t size;
	size_t piece;
};

/* Bytes whose values tell short runs apart, where they are not far apart. */
void whole_fill(unsigned char *b, size_t len);

/* One receiver's: true if they are a run that nobody else had, or none. */
bool whole_claim(struct whole *w, const unsigned char *b, long len);
/* The last one's, who takes all that is left: they are the end of it. */
bool whole_claim_end(struct whole *w, const unsigned char *b, size_t len);
/* Bytes that nobody had. */
size_t whole_unclaimed(const struct whole *w);

/* Takes the tag out of what came; false if it is not there once, in one piece. */
bool whole_take_tag(unsigned char *b, size_t *len);
/* All that is there to be received, without waiting; messages in a row. */
size_t whole_collect(int fd, unsigned char *b, size_t size);

#endif
