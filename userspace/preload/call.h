/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A transfer of the program's: from the number that it names to a handle, and what the
 * library needs to know while it works.
 *
 * A handle may serve several numbers, so whatever enters the kernel does so by the
 * number that the caller named: it alone is known to be open. A thread remembers it in
 * call_now, which a signal handler's transfers put back as they found it.
 */
#ifndef PRE_CALL_H
#define PRE_CALL_H

#include <pthread.h>
#include "pool.h"
#include "role.h"
#include "table.h"

/**
 * struct call - a transfer under way
 * @e: the number's entry
 * @word: what it showed
 * @closed: how often the number had been closed
 * @fd: the number
 * @outer: the transfer that a signal handler interrupted
 * @slept: it has waited for the number's old socket
 */
struct call {
	struct entry	*e;
	__u64		word;
	__u32		closed;
	int		fd;
	struct call	*outer;
	bool		slept;
};

struct slot *call_look(struct call *c);

/* Was the number closed since the transfer began? */
static inline bool call_gone(const struct call *c)
{
	return __atomic_load_n(&c->e->closed, __ATOMIC_RELAXED) != c->closed;
}

/**
 * call_begin() - what serves a number
 * @c: to be filled in
 * @fd: any number
 *
 * Return: a handle, or NULL: make the plain call. errno is kept.
 */
static inline struct slot *call_begin(struct call *c, int fd)
{
	struct entry *e;

	if (spd_unlikely(!table_has(fd)))
		return NULL;
	e = &table.at[(unsigned int)fd];
	c->closed = __atomic_load_n(&e->closed, __ATOMIC_ACQUIRE);
	c->word = __atomic_load_n(&e->word, __ATOMIC_ACQUIRE);
	c->fd = fd;
	c->e = e;
	if (spd_likely(pool_word_is_handle(c->word)))
		return pool_slot(c->word);
	return spd_likely(entry_use(e) < table.after) ? NULL : call_look(c);
}

/* The library works for the caller. */
static inline void call_enter(struct call *c)
{
	if (!spd_one_thread())
		pthread_testcancel();
	c->outer = call_now;
	c->slept = false;
	call_now = c;
}

/*
 * Return: whether the call has been made. Otherwise the number is not a socket, and was
 * replaced unseen: the caller makes the plain call.
 */
static inline bool call_leave(struct call *c, ssize_t ret)
{
	call_now = c->outer;
	if (spd_likely(ret >= 0) || errno != ENOTSOCK)
		return true;
	table_forget(c->fd);
	return false;
}

#endif /* PRE_CALL_H */
