// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Off the fast path: a role that is busy or not leased, a publication that
 * somebody waits for or that may not count, and a ring that is empty or full.
 */
#include <sched.h>
#include <signal.h>
#include "cpu.h"
#include "role.h"

/* Looks at another thread's lock before the plain call is made instead. */
#define SLOW_LOCK_LOOKS	100

static bool slow_lock(struct speed *s, struct spd_role *r)
{
	for (int looks = 0; !spd_role_trylock(s, r); looks++) {
		if (spd_role_mine(r))
			return false;
		if (s->fd < 0)
			sched_yield();	/* a memfd pair has nothing else */
		else if (looks == SLOW_LOCK_LOOKS)
			return false;
		spd_relax();
	}
	return true;
}

/*
 * A signal handler interrupted the other role, and may have left it by a longjmp
 * for ever, between its publication and the wake-up that belongs to it.
 */
static void slow_wake_for(struct speed *s, int role)
{
	struct spd_role *r = &s->role[role];
	int saved = errno;

	if (!spd_role_mine(r) || r->resv != SPD_RESV_NONE ||
	    !speed_ring_counts(&r->side, role, r->epoch))
		return;
	speed_ring_publish_fence();	/* the publication's own, if it was left before that */
	if (!spd_published_quietly(r, role))
		s->ops->wake(s, role == SPEED_ROLE_TX ? SPEED_WAKE_READER : SPEED_WAKE_WRITER);
	errno = saved;
}

static bool slow_enter(struct speed *s, int role)
{
	struct spd_role *r = &s->role[role];

	if (__atomic_load_n(s->alive, __ATOMIC_RELAXED) != s->generation && !spd_fork_mend(s))
		return false;
	if (!slow_lock(s, r))
		return false;
	if (spd_role_still(s) &&
	    (speed_ring_counts(&r->side, role, r->epoch) || !spd_lease(s, role)) &&
	    spd_role_ready(r, role))
		return true;
	spd_role_leave(r);
	return false;
}

/* spd_role_enter() where it does not go straight. errno is kept. */
SPD_COLD bool spd_role_enter_slow(struct speed *s, int role)
{
	int saved = errno;
	bool in = slow_enter(s, role);

	if (!in)
		slow_wake_for(s, !role);
	errno = saved;
	return in;
}

/* Give the peer the wake-ups it is owed. */
void spd_pay(struct speed *s, struct spd_role *r)
{
	unsigned int owed = r->owed;
	int saved = errno;

	if (!owed)
		return;
	r->owed = 0;
	spd_count(&r->wakes);
	s->ops->wake(s, owed);
	errno = saved;
}

/**
 * spd_published() - tell who waits, and see whether a publication counts
 * @s: the handle
 * @role: SPEED_ROLE_*, published and fenced, but not quietly
 * @start: the role's own index before what the caller wants to know of
 * @counted: filled in with how many bytes from @start on count
 *
 * Return: SPD_LOOK: all of it, go on. SPD_PLAIN: @counted bytes, the lease is gone.
 * SPD_FAIL: the lease is gone and nobody knows; errno is set.
 */
SPD_COLD int spd_published(struct speed *s, int role, __u64 start, __u64 *counted)
{
	struct spd_role *r = &s->role[role];
	__u64 index;
	bool lost;

	if (role == SPEED_ROLE_TX && speed_prod_must_wake(&r->side))
		r->owed |= SPEED_WAKE_READER;
	if (role == SPEED_ROLE_RX && speed_cons_must_wake(&r->side))
		r->owed |= SPEED_WAKE_WRITER;
	if (!r->defer)
		spd_pay(s, r);
	*counted = r->side.own - start;
	if (speed_ring_counts(&r->side, role, r->epoch)) {
		if (spd_likely(spd_role_still(s)))
			return SPD_LOOK;
		/* The descriptor went, and the wake-up nowhere: unmapping gives it as well. */
		spd_map_drop(s, role);
		return SPD_PLAIN;
	}
	lost = s->ops->settle(s, role, &index) || r->side.own - index > *counted;
	spd_count(&r->revocations);
	r->epoch = SPD_NO_LEASE;
	if (lost) {
		*counted = 0;
		errno = ECONNRESET;	/* of a socket about which nothing is certain */
		return SPD_FAIL;
	}
	*counted = index - start;
	return SPD_PLAIN;
}

/*
 * The ring is closed or overflows. What was published before that comes first: look
 * once more. The flags were loaded with acquire.
 */
static int slow_last_look(struct spd_role *r, int role)
{
	struct speed_side *side = &r->side;
	__u64 before = side->other;

	if (role == SPEED_ROLE_TX)
		return SPD_PLAIN;
	if (speed_cons_ready(side, side->size + 1) < 0 || side->other != before)
		return SPD_LOOK;
	return SPD_PLAIN;
}

