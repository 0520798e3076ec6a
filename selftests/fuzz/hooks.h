/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included before everything else: each load of shared memory, in the ring and
 * in the library, is a place where the hostile process may come between.
 */
#ifndef HOOKS_H
#define HOOKS_H

void arena_meddle(void);

#define ARENA_LOAD(p, order) ({						\
	__typeof__(*(p) + 0) arena_v = __atomic_load_n(p, order);	\
	arena_meddle();							\
	arena_v;							\
})

#define speed_load_acquire(p)		ARENA_LOAD(p, __ATOMIC_ACQUIRE)
#define speed_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define speed_load(p)			ARENA_LOAD(p, __ATOMIC_RELAXED)
#define speed_full_barrier()		__atomic_thread_fence(__ATOMIC_SEQ_CST)

#endif /* HOOKS_H */
