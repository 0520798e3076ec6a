/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Zero copy: spans of the ring in the caller's hands; what reserve.c and peek.c share.
 *
 * A reservation keeps its role's lock from reserve to commit, or from peek to
 * release. Spans are published with one store, so what happens to them is all or
 * nothing. Where the ring is not to be had, a private buffer, the bounce, takes its
 * place: a commit sends it by plain call; a peek fills it with MSG_PEEK, so that
 * what was not released is still the socket's and poll() sees it.
 */
#ifndef SPD_ZEROCOPY_H
#define SPD_ZEROCOPY_H

#include "role.h"

#define SPD_ZC_BOUNCE	(64u * 1024)	/* bytes of a stream's bounce at most */

static inline ssize_t spd_zc_fail(int err)
{
	errno = err;
	return -1;
}

/* Hand out @len bytes; with a ring they go with @bytes of it. */
static inline ssize_t spd_zc_hand_out(struct spd_role *r, int resv, size_t len, __u64 bytes)
{
	r->resv = resv;
	r->resv_len = len;
	r->resv_bytes = bytes;
	return (ssize_t)len;
}

static inline void spd_zc_end(struct spd_role *r)
{
	r->resv = SPD_RESV_NONE;
	spd_role_leave(r);
}

/* Does this thread hold a reservation of the role? A child does not inherit one. */
static inline bool spd_zc_held(const struct speed *s, int role)
{
	const struct spd_role *r = &s->role[role];

	return __atomic_load_n(s->alive, __ATOMIC_RELAXED) == s->generation &&
	       spd_role_mine(r) && r->resv != SPD_RESV_NONE;
}

int spd_zc_enter(struct speed *s, int role, bool *ring);
unsigned char *spd_zc_bounce(struct spd_role *r, size_t bytes);

#endif /* SPD_ZEROCOPY_H */
