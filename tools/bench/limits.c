// SPDX-License-Identifier: GPL-2.0
/*
 * The limits: copying a message once, as memcpy() does, and reading and writing memory,
 * by one processor. Each is a series like a transport's. A transport whose two sides
 * work at the same time on two processors may get beyond them.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "transport.h"

/* A stand-in: it carries nothing, but has a name. */
const struct transport transport_memcpy = { .name = "memcpy" };

/* A message is filled, copied and summed, as the two sides of a touched stream do. */
static uint64_t copy_touched(unsigned char *from, unsigned char *to, size_t size, uint64_t n)
{
	uint64_t total = 0, i;

	for (i = 0; i < n; i++) {
		fill(from, size, i);
		memcpy(to, from, size);
		total += sum(to, size);
	}
	return total;
}

static void copy_only(unsigned char *from, unsigned char *to, size_t size, uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++) {
		memcpy(to, from, size);
		/* The copy is wanted, whoever reads it. */
		__asm__ volatile("" : : "r"(to) : "memory");
	}
}

uint64_t copy_trial(struct series *s, uint64_t n)
{
	unsigned char *from = aligned_alloc(4096, (s->size + 4095) & ~4095ul);
	unsigned char *to = aligned_alloc(4096, (s->size + 4095) & ~4095ul);
	volatile uint64_t total;
	uint64_t start;

	if (!from || !to)
		die("no memory");
	cpu_pin(0, 1);
	side_limit();
	memset(from, 1, s->size);
	memset(to, 2, s->size);
	start = now_ns();
	if (opt.touch)
		total = copy_touched(from, to, s->size, n);
	else
		copy_only(from, to, s->size, n);
	start = now_ns() - start;
	(void)total;
	free(from);
	free(to);
	return start;
}
