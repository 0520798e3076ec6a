/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a ring's indices and flags live.
 */
#ifndef SPEED_CTL_H
#define SPEED_CTL_H

#include "pair.h"

void speed_ctl_free(struct speed_ctl *ctl);
void speed_ctl_go_home(struct speed_ring *ring);
int speed_ctl_make_ready(struct speed_ring *ring, int role);

/* For who holds one of the roles' locks: it cannot move. */
static inline struct speed_ctl *speed_ring_ctl(struct speed_ring *ring)
{
	return rcu_dereference_protected(ring->ctl,
					 lockdep_is_held(&ring->role[SPEED_ROLE_TX].lock) ||
					 lockdep_is_held(&ring->role[SPEED_ROLE_RX].lock));
}

#endif
