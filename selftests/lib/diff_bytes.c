// SPDX-License-Identifier: GPL-2.0
/* What was received against what was sent, byte by byte: see diff_model.h. */
#define _GNU_SOURCE
#include <string.h>

#include "diff_model.h"

/* The stretch of the source at a place in the stream; its length, 0 behind the end. */
static size_t stretch(const struct diff_dir *d, uint64_t at, const unsigned char **bytes)
{
	int i;

	for (i = 0; i < d->pieces; i++) {
		if (at < d->piece[i].len) {
			*bytes = diff_source + d->piece[i].src + at;
			return d->piece[i].len - at;
		}
		at -= d->piece[i].len;
	}
	return 0;
}

void diff_expect_bytes(const struct diff_dir *d, uint64_t from, size_t n, unsigned char *out)
{
	const unsigned char *bytes;
	size_t len;

	while (n && (len = stretch(d, from, &bytes))) {
		if (len > n)
			len = n;
		memcpy(out, bytes, len);
		out += len;
		from += len;
		n -= len;
	}
}

static size_t first_difference(const unsigned char *a, const unsigned char *b, size_t n)
{
	size_t i = 0;

	while (i < n && a[i] == b[i])
		i++;
	return i;
}

long diff_wrong_byte(const struct diff_dir *d, const unsigned char *got)
{
	const unsigned char *bytes;
	uint64_t at = 0;
	size_t len;

	while (at < d->read) {
		len = stretch(d, at, &bytes);
		if (!len)
			return at;
		if (len > d->read - at)
			len = d->read - at;
		if (memcmp(got + at, bytes, len))
			return at + first_difference(got + at, bytes, len);
		at += len;
	}
	return -1;
}
