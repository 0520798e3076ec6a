/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Entering and leaving a role: the part of a transfer that every transfer pays.
 *
 * The lock. A role's owner word holds the identity of the thread that exercises
 * it. It is only ever tried: who does not get it makes the plain system call, upon
 * which the kernel takes the lease back and the owner notices after its next
 * publication. So a signal handler that interrupted the owner cannot deadlock, and
 * an owner that a longjmp left behind costs speed, not correctness.
 *
 * Where no second thread can be inside (SPEED_ATTACH_SINGLE, or a process with one
 * thread) the word is taken with plain stores: the only one who can come between
 * them is a signal handler of the same thread, and that one has left again, or
 * left the word behind for good, before the store goes on.
 */
#ifndef SPD_ROLE_H
#define SPD_ROLE_H

#include "handle.h"

#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define spd_one_thread()	(__libc_single_threaded)
#endif
#endif
#ifndef spd_one_thread
#define spd_one_thread()	0
#endif

#define spd_compiler_barrier()	__atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Its address is the thread's identity; the model keeps it free of calls. */
extern __thread char spd_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline uintptr_t spd_me(void)
{
	return (uintptr_t)&spd_self;
}

static inline bool spd_role_trylock(const struct speed *s, struct spd_role *r)
{
	uintptr_t free = 0;

	if ((s->flags & SPEED_ATTACH_SINGLE) || spd_one_thread()) {
		if (__atomic_load_n(&r->owner, __ATOMIC_RELAXED))
			return false;
		__atomic_store_n(&r->owner, spd_me(), __ATOMIC_RELAXED);
		spd_compiler_barrier();
		return true;
	}
	return __atomic_compare_exchange_n(&r->owner, &free, spd_me(), false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline void spd_role_leave(struct spd_role *r)
{
	__atomic_store_n(&r->owner, 0, __ATOMIC_RELEASE);
}

/* After a transfer that collected wake-ups: the caller gives them. */
static inline void spd_role_leave_owing(struct spd_role *r, unsigned int *owed)
{
	if (owed) {
		*owed = r->owed;
		r->owed = 0;
		r->defer = false;
	}
	spd_role_leave(r);
}

static inline bool spd_role_mine(const struct spd_role *r)
{
	return __atomic_load_n(&r->owner, __ATOMIC_RELAXED) == spd_me();
}

/* One more, of what others look at without the role's lock. */
static inline void spd_count(__u64 *count)
{
	__atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
}

/* A transfer is done: publish it, ordered before the loads that ask who must be told. */
static inline void spd_role_publish(struct spd_role *r, __u64 bytes)
{
	speed_ring_publish(&r->side, bytes);
	speed_ring_publish_fence();
	spd_count(&r->done);
}

/*
 * Was what has just been read the ring's? Where the lease has been taken it was a page of
 * zeros: who read those sees the epoch changed.
 */
static inline bool spd_role_looked(const struct spd_role *r, int role)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return speed_ring_counts(&r->side, role, r->epoch);
}

/* May the holder of the lock work on the ring? */
static inline bool spd_role_ready(const struct spd_role *r, int role)
{
	const struct speed_kern *kern = r->side.kern;

	if (!speed_ring_counts(&r->side, role, r->epoch))
		return false;
	/* RX: bytes come before the end, so recv looks at the flags only when empty */
	return role == SPEED_ROLE_RX ||
	       !(speed_load(&kern->flags) & (SPEED_CLOSED | SPEED_OVERFLOW));
}

/**
 * spd_role_enter() - take a role to work on its ring
 * @s: the handle
 * @role: SPEED_ROLE_*
 *
 * Return: true with the lock held and the lease in force, or false: make the plain
 * call.
 */
static inline bool spd_role_enter(struct speed *s, int role)
{
	struct spd_role *r = &s->role[role];

	if (spd_likely(__atomic_load_n(s->alive, __ATOMIC_RELAXED) == s->generation &&
		       spd_role_trylock(s, r))) {
		if (spd_likely(spd_role_still(s) && spd_role_ready(r, role)))
			return true;
		spd_role_leave(r);
	}
	return spd_role_enter_slow(s, role);
}

/**
 * spd_published_quietly() - is there nothing to do after a publication?
 * @r: the role, published and fenced
 * @role: SPEED_ROLE_*
 *
 * Return: true where nobody waits for it and it counts; otherwise ask
 * spd_published().
 */
static inline bool spd_published_quietly(const struct spd_role *r, int role)
{
	__u32 need = role == SPEED_ROLE_TX ? SPEED_NEED_DATA : SPEED_NEED_SPACE;

	return !(speed_load(&r->side.kern->flags) & need) &&
	       speed_ring_counts(&r->side, role, r->epoch);
}

/* Has a role @want bytes to work on? A lie of the peer's is something to do, too. */
static inline bool spd_role_came(struct spd_role *r, int role, __u64 want)
{
	__s64 have = role == SPEED_ROLE_TX ? speed_prod_free(&r->side, want) :
					     speed_cons_ready(&r->side, want);

	return have < 0 || have >= (__s64)want;
}

/*
 * Free bytes that a producer waits for: what it needs, at most half a ring, and at
 * least a quarter, so that a full ring is not handed over message by message.
 */
static inline __u64 spd_space_wanted(const struct speed_side *side, __u64 need)
{
	__u64 want = need < side->size / 2 ? need : side->size / 2;

	return want > side->size / 4 ? want : side->size / 4;
}

#endif /* SPD_ROLE_H */
