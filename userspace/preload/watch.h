/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a program has told epoll_ctl(): for each number the set that watches it, for
 * what, and under which name.
 *
 * It is known only while it is certain. Whoever changes something makes it unknown
 * before the system call and tells the new after it. Where another change, or a close,
 * came between, it is unknown; a child of fork() knows nothing. What is unknown is left
 * to the kernel, which knows it all. Of several sets that watch a number the first is
 * known.
 */
#ifndef PRE_WATCH_H
#define PRE_WATCH_H

#include <sys/epoll.h>
#include "handle.h"

/**
 * struct watch - what is known of a number
 * @data: the program's name for it
 * @events: EPOLL*
 * @state: how often it was changed, 32 bits, and the set's identity or WATCH_*
 * @at: where it is among the set's members; a hint
 * @proof: of which connection, 32 bits of watch_proof(), so many events were told, and
 *	WATCH_CLAIMED; racy
 */
struct watch {
	__u64	data;
	__u32	events;
	__u32	at;
	__u64	state;
	__u64	proof;
};

#define WATCH_UNKNOWN	0u
#define WATCH_BUSY	1u	/* being written */
#define WATCH_DEAD	2u	/* changed by two at once: unknown for ever */
#define WATCH_SET	3u	/* the number is a set itself */
#define WATCH_OPEN	4u	/* being changed */
#define WATCH_SETS	5u	/* the first identity of a set */

#define WATCH_CLAIMED	(1u << 31)	/* in @proof: SPEED_IOC_EPOLL has been said */

/**
 * struct watches - all of them
 * @at: by number; NULL where epoll is left alone
 * @top: no number from here on is known
 */
struct watches {
	struct watch	*at;
	unsigned int	top;
};

extern struct watches watches __attribute__((visibility("hidden")));

int watch_start(void);
__u64 watch_begin(int fd, __u32 *before);
void watch_end(int fd, __u64 ticket, __u32 set, const struct epoll_event *event);
bool watch_read(int fd, struct watch *w);
void watch_forget(int fd);

static inline __u32 watch_set(const struct watch *w)
{
	return (__u32)__atomic_load_n(&w->state, __ATOMIC_ACQUIRE);
}

/* Changed once more; who it is of then is to be added. */
static inline __u64 watch_next(__u64 state)
{
	return (state | 0xffffffffu) + 1;
}

static inline bool watch_move(struct watch *w, __u64 from, __u64 to)
{
	return __atomic_compare_exchange_n(&w->state, &from, to, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* Is what watch_read() found so yet? */
static inline bool watch_same(int fd, const struct watch *w)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&watches.at[fd].state, __ATOMIC_RELAXED) == w->state;
}

/* Is there anything to forget? */
static inline bool watch_known(int fd)
{
	return (unsigned int)fd < __atomic_load_n(&watches.top, __ATOMIC_RELAXED) &&
	       watch_set(&watches.at[fd]);
}

/* No events yet of the connection that a handle has with a pair. */
static inline __u64 watch_proof(__u64 word, __u64 pair)
{
	return ((word ^ pair << 8) * 0x9e3779b97f4a7c15u) & ~(__u64)0xffffffffu;
}

/* Has the kernel been told that an epoll set alone waits there? */
static inline bool watch_claimed(int fd, __u64 word, __u64 pair)
{
	__u64 proof;

	if (!watch_known(fd))
		return false;
	proof = __atomic_load_n(&watches.at[fd].proof, __ATOMIC_RELAXED);
	return (proof & WATCH_CLAIMED) && proof >> 32 == watch_proof(word, pair) >> 32;
}

#endif /* PRE_WATCH_H */
