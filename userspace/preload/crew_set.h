/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set; private to crew*.c and change.c.
 */
#ifndef PRE_CREW_SET_H
#define PRE_CREW_SET_H

#include "call.h"
#include "crew.h"

#define CREW_MAX	1024	/* members of each */
#define CREW_EVENTS	(EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLERR | EPOLLHUP)

/**
 * struct member - a mapped connection that a set watches
 * @word: its handle's
 * @state: of struct watch when it was read
 * @fd: its number
 * @events: EPOLL* then
 * @theirs: where its peer's index lies, if nothing had come when it was last looked at
 *	and nothing but data is waited for; otherwise NULL
 * @seen: that index then
 * @pair: its pair, of an event
 */
struct member {
	__u64				word;
	__u64				state;
	int				fd;
	__u32				events;
	const struct speed_index	*theirs;
	__u64				seen;
	__u64				pair;
};

/**
 * struct crew - a set
 * @owner: the thread that works on it, 0 if none
 * @looks: begun and ended: odd while it looks at its members, see crew_unseen()
 * @id: its identity; 0: free, 1: being made
 * @epfd: its number
 * @own: this process made it, and has shared no descriptors since
 * @made: this process made it, and so saw what set watches it, but for others' processes
 * @nested: another set watches it, and may be told of each wake-up
 * @changed: a member was while another thread worked on the set
 * @n: members
 * @goings: of crew_goings, up to which members' addresses are good
 * @hand: whom to look at first
 * @told: calls and events since the kernel was asked
 * @limit: how long looking may take, nanoseconds
 * @now: how long it takes now
 * @slept: calls since it was last tried
 * @again: so many until it is tried again
 * @whole: the last look took all the time there is, in vain
 * @wholes: such looks, each with a short sleep after it, since one that was not in vain
 * @alone: who would bring something cannot run while this one looks, see lib/spin.c
 * @asked: when the kernel was asked, nanoseconds of a coarse clock
 * @score: what looking has been worth
 * @rest: calls that are left to the kernel
 * @pause: so many the last time
 * @member: the members
 */
struct crew {
	uintptr_t	owner;
	__u32		looks;
	__u32		id;
	int		epfd;
	bool		own;
	bool		made;
	bool		nested;
	bool		changed;
	unsigned int	n;
	__u64		goings;
	unsigned int	hand;
	unsigned int	told;
	__u32		limit;
	__u32		now;
	unsigned int	slept;
	unsigned int	again;
	bool		whole;
	bool		alone;
	unsigned char	wholes;
	__u64		asked;
	int		score;
	unsigned int	rest;
	unsigned int	pause;
	struct member	member[CREW_MAX];
};

/* How often a mapping went. */
extern __u64 crew_goings __attribute__((visibility("hidden")));

extern struct crew *crews __attribute__((visibility("hidden")));
extern unsigned int crews_used __attribute__((visibility("hidden")));

static inline __u32 crew_id(const struct crew *c)
{
	return __atomic_load_n(&c->id, __ATOMIC_ACQUIRE);
}

static inline struct crew *crew_find(int epfd)
{
	unsigned int used = __atomic_load_n(&crews_used, __ATOMIC_ACQUIRE);

	for (struct crew *c = crews; c < crews + used; c++)
		if (crew_id(c) >= WATCH_SETS &&
		    __atomic_load_n(&c->epfd, __ATOMIC_RELAXED) == epfd)
			return c;
	return NULL;
}

static inline bool crew_trylock(struct crew *c)
{
	uintptr_t none = 0;

	return __atomic_compare_exchange_n(&c->owner, &none, spd_me(), false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline void crew_unlock(struct crew *c)
{
	__atomic_store_n(&c->owner, 0, __ATOMIC_RELEASE);
}

/* Events that are told here. */
static inline bool crew_can(const struct watch *w)
{
	return !(w->events & ~CREW_EVENTS) && (w->events & (EPOLLIN | EPOLLOUT));
}

/* The member that a number is, or NULL; with the set's lock. */
static inline struct member *crew_member(struct crew *c, int fd)
{
	unsigned int at = __atomic_load_n(&watches.at[fd].at, __ATOMIC_RELAXED);

	return at < c->n && c->member[at].fd == fd ? &c->member[at] : NULL;
}

/* Is a number a member? False, too, where somebody works on the set. */
static inline bool crew_surely_has(struct crew *c, int fd)
{
	bool has;

	if (!crew_trylock(c))
		return false;
	has = crew_member(c, fd);
	crew_unlock(c);
	return has;
}

/*
 * The next look reads anew what is known of a number; where somebody works on the set,
 * that of all its members. Return: whether it is a member, as far as can be told.
 */
static inline bool crew_remind(struct crew *c, __u32 set, int fd)
{
	struct member *m;

	if (crew_id(c) != set)
		return false;
	if (!crew_trylock(c)) {
		__atomic_store_n(&c->changed, true, __ATOMIC_RELEASE);
		return false;
	}
	m = crew_member(c, fd);
	if (m)
		m->theirs = NULL;
	crew_unlock(c);
	return m;
}

int crew_look(struct crew *c, struct epoll_event *events, int max);
bool crew_read(const struct crew *c, int fd, struct watch *w, struct member *m);

#endif /* PRE_CREW_SET_H */
