// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Taking slots. Giving them back: pool_retire.c.
 */
#include <sys/mman.h>
#include "cpu.h"
#include "options.h"
#include "ops.h"
#include "pool_slot.h"
#include "role.h"
#include "stats.h"

#define POOL_LOOKS	64	/* slots looked at for an idle one at a time */

struct pool pool;

__u64 pool_cookie(const struct speed *s)
{
	const struct slot *h = (const struct slot *)s;

	/* A number no handle had before and no address is. */
	return pool_life_word(h, __atomic_load_n(&h->life, __ATOMIC_RELAXED)) | (__u64)1 << 63;
}

/* 0, or -1 where there is no memory. */
int pool_start(unsigned int count)
{
	size_t slots = sizeof(struct slot) * count, keys = sizeof(*pool.keys) * count;
	char *p = mmap(NULL, slots + keys, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -1;
	pool.at = (struct slot *)p;
	pool.keys = (__u64 *)(p + slots);
	pool.count = count;
	return 0;
}

/*
 * Only ever tried: who holds it may have lost its processor. One that fork() left behind
 * is another process's, and void.
 */
bool pool_trylock(void)
{
	__u32 pid = (__u32)raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);

	for (int tries = POOL_TRIES; tries; tries--) {
		__u32 holder = __atomic_load_n(&pool.lock, __ATOMIC_RELAXED);

		if (holder != pid &&
		    __atomic_compare_exchange_n(&pool.lock, &holder, pid, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
		spd_relax();
	}
	return false;
}

void pool_unlock(void)
{
	__atomic_store_n(&pool.lock, 0, __ATOMIC_RELEASE);
}

/* Another reference, where there are some. Return: the word, or 0. */
static __u64 pool_get(struct slot *h, __u64 key)
{
	__u64 life = __atomic_load_n(&h->life, __ATOMIC_ACQUIRE);

	do {
		if (!(life & POOL_REFS) || pool.keys[h->number] != key)
			return 0;
	} while (!__atomic_compare_exchange_n(&h->life, &life, life + 1, true,
					      __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE));
	return pool_life_word(h, life);
}

/**
 * pool_find() - the handle for an end of a pair
 * @key: which
 *
 * A slot that it passes and that is free is remembered for pool_make().
 *
 * Return: its word, with a reference, or 0. The pool's lock is held.
 */
__u64 pool_find(__u64 key)
{
	__u64 word = 0, at;

	pool.vacant = pool.count;
	/* One that is about to be retired may have the same key. */
	for (unsigned int i = 0; i < pool.used && !word; i++) {
		at = __atomic_load_n(&pool.keys[i], __ATOMIC_RELAXED);
		if (at == key)
			word = pool_get(&pool.at[i], key);
		else if (!at)
			pool.vacant = i;
	}
	return word;
}

/* Transfers that a handle has seen. */
static __u64 pool_activity(const struct slot *h)
{
	return speed_load(&h->s.role[SPEED_ROLE_TX].done) +
	       speed_load(&h->s.role[SPEED_ROLE_RX].done) + speed_load(&h->s.calls);
}

/* Idle since it was last looked at? Then free it. */
static bool pool_evict(struct slot *h)
{
	__u64 activity = pool_activity(h);

	if (activity != h->seen) {
		h->seen = activity;
		return false;
	}
	if (!pool_enter(&h->s))
		return false;
	stats_add(STATS_EVICTED, 1);
	pool_retire(h);
	pool_leave(&h->s);
	return true;
}

/*
 * A free slot, or NULL. The pool's lock is held, and has been since pool_find(). As few
 * as will do are ever used: they are all looked at for a key.
 */
static struct slot *pool_take(void)
{
	unsigned int vacant = pool.vacant;
	struct slot *h;

	pool.vacant = pool.count;
	if (vacant < pool.count && !__atomic_load_n(&pool.at[vacant].busy, __ATOMIC_ACQUIRE))
		return &pool.at[vacant];
	if (pool.used < pool.count) {
		h = &pool.at[pool.used];
		h->number = pool.used;
		__atomic_store_n(&pool.used, h->number + 1, __ATOMIC_RELAXED);
		h->life = POOL_ONE;
		return h;
	}
	for (int looks = 0; looks < POOL_LOOKS; looks++) {
		h = &pool.at[pool.hand];
		pool.hand = (pool.hand + 1) % pool.count;
		if (pool_unreferred(h))
			pool_clear(h, POOL_TRIES);
		if (!__atomic_load_n(&h->busy, __ATOMIC_ACQUIRE) || pool_evict(h))
			return h;
	}
	return NULL;
}

/* Zeros for everything that a handle counts; who looks at it late finds it busy. */
static bool pool_fill(struct slot *h, int fd, int type, bool nonblock)
{
	struct speed *s = &h->s;

	if (s->alive && !pool_enter(s))
		return false;
	if (!s->alive && spd_fork_watch(s))
		return false;
	h->seen = 0;
	spd_handle_uncount(s);
	spd_handle_init(s, fd, type, 0, &ops_preload);
	s->spin_us = options.spin_us;
	for (int i = 0; i < SPEED_ROLES; i++) {
		struct spd_role *r = &s->role[i];

		r->countdown = 0;
		r->nonblock = nonblock;
	}
	pool_leave(s);
	return true;
}

/**
 * pool_make() - a new handle
 * @fd: a number of its socket
 * @type: of the socket
 * @inet: is it TCP's?
 * @nonblock: has it O_NONBLOCK?
 * @key: which end of which pair
 *
 * Return: its word, with a reference, or 0 where all handles are in use. The pool's
 * lock is held, since pool_find() found none: no system call is made, but to retire
 * another handle.
 */
__u64 pool_make(int fd, int type, bool inet, bool nonblock, __u64 key)
{
	struct slot *h = NULL;
	bool ready = false;
	__u64 word;

	/* Who came late may be inside a vacant one for a moment: then another. */
	for (int tries = 2; tries && !ready; tries--) {
		h = pool_take();
		ready = h && pool_fill(h, fd, type, nonblock);
	}
	if (!ready)
		return 0;
	h->inet = inet;
	h->s.whole = inet;
	__atomic_store_n(&pool.keys[h->number], key, __ATOMIC_RELAXED);
	/* Referred to before it is busy: who sweeps takes it for one to be retired. */
	word = pool_life_word(h, __atomic_add_fetch(&h->life, 1, __ATOMIC_SEQ_CST));
	__atomic_store_n(&h->busy, true, __ATOMIC_RELEASE);
	stats_add(STATS_HANDLES, 1);
	return word;
}
