/* SPDX-License-Identifier: GPL-2.0 */
/* What the stress tests share: chance that can be repeated, counters, raw roles. */
#ifndef SPEED_SELFTESTS_STRESS_H
#define SPEED_SELFTESTS_STRESS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <linux/speed_ring.h>

#include "harness.h"
#include "procfile.h"
#include "regions.h"

/* xorshift64*: the same numbers for the same seed, on every machine. */
struct chance {
	uint64_t state;
};

/* SPEED_SEED=n tries others. The seed is written down. */
static inline struct chance chance_of(uint64_t seed)
{
	const char *env = getenv("SPEED_SEED");

	if (env && *env)
		seed = strtoull(env, NULL, 0) * 0x9e3779b97f4a7c15ull + seed;
	trace_num(seed, "seed");
	return (struct chance){ seed ?: 1 };
}

static inline uint64_t chance64(struct chance *c)
{
	c->state ^= c->state >> 12;
	c->state ^= c->state << 25;
	c->state ^= c->state >> 27;
	return c->state * 0x2545f4914f6cdd1dull;
}

static inline uint64_t chance_below(struct chance *c, uint64_t n)
{
	return (chance64(c) >> 16) % n;
}

/* Sockets of this network namespace. */
static inline int sockets_listed(void)
{
	FILE *f = fopen("/proc/net/speed", "r");
	char line[1024];
	int n = -1;

	MUST(f);
	while (fgets(line, sizeof(line), f))
		n++;
	fclose(f);
	return n;
}

/* Sockets go when their last holder has gone: give it some time. */
static inline int sockets_settle(int want)
{
	long until = now_ms() + 15000;

	while (sockets_listed() != want && now_ms() < until)
		sleep_ms(20);
	return sockets_listed();
}

/**
 * struct raw - a role that is leased and mapped by hand
 * @l: the lease
 * @r: its regions
 * @own: its index, to be written with anything
 */
struct raw {
	struct speed_lease l;
	struct regions r;
	volatile uint64_t *own;
};

/* False, with errno, where there is no lease to be had, or it is gone before it is mapped. */
static inline bool raw_try(struct raw *w, int fd, int role)
{
	if (lease_role(fd, role, &w->l) || !map_try(fd, &w->l, &w->r))
		return false;
	w->own = (void *)w->r.own;
	return true;
}

#define RAW_LOOKS	1000	/* with a millisecond before each */
#define RAW_TRIES	10

/* Whoever looks at an idle ring refuses a lease for that instant. */
static inline bool raw_soon(struct raw *w, int fd, int role)
{
	int looks = 1;

	while (!raw_try(w, fd, role)) {
		if ((errno != EAGAIN && errno != EPERM) || looks++ == RAW_LOOKS)
			return false;
		sleep_ms(1);
	}
	return true;
}

static inline void raw_open(struct raw *w, int fd, int role)
{
	MUST(raw_soon(w, fd, role));
}

static inline void raw_unmap(struct raw *w)
{
	unmap_all(&w->l, &w->r);
}

static inline void raw_publish(struct raw *w, uint64_t index)
{
	__atomic_store_n(w->own, index, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* The same transport, side 0 by hand: the library does not hold its roles. */
static inline struct transport by_hand_0(const struct transport *t)
{
	struct transport u = *t;

	u.path[0] = PATH_KERNEL;
	return u;
}

static inline bool raw_both(int fd, struct raw *tx, struct raw *rx)
{
	if (tx && !raw_soon(tx, fd, SPEED_ROLE_TX))
		return false;
	if (!rx || raw_soon(rx, fd, SPEED_ROLE_RX))
		return true;
	if (tx)
		raw_unmap(tx);
	return false;
}

/*
 * A connection of which side 0 works by hand, in the roles that are given. A ring of fused TCP
 * that was idle for a second has no pages until somebody sends again: then another connection.
 */
static inline void raw_pair(const struct transport *t, struct end e[2], int bytes, struct raw *tx,
			    struct raw *rx)
{
	struct transport u = by_hand_0(t);
	int tries;

	tp_pair_sized(&u, e, bytes);
	for (tries = 1; !raw_both(e[0].fd, tx, rx); tries++) {
		MUST((errno == EAGAIN || errno == EPERM) && tries < RAW_TRIES);
		pair_close(e);
		tp_pair_sized(&u, e, bytes);
	}
}

/* The same by descriptors, of which the first sends by hand. */
static inline void raw_fds(const struct transport *t, int fd[2], struct raw *tx)
{
	struct end e[2];

	raw_pair(t, e, 0, tx, NULL);
	fd[0] = e[0].fd;
	fd[1] = e[1].fd;
}

#endif
