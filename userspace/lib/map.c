// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A role's regions in this address space.
 *
 *	OWN	1 page		read and write
 *	PEER	2 pages		read: struct speed_kern, the peer's index
 *	DATA	2 * size	read, and for TX write
 *
 * They stay mapped when a lease ends and serve the next one. Each lies where the
 * kernel puts it: one that is refused, because the lease ended meanwhile, must
 * leave no gap in what is later unmapped as a whole, into which another thread
 * may have mapped something by then.
 */
#include <sys/mman.h>
#include <unistd.h>
#include "role.h"

static bool map_serves(const struct spd_map *map, const struct speed_lease *lease)
{
	return map->at[0] && map->pair == lease->pair && map->size == lease->size &&
	       map->off[0] == lease->off_own && map->off[1] == lease->off_peer &&
	       map->off[2] == lease->off_data;
}

static void map_undo(const struct spd_map *map)
{
	for (int i = 0; i < 3; i++)
		if (map->at[i])
			munmap(map->at[i], map->bytes[i]);
}

/* Somebody may look at the peer's index yet: zeros take its place until nobody does. */
static void map_keep(struct spd_map *map)
{
	mmap(map->at[1], map->bytes[1], PROT_READ,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	map->kept = map->at[1];
	map->at[1] = NULL;
}

/* Return: whether nobody looks at what was kept, if anything. */
static bool map_forget(const struct speed *s, struct spd_map *map)
{
	if (!map->kept)
		return true;
	if (!s->ops->unseen())
		return false;
	munmap(map->kept, map->bytes[1]);
	map->kept = NULL;
	return true;
}

/**
 * spd_map_drop() - unmap a role's regions
 * @s: the handle
 * @role: SPEED_ROLE_*; its lock is held
 */
void spd_map_drop(struct speed *s, int role)
{
	struct spd_role *r = &s->role[role];
	struct spd_map map = r->map;

	if (!map.at[0])
		return;
	spd_role_forget(r);
	spd_compiler_barrier();	/* a signal handler must not look at what goes */
	if (role == SPEED_ROLE_RX && s->ops->unseen && !s->ops->unseen())
		map_keep(&map);
	map_undo(&map);
	r->map.kept = map.kept;
}

/* All three, or an errno and none. */
static int map_regions(int fd, struct spd_map *map, const int prot[3])
{
	for (int i = 0; i < 3; i++) {
		void *got = mmap(NULL, map->bytes[i], prot[i], MAP_SHARED, fd, (off_t)map->off[i]);
		int err = errno;

		if (got == MAP_FAILED) {
			map_undo(map);
			return err;
		}
		map->at[i] = got;
	}
	return 0;
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
	int data = role == SPEED_ROLE_TX ? PROT_READ | PROT_WRITE : PROT_READ;
	const int prot[3] = { PROT_READ | PROT_WRITE, PROT_READ, data };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct spd_role *r = &s->role[role];
	struct spd_map map = {
		.bytes = { page, 2 * page, 2 * lease->size },
		.pair = lease->pair,
		.size = lease->size,
		.off = { lease->off_own, lease->off_peer, lease->off_data },
	};
	int err;

	if (map_serves(&r->map, lease))
		return 0;
	if (lease->size & (page - 1))
		return EOPNOTSUPP;
	spd_map_drop(s, role);
	if (!map_forget(s, &r->map))
		return EBUSY;
	err = map_regions(spd_fd(s), &map, prot);
	if (err)
		return err;
	r->map = map;
	r->side = (struct speed_side){
		.mine = (void *)map.at[0],
		.kern = (void *)map.at[1],
		.theirs = (void *)(map.at[1] + page),
		.data = map.at[2],
		.size = lease->size,
	};
	return 0;
}
