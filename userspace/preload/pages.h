/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables of which little is used, in pages of their own.
 */
#ifndef PRE_PAGES_H
#define PRE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

/**
 * pages_get() - zeros that are memory only where they are written
 * @bytes: how many
 *
 * Return: them, or NULL.
 */
static inline void *pages_get(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	/* Little is used: a huge page would be memory for nothing. */
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

/* The same; a child of fork() finds zeros again. */
static inline void *pages_get_wiped(size_t bytes)
{
	void *p = pages_get(bytes);

	if (p && madvise(p, bytes, MADV_WIPEONFORK)) {
		munmap(p, bytes);
		return NULL;
	}
	return p;
}

/* What lies in a table before @n is used from now on. */
static inline void pages_reach(unsigned int *top, unsigned int n)
{
	unsigned int now = __atomic_load_n(top, __ATOMIC_RELAXED);

	while (now < n && !__atomic_compare_exchange_n(top, &now, n, true, __ATOMIC_SEQ_CST,
						       __ATOMIC_RELAXED))
		;
}

#endif /* PRE_PAGES_H */
