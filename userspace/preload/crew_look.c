// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Looking at the rings of a set.
 *
 * A member is looked at with its role entered, as by a transfer: so it is not taken
 * apart meanwhile. Of one to which nothing had come only the peer's index is read: as
 * long as it is the same, nothing has come since. Who unmaps asks crew_unseen().
 *
 * A program that finds events here does not enter the kernel, and neither need its
 * peers: once a connection has proved busy, the kernel is told that an epoll set alone
 * waits there (SPEED_IOC_EPOLL), and wakes it once for all that comes until the set
 * asks.
 */
#include "crew_set.h"

#define CREW_HITS	(1u << 30)	/* then nobody counts any more */
#define CREW_PROVED	8	/* events until the kernel is told */

/* The peer has taken everything: then there is room, whatever limits there are. */
static bool crew_writable(struct speed *s)
{
	struct spd_role *r = &s->role[SPEED_ROLE_TX];
	bool yes;

	if (!spd_role_trylock(s, r))
		return false;
	yes = spd_role_ready(r, SPEED_ROLE_TX) &&
	      spd_role_came(r, SPEED_ROLE_TX, r->side.size) && spd_role_looked(r, SPEED_ROLE_TX);
	spd_role_leave(r);
	return yes;
}

/* What the kernel would tell of the connection, with the role entered; 0: ask it. */
static __u32 crew_events(struct crew *c, struct speed *s, __u32 wanted)
{
	struct spd_role *r = &s->role[SPEED_ROLE_RX];
	__u32 ready = 0;

	if (!spd_role_ready(r, SPEED_ROLE_RX) ||
	    (speed_load(&r->side.kern->flags) & (SPEED_CLOSED | SPEED_OVERFLOW)))
		return 0;
	c->limit = r->spin.cpus ? spd_spin_limit(s, r) : 0;
	/* All that is so, or nothing: whether there is room must be certain, too. */
	if ((wanted & EPOLLOUT) && !crew_writable(s))
		return 0;
	if ((wanted & EPOLLIN) && spd_role_came(r, SPEED_ROLE_RX, 1)) {
		if (!spd_role_looked(r, SPEED_ROLE_RX))
			return 0;
		ready = EPOLLIN;
	}
	return ready | (wanted & EPOLLOUT);
}

/* The usual case, quickly: nothing has come. With the role entered. */
static inline bool crew_idle(const struct spd_role *r, __u32 wanted)
{
	return !(wanted & EPOLLOUT) && __atomic_load_n(&r->epoch, __ATOMIC_RELAXED) != SPD_NO_LEASE &&
	       speed_load_acquire(&r->side.theirs->index) == r->side.own;
}

/* Nothing has come since it was idle. */
static inline bool crew_still(const struct member *m)
{
	return m->theirs && speed_load_acquire(&m->theirs->index) == m->seen;
}

/*
 * What only crew_unseen() keeps mapped may have gone since the last look, or what is
 * waited for may be something else.
 */
