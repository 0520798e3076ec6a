/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Slots from inside; private to pool.c and pool_retire.c.
 */
#ifndef PRE_POOL_SLOT_H
#define PRE_POOL_SLOT_H

#include "pool.h"

#define POOL_TRIES	64	/* to enter a slot that is to be retired, or to lock the pool */
#define POOL_ONE	((__u64)1 << POOL_REF_BITS)
#define POOL_REFS	(POOL_ONE - 1)

/* Taken, and no number refers to it. */
static inline bool pool_unreferred(const struct slot *h)
{
	return __atomic_load_n(&h->busy, __ATOMIC_ACQUIRE) &&
	       !(__atomic_load_n(&h->life, __ATOMIC_RELAXED) & POOL_REFS);
}

bool pool_enter(struct speed *s);
void pool_leave(struct speed *s);
void pool_retire(struct slot *h);
bool pool_clear(struct slot *h, int tries);

#endif /* PRE_POOL_SLOT_H */