/*
 * MSG_DONTWAIT, and nothing there. A sender leaves the answer to the kernel, which
 * alone knows whether a full ring may overflow. A receiver has it, but a poller that
 * waits for the edge relies on it that NEED_DATA was set before EAGAIN was said: if it
 * is not, ask the kernel to set it.
 */
static int slow_dontwait(struct speed *s, struct spd_role *r, int role)
{
	if (role == SPEED_ROLE_TX)
		return SPD_PLAIN;
	if (!(speed_load_acquire(&r->side.kern->flags) & SPEED_NEED_DATA))
		s->ops->ask(s);
	if (slow_last_look(r, role) == SPD_LOOK)
		return SPD_LOOK;
	if (!speed_ring_counts(&r->side, role, r->epoch) ||
	    (speed_load(&r->side.kern->flags) & (SPEED_CLOSED | SPEED_OVERFLOW)))
		return SPD_PLAIN;
	errno = EAGAIN;
	return SPD_FAIL;
}

/* @saved: errno before; a transfer that succeeds does not change it. */
static int slow_not_slept(struct speed *s, struct spd_role *r, int saved)
{
	if (errno == ENOBUFS || errno == ESTALE) {
		errno = saved;
		return SPD_PLAIN;
	}
	/* With O_NONBLOCK the kernel does not sleep; nor shall the next one spin. */
	if (errno == EAGAIN && !r->nonblock) {
		r->nonblock = s->ops->nonblock(s);
		errno = EAGAIN;
	}
	return SPD_FAIL;
}

/* @past: SPEED_WAIT_MOVED and SPEED_WAIT_AGAIN, of the transfer */
static int slow_sleep(struct speed *s, int role, __u64 want, unsigned int past, __u32 limit)
{
	struct spd_role *r = &s->role[role];
	__u64 since = limit ? spd_spin_now() : 0;
	unsigned int owed = r->owed;
	int saved = errno;
	int ret;

	spd_count(&r->waits);
	r->owed = 0;
	ret = s->ops->wait(s, role, owed | past, want);
	/* A module that does not know a flag has not woken the peer, either. */
	if (ret && (past & SPEED_WAIT_AGAIN) && errno == EINVAL)
		ret = s->ops->wait(s, role, owed | (past & SPEED_WAIT_MOVED), want);
	if (ret && (past & SPEED_WAIT_MOVED) && errno == EINVAL)
		ret = s->ops->wait(s, role, owed, want);
	if (ret)
		return slow_not_slept(s, r, saved);
	errno = saved;
	if (limit)
		spd_spin_slept(r, since, limit);
	r->nonblock = false;
	return SPD_LOOK;
}

/*
 * A sender slept, and now there is only the plain call. Who was asleep when a
 * connection broke is told how; who comes later, that there is none.
 */
SPD_COLD int spd_woken_by_end(struct speed *s)
{
	int err = s->ops->error ? s->ops->error(s) : 0;

	/* EPIPE comes with a signal. */
	if (!err || err == EPIPE)
		return SPD_PLAIN;
	errno = err;
	return SPD_FAIL;
}

/**
 * spd_wait() - wait until a role has something to do
 * @s: the handle
 * @role: SPEED_ROLE_*, whose ring has just been found without @want bytes
 * @want: bytes, at least 1
 * @flags: of the transfer, and SPD_MOVED
 * @slept: SPD_SLEPT and SPD_WAITED; kept by the caller between calls
 *
 * Return: SPD_LOOK, SPD_PLAIN, or SPD_FAIL and errno (EAGAIN, EINTR).
 */
SPD_COLD int spd_wait(struct speed *s, int role, __u64 want, int flags, unsigned int *slept)
{
	unsigned int past = (flags & SPD_MOVED ? SPEED_WAIT_MOVED : 0) |
			    (*slept & SPD_WAITED ? SPEED_WAIT_AGAIN : 0);
	struct spd_role *r = &s->role[role];
	__u32 limit;
	int ret;

	if (speed_load_acquire(&r->side.kern->flags) & (SPEED_CLOSED | SPEED_OVERFLOW))
		return slow_last_look(r, role);
	if (!speed_ring_counts(&r->side, role, r->epoch))
		return SPD_PLAIN;
	/* The kernel had something to tell, and it is not in the ring. */
	if (*slept & SPD_SLEPT)
		return SPD_PLAIN;
	slow_wake_for(s, !role);
	if (flags & MSG_DONTWAIT)
		return slow_dontwait(s, r, role);
	limit = r->nonblock ? 0 : spd_spin_limit(s, r);
	if (limit && spd_spin(s, role, want, limit))
		return SPD_LOOK;
	ret = slow_sleep(s, role, want, past, r->spin.cpus ? limit : 0);
	*slept = SPD_WAITED | (ret == SPD_LOOK ? SPD_SLEPT : 0);
	/* The connection was given up: no plain call, which would be the next one's, tells. */
	if (ret == SPD_FAIL && errno == EPIPE && !(flags & (MSG_NOSIGNAL | SPD_MOVED))) {
		raise(SIGPIPE);
		errno = EPIPE;
	}
	return ret;
}