static void crew_begin(struct crew *c)
{
	__u64 goings;

	__atomic_store_n(&c->looks, c->looks + 1, __ATOMIC_SEQ_CST);
	goings = __atomic_load_n(&crew_goings, __ATOMIC_SEQ_CST);
	if (spd_likely(goings == c->goings && !__atomic_load_n(&c->changed, __ATOMIC_RELAXED)))
		return;
	__atomic_store_n(&c->changed, false, __ATOMIC_RELAXED);
	/* What changes from here on says so again. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (unsigned int i = 0; i < c->n; i++)
		c->member[i].theirs = NULL;
	c->goings = goings;
}

static void crew_end(struct crew *c)
{
	__atomic_store_n(&c->looks, c->looks + 1, __ATOMIC_RELEASE);
}

/* Return: whether it is a member yet; its events, if any, in @ready. */
static inline bool crew_ready(struct crew *c, struct member *m, __u32 *ready)
{
	struct slot *h = pool_slot(m->word);
	struct speed *s = &h->s;
	struct spd_role *r = &s->role[SPEED_ROLE_RX];
	bool lives;

	*ready = 0;
	if (spd_unlikely(__atomic_load_n(s->alive, __ATOMIC_RELAXED) != s->generation) ||
	    !spd_role_trylock(s, r))
		return true;
	lives = pool_word_lives(h, m->word);
	m->theirs = lives && crew_idle(r, m->events) ? r->side.theirs : NULL;
	m->seen = r->side.own;
	m->pair = r->map.pair;
	if (lives && !m->theirs)
		*ready = crew_events(c, s, m->events);
	spd_role_leave(r);
	return lives;
}

/*
 * Tell the kernel, once; where others wait, too, later again. A set from before a fork(), or
 * from elsewhere, may be watched by another, which hears of what one wake-up told it.
 */
static void crew_claim(const struct crew *c, const struct member *m, __u64 proof)
{
	__u32 hits = (__u32)proof;

	if (!__atomic_load_n(&c->made, __ATOMIC_RELAXED) ||
	    hits < CREW_PROVED || (hits & (hits - 1)) ||
	    raw_call(SYS_ioctl, m->fd, SPEED_IOC_EPOLL, (long)m->pair, 0, 0, 0))
		return;
	__atomic_compare_exchange_n(&watches.at[m->fd].proof, &proof, proof | WATCH_CLAIMED, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Another event of the connection, for which it may be worth telling the kernel. */
static void crew_count(const struct crew *c, const struct member *m, const struct watch *w)
{
	__u64 of = watch_proof(m->word, m->pair);
	__u64 proof = w->proof >> 32 == of >> 32 ? w->proof : of;

	if ((__u32)proof >= CREW_HITS)
		return;
	__atomic_store_n(&watches.at[m->fd].proof, ++proof, __ATOMIC_RELAXED);
	crew_claim(c, m, proof);
}

/* Its events, if what is known of it is so yet. Return: whether it is a member. */
static inline bool crew_look_at(struct crew *c, struct member *m, struct epoll_event *event)
{
	struct member now;
	struct watch w;
	__u32 ready;

	event->events = 0;
	if (spd_likely(crew_still(m)))
		return true;
	if (!crew_read(c, m->fd, &w, &now))
		return false;
	if (now.state != m->state || now.word != m->word)
		*m = now;
	if (!crew_ready(c, m, &ready) || !ready || !watch_same(m->fd, &w))
		return true;
	event->events = ready;
	event->data.u64 = w.data;
	if (ready & EPOLLIN)
		crew_count(c, m, &w);
	return true;
}

static void crew_drop(struct crew *c, unsigned int at)
{
	/* A child, forked by a signal handler within the look, has no members. */
	if (!c->n)
		return;
	__atomic_store_n(&c->n, c->n - 1, __ATOMIC_RELAXED);
	c->member[at] = c->member[c->n];
	__atomic_store_n(&watches.at[c->member[at].fd].at, at, __ATOMIC_RELAXED);
}

/*
 * Each member once at most. The last one takes the place of one who is none any more: behind
 * where the look began it may have been looked at, and the look ends; who is left comes first
 * in the next. Return: events.
 */
int crew_look(struct crew *c, struct epoll_event *events, int max)
{
	unsigned int first = c->hand < c->n ? c->hand : 0;
	struct epoll_event event;
	int told = 0;

	crew_begin(c);
	for (unsigned int i = 0, n = c->n; i < n && told < max; i++) {
		unsigned int at = c->hand < c->n ? c->hand : 0;

		if (!crew_look_at(c, &c->member[at], &event)) {
			crew_drop(c, at);
			if (at < first)
				break;
			continue;
		}
		c->hand = at + 1;
		if (event.events)
			events[told++] = event;
	}
	crew_end(c);
	return told;
}
