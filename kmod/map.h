/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mapping a role's pages into user space.
 */
#ifndef SPEED_MAP_H
#define SPEED_MAP_H

#include <linux/fs.h>

#include "pair.h"

struct mm_struct;
struct page;
struct vm_area_struct;

/**
 * struct speed_holder - a user of an endpoint's roles: an address space and a
 *	cookie that tells apart its users in it
 * @node: in the mapping file's list
 * @refs: mapped regions and leases in force; under the list's lock
 * @map: the mapping file
 * @mm: the address space, kept from being used again for another
 * @cookie: the user's number
 * @vmas: mapped regions, by role
 * @ended_epoch: the last lease that ended, by role; under the role's lock
 * @ended_index: the role's own index when it did: what counted
 */
struct speed_holder {
	struct list_head node;
	unsigned int refs;
	struct speed_map *map;
	struct mm_struct *mm;
	u64 cookie;
	atomic_t vmas[SPEED_ROLES];
	u64 ended_epoch[SPEED_ROLES];
	u64 ended_index[SPEED_ROLES];
};

/**
 * struct speed_term - what there is of a role's lease beside its epoch
 * @holder: whose it is; changed under the mapping file's invalidate_lock, too
 * @mm: the holder's, to be compared without a lock, never followed
 * @granted: index when it began
 * @granted_at: jiffies then
 * @ops: operations by system call since it ended
 * @retry: operations after which a lease is granted again
 * @full_at: TX: the index at which a wait for space last began,
 * @full_since: and when, jiffies; the holder's threads alone write both, and
 * @waited: what its transfer has waited so far, jiffies
 */
struct speed_term {
	struct speed_holder *holder;
	const void *mm;
	u64 granted;
	unsigned long granted_at;
	u32 ops;
	u32 retry;
	u64 full_at;
	unsigned long full_since;
	unsigned long waited;
};

/**
 * struct speed_map - an endpoint's mapping file
 * @file: what its mappings refer to: they hold this file, not the socket, so
 *	that close() of the socket is the end of it whatever is mapped
 * @pair: the pair, held
 * @end: the endpoint
 * @term: its roles' leases; under the role's lock
 * @scratch: where the stray stores of a revoked holder go
 * @lock: covers @holders and their counts; a leaf
 * @holders: address spaces that map it or hold a lease
 * @users: how many they are
 * @watch: the door's list of them
 */
struct speed_map {
	struct file *file;
	struct speed_pair *pair;
	u8 end;
	struct speed_term term[SPEED_ROLES];
	struct page *scratch;
	spinlock_t lock;	/* holders */
	struct list_head holders;
	unsigned int users;
	struct list_head watch;
};

enum speed_region {
	SPEED_REGION_OWN,
	SPEED_REGION_PEER,
	SPEED_REGION_DATA,
};

/* Of a role that has been leased, or whose lock is held with a mapping file there. */
static inline struct speed_term *speed_term(const struct speed_ring *ring, int role)
{
	return &speed_pair_map(ring->pair, speed_role_end(ring, role))->term[role];
}

/* A page fault may wait for memory, for as long as its control group has it wait. */
static inline void speed_map_lock(struct speed_map *map)
{
	filemap_invalidate_lock(map->file->f_mapping);
}

/* The same for who must not wait for it. */
static inline bool speed_map_trylock(struct speed_map *map)
{
	return down_write_trylock(&map->file->f_mapping->invalidate_lock);
}

u64 speed_map_offset(int role, enum speed_region region);
struct speed_map *speed_map_new(struct speed_pair *pair, int end);
void speed_map_close(struct speed_map *map);
struct speed_holder *speed_holder_find(struct speed_map *map, u64 cookie);
struct speed_holder *speed_holder_make(struct speed_map *map, u64 cookie);
struct speed_holder *speed_holder_of(struct speed_map *map, struct speed_holder **where);
void speed_holder_put(struct speed_holder *holder);
void speed_map_grant(struct speed_holder *holder, int role);
void speed_map_revoke(struct speed_holder *holder, int role);
bool speed_map_ours(const struct vm_area_struct *vma);
int speed_map_mmap(struct speed_pair *pair, int end, struct vm_area_struct *vma);
int speed_map_init(void);
void speed_map_exit(void);

#endif
