// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of descriptors, and whose it is.
 *
 * A child of vfork() has descriptors of its own but this memory. What it closes stays
 * known, because it is open in the parent; what it opens is forgotten, because the
 * child may use it, and the parent is then only slower. It makes no handles.
 */
#include <fcntl.h>
#include <unistd.h>
#include "pages.h"
#include "pool.h"
#include "role.h"
#include "table.h"
#include "watch.h"

struct table table;

static __u32 *table_pid;	/* in a page that a child of fork() finds wiped */

/* 0, or -1 where there is no memory. */
int table_start(__s32 after)
{
	struct entry *at = pages_get(sizeof(*at) * TABLE_NUMBERS);

	table_pid = pages_get_wiped(sizeof(*table_pid));
	if (!at || !table_pid)
		return -1;
	table.at = at;
	table.after = after;
	/* Other libraries' threads may run before: call_begin() looks at the count first. */
	__atomic_store_n(&table.count, TABLE_NUMBERS, __ATOMIC_RELEASE);
	table_own_process();
	return 0;
}

/*
 * After fork(), in the child: a child of its own by vfork() must not be who claims the
 * table. daemon() and forkpty() replace the first numbers inside the C library.
 */
void table_child(void)
{
	if (!table.count)
		return;
	table_own_process();
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		table_new(fd);
}

/*
 * A thread gets numbers of its own, where there are others: one table cannot serve them.
 * From now on every call is the plain one.
 */
void table_unshare(void)
{
	unsigned int top = __atomic_load_n(&table.top, __ATOMIC_RELAXED);

	if (!table.count || spd_one_thread() || !table_own_process())
		return;
	__atomic_store_n(&table.count, 0, __ATOMIC_SEQ_CST);
	for (unsigned int fd = 0; fd < top; fd++)
		table_bare(&table.at[fd], __atomic_load_n(&table.at[fd].word, __ATOMIC_RELAXED),
			   0, 0);
}

/* Is the table that of the calling process, not of its parent? errno is kept. */
bool table_own_process(void)
{
	__u32 pid = (__u32)raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
	__u32 known = __atomic_load_n(table_pid, __ATOMIC_RELAXED);

	if (!known)
		__atomic_store_n(table_pid, pid, __ATOMIC_RELAXED);
	return !known || known == pid;
}

/* A number is going to have a word. */
void table_reach(int fd)
{
	pages_reach(&table.top, (unsigned int)fd + 1);
}

/*
 * Nothing is known of a number any more, if its word is still @word; it is @next then,
 * and @wait transfers more than usual must come first.
 */
void table_bare(struct entry *e, __u64 word, __u64 next, __s32 wait)
{
	__atomic_store_n(&e->used, wait ? -wait : 1, __ATOMIC_RELAXED);
	if (word != next &&
	    __atomic_compare_exchange_n(&e->word, &word, next, false,
					__ATOMIC_SEQ_CST, __ATOMIC_RELAXED) &&
	    pool_word_is_handle(word))
		pool_put(word);
}

/*
 * @closed: transfers that are under way are of a descriptor that is no more. The number
 * is unused before that can be seen: a transfer that has seen it uses the number anew.
 */
static void table_clear(struct entry *e, bool closed)
{
	__u64 word;

	__atomic_store_n(&e->used, !closed, __ATOMIC_RELAXED);
	if (closed)
		__atomic_add_fetch(&e->closed, 1, __ATOMIC_SEQ_CST);
	word = __atomic_exchange_n(&e->word, 0, __ATOMIC_SEQ_CST);
	if (pool_word_is_handle(word))
		pool_put(word);
}

/**
 * table_forget() - a number is about to be closed
 * @fd: any number
 *
 * Context: signal-safe; errno is kept.
 */
void table_forget(int fd)
{
	struct entry *e;

	if (!table_has(fd))
		return;
	e = &table.at[fd];
	if (spd_unlikely(watch_known(fd)) && table_own_process())
		watch_forget(fd);
	if (!table_knows(fd))
		return;
	if (spd_unlikely(__atomic_load_n(&pool.left, __ATOMIC_RELAXED)) && table_own_process())
		pool_sweep();
	if (pool_word_is_handle(__atomic_load_n(&e->word, __ATOMIC_RELAXED)) &&
	    !table_own_process())
		return;
	table_clear(e, true);
}

/**
 * table_connected_anew() - a number's socket has given up its connection
 * @fd: a number of the table, still open
 *
 * What other numbers share the handle are of the same socket.
 *
 * Context: signal-safe; errno is kept.
 */
void table_connected_anew(int fd)
{
	__u64 word = __atomic_load_n(&table.at[fd].word, __ATOMIC_RELAXED);
	unsigned int top = __atomic_load_n(&table.top, __ATOMIC_RELAXED);

	for (unsigned int n = 0; pool_word_is_handle(word) && n < top; n++)
		if (n != (unsigned int)fd &&
		    __atomic_load_n(&table.at[n].word, __ATOMIC_RELAXED) == word)
			table_bare(&table.at[n], word, 0, 0);
	table_bare(&table.at[fd], word, 0, 0);
}

/**
 * table_replace() - a number is about to become a duplicate of another
 * @fd: that one
 * @to: the number
 * @flags: dup3()'s
 *
 * A call that is going to fail closes nothing.
 *
 * Context: signal-safe; errno is kept.
 */
void table_replace(int fd, int to, int flags)
{
	if (fd < 0 || fd == to || !table_has(to) || (flags & ~O_CLOEXEC))
		return;
	if (pool_word_is_handle(__atomic_load_n(&table.at[to].word, __ATOMIC_RELAXED)) &&
	    raw_call(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0) < 0)
		return;
	table_forget(to);
}

void table_forget_range(unsigned int first, unsigned int last)
{
	unsigned int top = __atomic_load_n(&table.top, __ATOMIC_RELAXED);
	unsigned int watched = __atomic_load_n(&watches.top, __ATOMIC_RELAXED);

	top = top > watched ? top : watched;
	for (unsigned int fd = first; fd < top && fd <= last; fd++)
		table_forget((int)fd);
}

SPD_COLD void table_new_slowly(int fd)
{
	if (watch_known(fd))
		watch_forget(fd);
	table_clear(&table.at[fd], table_own_process());
}
