/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a descriptor's number to what is known of it.
 *
 * An entry is right because everything by which a number comes or goes is interposed:
 * who closes a number forgets it before, who gets one forgets it after. What slips
 * through (a raw system call) is caught by the kernel, unless another descriptor
 * keeps the socket alive: a lease ends with its socket.
 *
 * The word of an entry is a handle's, or small and tells how often the number turned
 * out to be nothing for us. A transfer loads the word, enters the handle's role and
 * then looks whether the word is still the same: who forgets a number changes the
 * word first and takes the handle apart only with both of its roles entered.
 */
#ifndef PRE_TABLE_H
#define PRE_TABLE_H

#include "watch.h"

#define TABLE_NUMBERS	(1u << 20)	/* higher ones are left alone */

/**
 * struct entry - what is known of a number
 * @word: a handle's word, see pool.h, or below POOL_WORD_MIN
 * @closed: how often the number was closed while something was known
 * @used: transfers since, a negative number where many must come first, and 0 only while
 *	there was none; racy
 */
struct entry {
	__u64	word;
	__u32	closed;
	__s32	used;
};

/**
 * struct table - all entries
 * @at: the entries
 * @count: how many; 0 while and where the library does nothing
 * @after: transfers after which a number is looked at
 * @top: no number from here on has a word
 */
struct table {
	struct entry	*at;
	unsigned int	count;
	__s32		after;
	unsigned int	top;
};

extern struct table table __attribute__((visibility("hidden")));

int table_start(__s32 after);
void table_child(void);
void table_unshare(void);
bool table_own_process(void);
void table_reach(int fd);
void table_forget(int fd);
void table_replace(int fd, int to, int flags);
void table_forget_range(unsigned int first, unsigned int last);
void table_new_slowly(int fd);
void table_connected_anew(int fd);
void table_bare(struct entry *e, __u64 word, __u64 next, __s32 wait);

/* A transfer more. A number that is being looked at is never taken for an unused one. */
static inline __s32 entry_use(struct entry *e)
{
	__s32 used = __atomic_load_n(&e->used, __ATOMIC_RELAXED) + 1;

	used += !used;
	__atomic_store_n(&e->used, used, __ATOMIC_RELAXED);
	return used;
}

/* May there be anything to know of a number? */
static inline bool table_has(int fd)
{
	return (unsigned int)fd < __atomic_load_n(&table.count, __ATOMIC_ACQUIRE);
}

/* Was it used, or looked at? For one that table_has(). */
static inline bool table_knows(int fd)
{
	const struct entry *e = &table.at[fd];

	return __atomic_load_n(&e->word, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&e->used, __ATOMIC_RELAXED);
}

/* A number has just come: what is known is of another descriptor. errno is kept. */
static inline int table_new(int fd)
{
	if (table_has(fd) && spd_unlikely(table_knows(fd) || watch_known(fd)))
		table_new_slowly(fd);
	return fd;
}

/*
 * connect() returned @ret: the socket has given up its connection, or has another one.
 * The number is open as before, and who watches it does so still. errno is kept.
 */
static inline int table_connected(int fd, int ret)
{
	if (table_has(fd) && (!ret || errno == EINPROGRESS || errno == EINTR) &&
	    spd_unlikely(table_knows(fd)))
		table_connected_anew(fd);
	return ret;
}

#endif /* PRE_TABLE_H */
