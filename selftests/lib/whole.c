// SPDX-License-Identifier: GPL-2.0
/* Who got which bytes: see whole.h. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/socket.h>

#include "whole.h"

#define VALUES	0xf0	/* of those that are not the tag's */

const unsigned char whole_tag[WHOLE_TAG] = {
	0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7,
};

void whole_fill(unsigned char *b, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		b[i] = (i * 7 + i / VALUES) % VALUES;
}

bool whole_claim(struct whole *w, const unsigned char *b, long len)
{
	size_t at;

	if (len <= 0)
		return true;
	if (len % w->piece)
		return false;
	for (at = 0; at + len <= w->size; at += w->piece) {
		if (!memchr(w->seen + at, 1, len) && !memcmp(w->all + at, b, len)) {
			memset(w->seen + at, 1, len);
			return true;
		}
	}
	return false;
}

bool whole_claim_end(struct whole *w, const unsigned char *b, size_t len)
{
	if (len > w->size || len % w->piece || memcmp(w->all + w->size - len, b, len))
		return false;
	memset(w->seen + w->size - len, 1, len);
	return true;
}

size_t whole_unclaimed(const struct whole *w)
{
	size_t i, n = 0;

	for (i = 0; i < w->size; i++)
		n += !w->seen[i];
	return n;
}

bool whole_take_tag(unsigned char *b, size_t *len)
{
	unsigned char *at = memchr(b, whole_tag[0], *len);

	if (!at || at + WHOLE_TAG > b + *len || memcmp(at, whole_tag, WHOLE_TAG))
		return false;
	memmove(at, at + WHOLE_TAG, b + *len - at - WHOLE_TAG);
	*len -= WHOLE_TAG;
	return !memchr(b, whole_tag[0], *len);
}

size_t whole_collect(int fd, unsigned char *b, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while ((n = recv(fd, b + len, size - len, MSG_DONTWAIT)) > 0)
		len += n;
	return len;
}
