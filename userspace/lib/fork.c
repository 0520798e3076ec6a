// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Noticing fork().
 *
 * A mapping of a ring is not copied to a child, so a handle that a child inherits
 * points at nothing. One word a process lies in a page that the kernel wipes in a
 * child; each transfer compares it with the handle's generation. Generations are
 * drawn from a counter in ordinary memory, which a child inherits: no handle that
 * is older than the process ever shows the process's own generation.
 */
#include <sys/mman.h>
#include <unistd.h>
#include "role.h"

static unsigned long *fork_word;	/* in a page of its own; set once */
static unsigned long fork_counter;	/* generations drawn, by ancestors too */

static unsigned long *fork_word_get(void)
{
	unsigned long *word = __atomic_load_n(&fork_word, __ATOMIC_ACQUIRE);
	unsigned long *none = NULL;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (word)
		return word;
	word = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (word == MAP_FAILED)
		return NULL;
	if (madvise(word, page, MADV_WIPEONFORK) ||
	    !__atomic_compare_exchange_n(&fork_word, &none, word, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		munmap(word, page);
		word = none;
	}
	return word;
}

static unsigned long fork_generation(unsigned long *word)
{
	unsigned long now = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	unsigned long next;

	if (now)
		return now;
	next = __atomic_add_fetch(&fork_counter, 1, __ATOMIC_RELAXED);
	if (__atomic_compare_exchange_n(word, &now, next, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return next;
	return now;
}

/* Let a new handle notice fork(). 0, or -1 and errno. */
int spd_fork_watch(struct speed *s)
{
	unsigned long *word = fork_word_get();

	if (!word)
		return -1;
	s->alive = word;
	s->generation = fork_generation(word);
	return 0;
}

/**
 * spd_fork_mend() - make a handle ready in a process that inherited it
 * @s: a handle whose generation is not the process's
 *
 * The addresses of the old mappings are free for anyone now and are forgotten, not
 * unmapped. A role that this thread is inside stays locked: a signal handler that
 * interrupted it has forked. A reservation is over.
 *
 * Return: whether the handle may be used; false while another thread, or what this
 * signal handler interrupted, is at it.
 */
bool spd_fork_mend(struct speed *s)
{
	unsigned long now = fork_generation(fork_word);
	unsigned long old = __atomic_load_n(&s->mending, __ATOMIC_RELAXED);

	if (__atomic_load_n(&s->generation, __ATOMIC_ACQUIRE) == now)
		return true;
	if (old == now || !__atomic_compare_exchange_n(&s->mending, &old, now, false,
						       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	for (int i = 0; i < SPEED_ROLES; i++) {
		struct spd_role *r = &s->role[i];
		bool inside = spd_role_mine(r) && r->resv == SPD_RESV_NONE;

		spd_role_forget(r);
		if (!inside)
			spd_role_leave(r);
	}
	__atomic_store_n(&s->generation, now, __ATOMIC_RELEASE);
	return true;
}
