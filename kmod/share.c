// SPDX-License-Identifier: GPL-2.0
/*
 * How much of what rings may take can be mapped: three quarters. Nobody takes pages
 * away from who maps them; the rest goes round among connections that map none, and
 * without it they would have to do without rings.
 *
 * The bounds are those of user.c: the machine's, a namespace's, and half of the machine's
 * for a user other than root; for TCP, which bounds rings on its own, its bound and half
 * of it as well. A ring is one user's, whoever pays for its pages: the producer's, or
 * where he does not map it the consumer's. So nobody uses up another's share.
 *
 * share_lock covers all that is counted, and is a leaf.
 */
#include <linux/spinlock.h>
#include <net/sock.h>

#include "charge.h"
#include "net.h"
#include "pages.h"
#include "ring.h"
#include "share.h"

static DEFINE_SPINLOCK(share_lock);
static long tcp_mapped;

static bool fits(long have, size_t more, unsigned long bound)
{
	return have + more <= bound / 4 * 3;
}

/* Whose it is while these map it. */
static struct speed_user *owner(struct speed_user *const by[SPEED_ROLES])
{
	return by[SPEED_ROLE_TX] ?: by[SPEED_ROLE_RX];
}

static struct net *net_of(const struct speed_ring *ring)
{
	return sock_net(speed_ring_writer(ring));
}

/* What TCP's rings may take; another ring is not bound by it. */
static unsigned long tcp_bound(const struct speed_ring *ring)
{
	const struct speed_door *door = ring->pair->door;

	return door->bound ? door->bound(ring) : ULONG_MAX;
}

static bool user_has_room(const struct speed_ring *ring, struct speed_user *user)
{
	unsigned long all = READ_ONCE(speed_net(&init_net)->mem_max), tcp = tcp_bound(ring);
	long *mapped = speed_user_mapped(user);
	size_t size = speed_ring_size(ring);

	return fits(mapped[0] + mapped[1], size, speed_user_max(user, all)) &&
	       fits(mapped[1], size, speed_user_max(user, tcp));
}

static bool all_have_room(const struct speed_ring *ring)
{
	const struct speed_net *all = speed_net(&init_net), *net = speed_net(net_of(ring));
	size_t size = speed_ring_size(ring);

	return fits(all->mapped, size, READ_ONCE(all->mem_max)) &&
	       fits(net->mapped, size, READ_ONCE(net->mem_max)) &&
	       fits(tcp_mapped, size, tcp_bound(ring));
}

static bool has_room(const struct speed_ring *ring, struct speed_user *user)
{
	struct speed_user *was = ring->buf ? owner(ring->buf->by) : NULL;

	return (was == user || user_has_room(ring, user)) && (was || all_have_room(ring));
}

static void count_all(const struct speed_ring *ring, long bytes)
{
	struct net *net = net_of(ring);

	speed_net(&init_net)->mapped += bytes;
	if (!net_eq(net, &init_net))
		speed_net(net)->mapped += bytes;
	if (ring->pair->door->bound)
		tcp_mapped += bytes;
}

static void count_user(const struct speed_ring *ring, struct speed_user *user, long bytes)
{
	if (user)
		speed_user_mapped(user)[!!ring->pair->door->bound] += bytes;
}

/* From now on @user maps a role, or nobody does. */
static void set(struct speed_ring *ring, int role, struct speed_user *user)
{
	struct speed_user **by = ring->buf->by, *was = owner(by), *is;
	long size = speed_ring_size(ring);

	by[role] = user;
	is = owner(by);
	if (is == was)
		return;
	count_user(ring, was, -size);
	count_user(ring, is, size);
	if (!is != !was)
		count_all(ring, is ? size : -size);
}

static bool ask(struct speed_ring *ring, int role, bool take)
{
	struct speed_pair *pair = ring->pair;
	struct speed_user *user = pair->door->user(pair, speed_role_end(ring, role));
	bool room;

	spin_lock(&share_lock);
	room = user && has_room(ring, user);
	if (room && take)
		set(ring, role, user);
	spin_unlock(&share_lock);
	return room;
}

/**
 * speed_share_left() - may a role be mapped, as far as memory goes?
 * @ring: the ring
 * @role: SPEED_ROLE_*; both roles' locks are held
 *
 * To be asked before pages are spent; speed_share_take() decides.
 *
 * Context: may sleep.
 */
bool speed_share_left(struct speed_ring *ring, int role)
{
	return ask(ring, role, false);
}

/**
 * speed_share_take() - a role is about to be mapped
 * @ring: the ring, which has data pages
 * @role: SPEED_ROLE_*, which is not leased; both roles' locks are held
 *
 * Context: may sleep.
 * Return: whether it may be. If so speed_share_drop() follows.
 */
bool speed_share_take(struct speed_ring *ring, int role)
{
	return ask(ring, role, true);
}

/**
 * speed_share_drop() - a role is not mapped any more
 * @ring: the ring
 * @role: SPEED_ROLE_*; its lock is held
 *
 * Context: any but interrupt.
 */
void speed_share_drop(struct speed_ring *ring, int role)
{
	spin_lock(&share_lock);
	set(ring, role, NULL);
	spin_unlock(&share_lock);
}

void speed_share_exit(void)
{
	WARN_ON_ONCE(tcp_mapped);
}
