/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The handles of a process: as many as may be mapped, in memory that is never used
 * for anything else.
 *
 * A slot goes through generations. Its life word has the generation and how many
 * numbers refer to it; an entry's word has the slot and the generation, so that
 * it dies with the generation. Who gives a slot its next generation has entered both of
 * the handle's roles: no thread is inside, and one that comes late and enters a role
 * finds that the word it came by is not the slot's.
 */
#ifndef PRE_POOL_H
#define PRE_POOL_H

#include "handle.h"

#define POOL_SLOT_BITS	20
#define POOL_SLOTS_MAX	(1u << POOL_SLOT_BITS)
#define POOL_WORD_MIN	((__u64)POOL_SLOTS_MAX)	/* generation 1, slot 0 */

#define POOL_REF_BITS	21	/* each number at most once */

/**
 * struct slot - a handle
 * @s: the handle
 * @life: generation and references
 * @number: of the slot
 * @busy: it is no free one
 * @inet: the socket is TCP's
 * @seen: transfers when an idle one was last looked for
 */
struct slot {
	struct speed	s;
	__u64		life;
	__u32		number;
	bool		busy;
	bool		inet;
	__u64		seen;
};

/**
 * struct pool - all slots
 * @at: the slots
 * @keys: which end of which pair each is for, 0 if free
 * @count: how many
 * @used: slots from here on were never used
 * @hand: where the search for an idle one goes on
 * @lock: the process that searches or fills a slot, 0 if none
 * @vacant: a slot that was free when pool_find() passed it, or @count
 * @left: slots that no number refers to and that had a thread inside, 0 if none
 * @rest: numbers that are given up without a look at those, while there is one inside
 */
struct pool {
	struct slot	*at;
	__u64		*keys;
	unsigned int	count;
	unsigned int	used;
	unsigned int	hand;
	__u32		lock;
	unsigned int	vacant;
	__u32		left __attribute__((aligned(64)));
	__u32		rest;
};

extern struct pool pool __attribute__((visibility("hidden")));

static inline bool pool_word_is_handle(__u64 word)
{
	return word >= POOL_WORD_MIN;
}

static inline struct slot *pool_slot(__u64 word)
{
	return &pool.at[word & (POOL_SLOTS_MAX - 1)];
}

static inline __u64 pool_life_word(const struct slot *h, __u64 life)
{
	return (life >> POOL_REF_BITS) << POOL_SLOT_BITS | h->number;
}

/* Is the word the slot's? Certain with one of its roles entered. */
static inline bool pool_word_lives(const struct slot *h, __u64 word)
{
	return pool_life_word(h, __atomic_load_n(&h->life, __ATOMIC_RELAXED)) == word;
}

int pool_start(unsigned int count);
bool pool_trylock(void);
void pool_unlock(void);
__u64 pool_find(__u64 key);
__u64 pool_make(int fd, int type, bool inet, bool nonblock, __u64 key);
void pool_put(__u64 word);
void pool_sweep(void);

#endif /* PRE_POOL_H */
