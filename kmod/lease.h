/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Leases: one address space exercises a role through its mapping.
 */
#ifndef SPEED_LEASE_H
#define SPEED_LEASE_H

#include <linux/cred.h>
#include <linux/uidgid.h>

#include "ring.h"

/* Operations by system call until a lease may be asked for again, at least. */
#define SPEED_LEASE_RETRY	8u

struct speed_lease;
struct speed_settle;

void speed_lease_end(struct speed_ring *ring, int role);
bool speed_lease_end_now(struct speed_ring *ring, int role);
void speed_lease_drop(struct speed_ring *ring, int role);
int speed_lease_drop_killable(struct speed_ring *ring, int role);
void speed_lease_try_drop(struct speed_ring *ring, int role);
void speed_lease_drop_now(struct speed_ring *ring, int role);
void speed_lease_leave(struct speed_pair *pair, int end);
void speed_lease_unmap(struct speed_pair *pair, int end);
void speed_role_enter_mapped(struct speed_ring *ring, int role);
int speed_lease_grant(struct speed_pair *pair, int end, struct speed_lease *lease);
int speed_lease_settle(struct speed_pair *pair, int end, struct speed_settle *settle);
int speed_lease_give_back(struct speed_pair *pair, int end, int role);

/* That of the last user there can be, too, who thus is never alone. */
#define SPEED_UID_SEVERAL	U32_MAX

/* As in struct speed_pair: whose call this is. */
static inline u32 speed_uid(void)
{
	return __kuid_val(current_euid()) + 1;
}

void speed_lease_user_anew(struct speed_pair *pair, int end);

/* A call at an endpoint is this user's; before bytes move, with the role's lock held. */
static inline void speed_lease_user(struct speed_pair *pair, int end)
{
	if (unlikely(READ_ONCE(pair->uid[end]) != speed_uid()))
		speed_lease_user_anew(pair, end);
}

/*
 * Begin an operation of a role by system call: end a lease, if there is one, and note
 * whose it is. The role's lock is held. An endpoint that was never mapped has none.
 */
static inline void speed_role_enter(struct speed_ring *ring, int role)
{
	int end = speed_role_end(ring, role);

	if (unlikely(READ_ONCE(ring->pair->map[end])))
		speed_role_enter_mapped(ring, role);
	speed_pair_seen(ring->pair, end);
	speed_lease_user(ring->pair, end);
}

/*
 * A role's lock was held for something that ends no lease. Whoever closed the reader's
 * end meanwhile could not end the producer's: speed_disconnect_pair().
 */
static inline void speed_lease_unlocked(struct speed_ring *ring)
{
	smp_mb();	/* it says that it closes, then tries the lock */
	if (unlikely(speed_ring_unwanted(ring)))
		speed_lease_try_drop(ring, SPEED_ROLE_TX);
}

#endif
