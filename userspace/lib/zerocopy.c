// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Zero copy: taking a role to keep it, and the buffer that stands in for a ring.
 */
#include <sys/mman.h>
#include "zerocopy.h"

/*
 * Take a role, to be kept. Return: 0 with the lock; @ring tells whether the ring may
 * be used. Or an errno.
 */
int spd_zc_enter(struct speed *s, int role, bool *ring)
{
	struct spd_role *r = &s->role[role];

	*ring = spd_role_enter(s, role);
	if (*ring || spd_role_trylock(s, r))
		return 0;
	return spd_role_mine(r) ? EDEADLK : EBUSY;
}

/* The role's bounce, with room for @bytes, or NULL. */
unsigned char *spd_zc_bounce(struct spd_role *r, size_t bytes)
{
	void *p;

	if (r->bounce_bytes >= bytes)
		return r->bounce;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (r->bounce)
		munmap(r->bounce, r->bounce_bytes);
	r->bounce = p;
	r->bounce_bytes = bytes;
	return p;
}
