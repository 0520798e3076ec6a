/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mapping a role's pages into user space.
 */
#ifndef SPEED_MAP_H
#define SPEED_MAP_H

#include "pair.h"

struct file;
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
 * struct speed_map - an endpoint's mapping file
 * @file: what its mappings refer to: they hold this file, not the socket, so
 *	that close() of the socket is the end of it whatever is mapped
 * @pair: the pair, held
 * @end: the endpoint
 * @scratch: where the stray stores of a revoked holder go
 * @lock: covers @holders and their counts; a leaf
 * @holders: address spaces that map it or hold a lease
 * @watch: the door's list of them
 */
struct speed_map {
	struct file *file;
	struct speed_pair *pair;
	u8 end;
	struct page *scratch;
	spinlock_t lock;	/* holders */
	struct list_head holders;
	struct list_head watch;
};

enum speed_region {
	SPEED_REGION_OWN,
	SPEED_REGION_PEER,
	SPEED_REGION_DATA,
};

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
