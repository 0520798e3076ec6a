// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A role's regions in this address space.
 *
 * One reservation holds them in a row, so that a role is dropped with one
 * munmap():
 *
 *	OWN	1 page		read and write
 *	PEER	2 pages		read: struct speed_kern, the peer's index
 *	DATA	2 * size	read, and for TX write
 *
 * They stay mapped when a lease ends and serve the next one.
 */
#include <sys/mman.h>
#include <unistd.h>
#include "role.h"

/* One region over its part of the reservation. */
static int map_region(int fd, unsigned char *at, size_t bytes, int prot, __u64 off)
{
	void *got = mmap(at, bytes, prot, MAP_SHARED | MAP_FIXED, fd, (off_t)off);

	return got == MAP_FAILED ? errno : 0;
}

static bool map_serves(const struct spd_map *map, const struct speed_lease *lease)
{
	return map->base && map->pair == lease->pair && map->size == lease->size &&
	       map->off[0] == lease->off_own && map->off[1] == lease->off_peer &&
	       map->off[2] == lease->off_data;
}

/* Unmap a role's regions. Its lock is held. */
void spd_map_drop(struct spd_role *r)
{
	struct spd_map map = r->map;

	if (!map.base)
		return;
	spd_role_forget(r);
	spd_compiler_barrier();	/* a signal handler must not look at what goes */
	munmap(map.base, map.bytes);
}

/**
 * spd_map_role() - have a role's regions mapped
 * @s: the handle
 * @role: SPEED_ROLE_*
 * @lease: as SPEED_LEASE filled it in
 *
 * Return: 0 with the role's side pointing at them, or an errno.
 */
int spd_map_role(struct speed *s, int role, const struct speed_lease *lease)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct spd_role *r = &s->role[role];
	struct spd_map map = {
		.bytes = 3 * page + 2 * lease->size,
		.pair = lease->pair,
		.size = lease->size,
		.off = { lease->off_own, lease->off_peer, lease->off_data },
	};
	int prot = role == SPEED_ROLE_TX ? PROT_READ | PROT_WRITE : PROT_READ;
	int err;

	if (map_serves(&r->map, lease))
		return 0;
	if (lease->size & (page - 1))
		return EOPNOTSUPP;
	spd_map_drop(r);
	map.base = mmap(NULL, map.bytes, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map.base == MAP_FAILED)
		return errno;
	err = map_region(s->fd, map.base, page, PROT_READ | PROT_WRITE, lease->off_own);
	if (!err)
		err = map_region(s->fd, map.base + page, 2 * page, PROT_READ, lease->off_peer);
	if (!err)
		err = map_region(s->fd, map.base + 3 * page, 2 * lease->size, prot,
				 lease->off_data);
	if (err) {
		munmap(map.base, map.bytes);
		return err;
	}
	r->map = map;
	r->side = (struct speed_side){
		.mine = (void *)map.base,
		.kern = (void *)(map.base + page),
		.theirs = (void *)(map.base + 2 * page),
		.data = map.base + 3 * page,
		.size = lease->size,
	};
	return 0;
}
