/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The yardstick: a bare ring, as little as two processes can do with shared
 * memory. Two indices on cache lines of their own, memcpy(), an acquire and a
 * release; no checks, no leases, no sleeping, no end of file. Data is not
 * mapped twice: a copy that reaches the end of the ring is made in two parts.
 *
 * Each side keeps the other's index as it last saw it and looks again only when
 * that does not suffice, as any good ring does.
 */
#ifndef BARE_H
#define BARE_H

#include <stdint.h>
#include <string.h>

#define BARE_BYTES	(1u << 17)

struct bare_index {
	uint64_t index;
	char pad[120];	/* two lines: processors fetch lines in pairs */
};

struct bare_ring {
	struct bare_index head;
	struct bare_index tail;
	unsigned char data[BARE_BYTES];
};

/* One side of a ring; private memory. */
struct bare_side {
	struct bare_ring *ring;
	uint64_t own;
	uint64_t other;
};

struct bare_end {
	struct bare_side tx;
	struct bare_side rx;
};

static inline void bare_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* len is at most BARE_BYTES. */
static inline void bare_put(struct bare_side *s, const void *from, size_t len)
{
	size_t at = s->own % BARE_BYTES;
	size_t first = len < BARE_BYTES - at ? len : BARE_BYTES - at;

	while (BARE_BYTES - (s->own - s->other) < len) {
		s->other = __atomic_load_n(&s->ring->tail.index, __ATOMIC_ACQUIRE);
		if (BARE_BYTES - (s->own - s->other) < len)
			bare_pause();
	}
	memcpy(s->ring->data + at, from, first);
	if (first < len)
		memcpy(s->ring->data, (const char *)from + first, len - first);
	s->own += len;
	__atomic_store_n(&s->ring->head.index, s->own, __ATOMIC_RELEASE);
}

/* Takes what there is, at most len bytes and at least one. */
static inline size_t bare_get(struct bare_side *s, void *to, size_t len)
{
	size_t at = s->own % BARE_BYTES;
	size_t first;

	if (s->other - s->own < len)
		s->other = __atomic_load_n(&s->ring->head.index, __ATOMIC_ACQUIRE);
	while (s->other == s->own) {
		bare_pause();
		s->other = __atomic_load_n(&s->ring->head.index, __ATOMIC_ACQUIRE);
	}
	if (len > s->other - s->own)
		len = s->other - s->own;
	first = len < BARE_BYTES - at ? len : BARE_BYTES - at;
	memcpy(to, s->ring->data + at, first);
	if (first < len)
		memcpy((char *)to + first, s->ring->data, len - first);
	s->own += len;
	__atomic_store_n(&s->ring->tail.index, s->own, __ATOMIC_RELEASE);
	return len;
}

#endif /* BARE_H */
