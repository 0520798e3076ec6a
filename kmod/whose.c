// SPDX-License-Identifier: GPL-2.0
/*
 * Whose data pages help where a ring was refused some: those that the bound counts that was
 * reached. Others would lose theirs for nothing, and to whoever tries often enough.
 */
#include <net/sock.h>

#include "charge.h"
#include "ring.h"
#include "whose.h"

static int payer_end(const struct speed_ring *ring)
{
	return ring->reader_pays ? !ring->end : ring->end;
}

static struct net *payer_net(const struct speed_ring *ring)
{
	return sock_net(ring->pair->sk[payer_end(ring)]);
}

static struct speed_user *payer_user(const struct speed_ring *ring)
{
	return ring->pair->door->user(ring->pair, payer_end(ring));
}

/**
 * speed_is_of() - does one of these pay for a ring?
 * @ring: a ring that has data pages
 * @whose: who
 *
 * Context: any.
 */
bool speed_is_of(const struct speed_ring *ring, const struct speed_whose *whose)
{
	return (!whose->net || net_eq(payer_net(ring), whose->net)) &&
	       (!whose->user || payer_user(ring) == whose->user);
}

/**
 * speed_whose_help() - whose rings' pages help a ring that was refused some
 * @ring: the ring
 * @bytes: how many it was refused
 * @whose: filled in: who pays for them
 *
 * Of all bounds that are reached: the user's own, that of the namespace, the machine's. One
 * that has room by now, and a control group's, are taken for the user's.
 *
 * Context: may sleep.
 * Return: whether anybody's do; nobody's where there is no memory for the user's account.
 */
bool speed_whose_help(const struct speed_ring *ring, size_t bytes, struct speed_whose *whose)
{
	const struct speed_user *user = payer_user(ring);
	struct net *net = payer_net(ring);
	bool all = speed_charge_short(&init_net, bytes);
	bool some = !net_eq(net, &init_net) && speed_charge_short(net, bytes);

	if (!user)
		return false;
	whose->net = some ? net : NULL;
	whose->user = speed_user_short(user, bytes) || !(all || some) ? user : NULL;
	return true;
}
