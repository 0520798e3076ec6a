// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Giving slots back.
 */
#include "cpu.h"
#include "pool_slot.h"
#include "role.h"
#include "stats.h"

#define POOL_REST	64	/* numbers given up until to look at one again that is stuck */

/* Both roles, or none. */
bool pool_enter(struct speed *s)
{
	if (__atomic_load_n(s->alive, __ATOMIC_RELAXED) != s->generation && !spd_fork_mend(s))
		return false;
	if (!spd_role_trylock(s, &s->role[SPEED_ROLE_TX]))
		return false;
	if (spd_role_trylock(s, &s->role[SPEED_ROLE_RX]))
		return true;
	spd_role_leave(&s->role[SPEED_ROLE_TX]);
	return false;
}

void pool_leave(struct speed *s)
{
	spd_role_leave(&s->role[SPEED_ROLE_RX]);
	spd_role_leave(&s->role[SPEED_ROLE_TX]);
}

/*
 * Take a handle apart and free its slot; both roles are entered. Its numbers, if any,
 * are bare from now on. Unmapping gives the leases back: a call on the number might
 * reach another descriptor.
 */
void pool_retire(struct slot *h)
{
	__u64 life = __atomic_load_n(&h->life, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(&h->life, &life, (life | POOL_REFS) + 1, true,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
	stats_take(&h->s);
	for (int i = 0; i < SPEED_ROLES; i++) {
		spd_map_drop(&h->s, i);
		spd_role_forget(&h->s.role[i]);
	}
	__atomic_store_n(&pool.keys[h->number], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&h->busy, false, __ATOMIC_RELEASE);
}

/*
 * Retire a slot that no number refers to, if no thread is inside. Who looks at it in
 * epoll_wait() is out again at once.
 */
bool pool_clear(struct slot *h, int tries)
{
	while (!pool_enter(&h->s)) {
		if (!--tries)
			return false;
		spd_relax();
	}
	if (pool_unreferred(h))
		pool_retire(h);
	pool_leave(&h->s);
	return true;
}

/**
 * pool_sweep() - retire the slots in which there was still a thread
 *
 * Who gives up a number that was used, or looks at one, comes by here: a mapping
 * outlives its last number by little. While a thread stays inside, few look.
 *
 * Context: signal-safe; errno is kept.
 */
void pool_sweep(void)
{
	__u32 left = __atomic_load_n(&pool.left, __ATOMIC_SEQ_CST);
	bool stuck = false;
	int saved = errno;
	__u32 rest;

	if (spd_likely(!left))
		return;
	/* Two that count at once count one; neither goes below none. */
	rest = __atomic_load_n(&pool.rest, __ATOMIC_RELAXED);
	if (rest) {
		__atomic_store_n(&pool.rest, rest - 1, __ATOMIC_RELAXED);
		return;
	}
	for (unsigned int i = 0; i < __atomic_load_n(&pool.used, __ATOMIC_RELAXED); i++)
		stuck |= pool_unreferred(&pool.at[i]) && !pool_clear(&pool.at[i], 1);
	if (stuck)
		__atomic_store_n(&pool.rest, POOL_REST, __ATOMIC_RELAXED);
	else
		__atomic_compare_exchange_n(&pool.left, &left, 0, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_RELAXED);
	errno = saved;
}

/**
 * pool_put() - a number does not refer to its handle any more
 * @word: what its entry had
 *
 * The last one takes the handle apart, or leaves it to pool_sweep() where a thread is
 * inside.
 *
 * Context: signal-safe; errno is kept.
 */
void pool_put(__u64 word)
{
	struct slot *h = pool_slot(word);
	__u64 life = __atomic_load_n(&h->life, __ATOMIC_RELAXED);
	int saved = errno;

	do {
		if (pool_life_word(h, life) != word || !(life & POOL_REFS))
			return;
	} while (!__atomic_compare_exchange_n(&h->life, &life, life - 1, true,
					      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	if ((life & POOL_REFS) == 1 && !pool_clear(h, POOL_TRIES))
		__atomic_add_fetch(&pool.left, 1, __ATOMIC_SEQ_CST);
	errno = saved;
}
