// SPDX-License-Identifier: GPL-2.0
/*
 * What a program does with its bytes: it writes each once before it sends and
 * reads each once after it received. Eight bytes at a time, the same for all
 * transports; the sums of both sides are compared.
 */
#include <stdint.h>
#include <string.h>

#include "bench.h"
#include "transport.h"

void fill(void *to, size_t len, uint64_t seed)
{
	unsigned char *p = to;
	uint64_t word;
	size_t i;

	for (i = 0; i + sizeof(word) <= len; i += sizeof(word)) {
		word = seed + i;
		memcpy(p + i, &word, sizeof(word));
	}
	for (; i < len; i++)
		p[i] = (unsigned char)(seed + i);
}

/* Independent of where a stream was cut only if it was cut at multiples of eight. */
uint64_t sum(const void *from, size_t len)
{
	const unsigned char *p = from;
	uint64_t total = 0;
	uint64_t word;
	size_t i;

	for (i = 0; i + sizeof(word) <= len; i += sizeof(word)) {
		memcpy(&word, p + i, sizeof(word));
		total += word;
	}
	for (; i < len; i++)
		total += p[i];
	return total;
}

void touch_check(size_t size)
{
	if (size % sizeof(uint64_t))
		die("programs that touch every byte want a size that is a multiple of eight");
}
