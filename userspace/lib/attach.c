// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Handles: attach, detach, settings and counters.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "role.h"
#include "sys.h"

/* Operations of a role by plain call before its first lease: a connection that
 * carries one request and its reply is not worth three mappings.
 */
#define ATTACH_PATIENCE	4

__thread char spd_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* What a role without a mapping looks at. */
static const struct speed_kern attach_no_kern;

/* Forget a role's ring without touching its pages. Its lock is held, or no one has it. */
void spd_role_forget(struct spd_role *r)
{
	r->side = (struct speed_side){ .kern = &attach_no_kern };
	r->epoch = SPD_NO_LEASE;
	r->map.at[0] = NULL;
	r->owed = 0;
	r->defer = false;
	r->resv = SPD_RESV_NONE;
	r->countdown = ATTACH_PATIENCE;
}

/* What a handle counts begins anew. */
void spd_handle_uncount(struct speed *s)
{
	s->calls = 0;
	for (int i = 0; i < SPEED_ROLES; i++) {
		struct spd_role *r = &s->role[i];

		r->done = 0;
		r->wakes = 0;
		r->waits = 0;
		r->spins = 0;
		r->revocations = 0;
		r->leases = 0;
	}
}

/* Zeros but for what is said here; the roles' owners are left alone. */
void spd_handle_init(struct speed *s, int fd, int type, unsigned int flags,
		     const struct spd_ops *ops)
{
	s->ops = ops;
	s->fd = fd;
	s->type = type;
	s->flags = flags;
	s->kept = 0;
	s->whole = false;
	s->spin_us = SPEED_SPIN_DEFAULT;
	for (int i = 0; i < SPEED_ROLES; i++) {
		spd_role_forget(&s->role[i]);
		s->role[i].spin = (struct spd_spin){ .now_ns = UINT32_MAX };
	}
}

struct speed *spd_handle_new(int fd, int type, unsigned int flags, const struct spd_ops *ops)
{
	struct speed *s = aligned_alloc(__alignof__(struct speed), sizeof(*s));

	if (!s)
		return NULL;
	memset(s, 0, sizeof(*s));
	spd_handle_init(s, fd, type, flags, ops);
	return s;
}

void spd_handle_free(struct speed *s)
{
	for (int i = 0; i < SPEED_ROLES; i++)
		if (s->role[i].bounce)
			munmap(s->role[i].bounce, s->role[i].bounce_bytes);
	free(s);
}

SPD_PUBLIC struct speed *speed_attach(int fd, unsigned int flags)
{
	socklen_t len = sizeof(int);
	int type, protocol;
	struct speed *s;

	if (flags & ~(SPEED_ATTACH_SINGLE | SPEED_ATTACH_NOMAP)) {
		errno = EINVAL;
		return NULL;
	}
	if (spd_sys_getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) ||
	    spd_sys_getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len))
		return NULL;
	s = spd_handle_new(fd, type, flags, &spd_socket_ops);
	if (!s)
		return NULL;
	s->whole = protocol == IPPROTO_TCP;
	if (spd_fork_watch(s)) {
		spd_handle_free(s);
		return NULL;
	}
	return s;
}

SPD_PUBLIC void speed_detach(struct speed *s)
{
	int saved = errno;

	if (!s)
		return;
	if (__atomic_load_n(s->alive, __ATOMIC_RELAXED) == s->generation || spd_fork_mend(s))
		s->ops->detach(s);
	spd_handle_free(s);
	errno = saved;
}

SPD_PUBLIC int speed_fd(const struct speed *s)
{
	return s->fd;
}

static int attach_map_one(struct speed *s, int role)
{
	struct spd_role *r = &s->role[role];
	int err = 0;

	if (__atomic_load_n(s->alive, __ATOMIC_RELAXED) != s->generation && !spd_fork_mend(s))
		return EBUSY;
	if (!spd_role_trylock(s, r))
		return EBUSY;
	if (!speed_ring_counts(&r->side, role, r->epoch)) {
		r->countdown = 0;
		if (spd_lease(s, role))
			err = errno;
	}
	spd_role_leave(r);
	return err;
}

SPD_PUBLIC int speed_map(struct speed *s, unsigned int roles)
{
	int err = 0;

	if (roles & ~SPEED_MAP_BOTH)
		err = EINVAL;
	for (int i = 0; i < SPEED_ROLES && !err; i++)
		if (roles & (1u << i))
			err = attach_map_one(s, i);
	if (!err)
		return 0;
	errno = err;
	return -1;
}

SPD_PUBLIC int speed_set_spin(struct speed *s, unsigned int us)
{
	if (us > SPEED_SPIN_MAX && us != SPEED_SPIN_DEFAULT) {
		errno = EINVAL;
		return -1;
	}
	__atomic_store_n(&s->spin_us, us, __ATOMIC_RELAXED);
	for (int i = 0; i < SPEED_ROLES; i++)
		__atomic_store_n(&s->role[i].spin.now_ns, UINT32_MAX, __ATOMIC_RELAXED);
	return 0;
}

SPD_PUBLIC int speed_get_stats(struct speed *s, struct speed_stats *stats)
{
	*stats = (struct speed_stats){
		.mapped_sends = speed_load(&s->role[SPEED_ROLE_TX].done),
		.mapped_recvs = speed_load(&s->role[SPEED_ROLE_RX].done),
		.calls = speed_load(&s->calls),
	};
	for (int i = 0; i < SPEED_ROLES; i++) {
		const struct spd_role *r = &s->role[i];

		stats->wakes += speed_load(&r->wakes);
		stats->waits += speed_load(&r->waits);
		stats->spins += speed_load(&r->spins);
		stats->revocations += speed_load(&r->revocations);
		stats->leases += speed_load(&r->leases);
	}
	return 0;
}
