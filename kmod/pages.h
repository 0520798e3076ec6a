/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring's data pages, mapped twice in a row in the kernel, and the pool of
 * such buffers.
 */
#ifndef SPEED_PAGES_H
#define SPEED_PAGES_H

#include <linux/mm_types.h>
#include <linux/speed.h>
#include <linux/types.h>

struct speed_ring;
struct speed_user;

/**
 * struct speed_buf - the data pages of one ring
 * @list: in the pool, or among the rings that hold data pages
 * @ring: whose these are, while they are somebody's
 * @size: in bytes, a power of two
 * @begun: the producer's index when the ring got it: what was written since lies from
 *	there on
 * @by: who maps it, by role, or NULL; share.c's
 * @whole: any of it may differ from zero: it was mapped, or a copy into it failed
 * @addr: size bytes, mapped twice in a row
 * @pages: size / PAGE_SIZE pages
 */
struct speed_buf {
	struct list_head list;
	struct speed_ring *ring;
	size_t size;
	u64 begun;
	struct speed_user *by[SPEED_ROLES];
	bool whole;
	unsigned char *addr;
	struct page *pages[];
};

struct speed_buf *speed_buf_get(size_t size);
void speed_buf_put(struct speed_buf *buf, u64 head);
unsigned long speed_pool_bytes(void);
int speed_pages_init(void);
void speed_pages_exit(void);

#endif
