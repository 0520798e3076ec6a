// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Leasing a role from the kernel.
 *
 * Everything here runs with the role's lock held. A lease may end at any instant;
 * the ring's code finds out by the epoch. It is asked for again by and by: the
 * kernel says after how many operations by plain call (retry), so that a
 * descriptor that is used in many ways settles on plain calls.
 */
#include <errno.h>
#include "role.h"
#include "sys.h"

/* Where the kernel does not say: operations until to ask again. */
#define LEASE_RETRY_SOON	16	/* not connected yet, or taken back before it was mapped */
#define LEASE_RETRY		256	/* another process is at it, no memory */
#define LEASE_RETRY_NEVER	65536	/* not one of ours; TCP may become so */

static __u32 lease_retry(const struct speed_lease *lease, int err)
{
	switch (err) {
	case EAGAIN:
		return lease->retry ? lease->retry : LEASE_RETRY;
	case ENOTCONN:
		return LEASE_RETRY_SOON;
	case EBUSY:
	case ENOBUFS:
	case ENOMEM:
		return LEASE_RETRY;
	default:
		return LEASE_RETRY_NEVER;
	}
}

/**
 * spd_side_start() - begin to work on a ring
 * @r: the role; side's pointers and size are set
 * @own: its own index now
 * @role: SPEED_ROLE_*
 */
void spd_side_start(struct spd_role *r, __u64 own, int role)
{
	struct speed_side *side = &r->side;

	side->own = own;
	/* a full ring to the producer, an empty one to the consumer: look first */
	side->other = role == SPEED_ROLE_TX ? own - side->size : own;
	r->chunk = side->size / 4 < SPD_CHUNK ? side->size / 4 : SPD_CHUNK;
	r->owed = 0;
	r->defer = false;
}

static int lease_check(const struct speed *s, const struct speed_lease *lease)
{
	bool sane = lease->epoch && lease->epoch != SPD_NO_LEASE &&
		    lease->size >= SPEED_RING_MIN && lease->size <= SPEED_RING_MAX &&
		    !(lease->size & (lease->size - 1)) && (int)lease->type == s->type;

	return sane ? 0 : EOPNOTSUPP;
}

static void lease_give_back(struct speed *s, int role)
{
	__u32 which = (__u32)role;

	spd_sys_setsockopt(spd_fd(s), SOL_SPEED, SPEED_UNLEASE, &which, sizeof(which));
}

/*
 * The longest message that the kernel takes depends on SO_SNDBUF, as in AF_UNIX. What
 * is longer than this is left to it, and so is the errno.
 */
static __u64 lease_record_max(struct speed *s, __u64 size)
{
	socklen_t len = sizeof(int);
	int sndbuf = 0;

	if (spd_sys_getsockopt(spd_fd(s), SOL_SOCKET, SO_SNDBUF, &sndbuf, &len) || sndbuf < 32)
		return 0;
	return (__u64)sndbuf - 32 < size - 16 ? (__u64)sndbuf - 32 : size - 16;
}

/* The role is another's before its regions were mapped. */
static int lease_lost(struct speed_lease *lease)
{
	lease->retry = LEASE_RETRY_SOON;
	return EAGAIN;
}

/* Ask the kernel. 0 or an errno. */
static int lease_ask(struct speed *s, int role, struct speed_lease *lease)
{
	socklen_t len = sizeof(*lease);
	int err;

	if (s->flags & SPEED_ATTACH_NOMAP)
		return EOPNOTSUPP;
	if (spd_sys_getsockopt(spd_fd(s), SOL_SPEED, SPEED_LEASE, lease, &len))
		return errno == ENOPROTOOPT || errno == EOPNOTSUPP ? EOPNOTSUPP : errno;
	err = len == sizeof(*lease) ? lease_check(s, lease) : EOPNOTSUPP;
	if (!err)
		err = spd_map_role(s, role, lease);
	/* Another descriptor has the number: who knows of which the regions are. */
	if (!spd_role_still(s)) {
		spd_map_drop(s, role);
		return lease_lost(lease);
	}
	if (err)
		lease_give_back(s, role);
	/* Of mmap(): nobody holds the lease, or somebody else. */
	return err == EPERM ? lease_lost(lease) : err;
}

/* The lease operation of a socket's handle. */
int spd_socket_lease(struct speed *s, int role)
{
	struct speed_lease lease = { .role = (__u32)role, .cookie = spd_cookie(s) };
	struct spd_role *r = &s->role[role];
	int err = lease_ask(s, role, &lease);

	if (err) {
		r->countdown = lease_retry(&lease, err);
		errno = err;
		return -1;
	}
	spd_side_start(r, lease.own, role);
	if (s->type == SOCK_SEQPACKET && role == SPEED_ROLE_TX)
		r->record_max = lease_record_max(s, lease.size);
	spd_spin_setup(r, lease.spin_us);
	spd_count(&r->leases);
	r->epoch = lease.epoch;
	return 0;
}

/**
 * spd_lease() - get a role whose lease is not in force
 * @s: the handle
 * @role: SPEED_ROLE_*
 *
 * Return: 0 with the lease, or -1 and errno: not now.
 */
int spd_lease(struct speed *s, int role)
{
	struct spd_role *r = &s->role[role];

	if (r->epoch != SPD_NO_LEASE) {
		spd_count(&r->revocations);
		r->epoch = SPD_NO_LEASE;
	}
	if (r->countdown) {
		r->countdown--;
		errno = EAGAIN;
		return -1;
	}
	return s->ops->lease(s, role);
}
