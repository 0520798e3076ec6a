/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring's data pages, mapped twice in a row in the kernel, and the pool of
 * such buffers.
 *
 * Most connections carry little. A ring gets a few pages where its producer is, and in
 * the place of each other one the filler, so that no offset leads anywhere else. Before the
 * producer goes beyond them, or a role is leased, it gets the rest and another mapping. A
 * reader that has the first one finds the same bytes in it: it stays until the buffer is
 * given back.
 */
#ifndef SPEED_PAGES_H
#define SPEED_PAGES_H

#include <linux/mm.h>
#include <linux/speed.h>
#include <linux/types.h>

struct speed_ring;
struct speed_user;

/* Bytes of pages that a ring of more gets at first. */
#define SPEED_BUF_FIRST		(4 * PAGE_SIZE)

/**
 * struct speed_buf - the data pages of one ring
 * @list: in the pool, or among the rings that hold data pages
 * @ring: whose these are, while they are somebody's
 * @size: in bytes, a power of two
 * @begun: the producer's index when the ring got it: what was written since lies from
 *	there on
 * @reach: bytes from @begun on that have pages; U64_MAX where all have
 * @held: pages that there are, from that of @begun on, around the ring's end
 * @by: who maps it, by role, or NULL; share.c's
 * @dirty: any of it may differ from zero: it was mapped, or a copy into it failed
 * @addr: size bytes, mapped twice in a row; another once it has grown, with the producer's
 *	lock held, before an index is published that needs it
 * @before: as they were mapped when there were fewer pages, or NULL
 * @pages: size / PAGE_SIZE pages, NULL where there is none yet
 */
struct speed_buf {
	struct list_head list;
	struct speed_ring *ring;
	size_t size;
	u64 begun;
	u64 reach;
	unsigned int held;
	struct speed_user *by[SPEED_ROLES];
	bool dirty;
	unsigned char *addr;
	unsigned char *before;
	struct page *pages[];
};

/* Are there pages for all bytes before @index? The producer's lock is held. */
static inline bool speed_buf_holds(const struct speed_buf *buf, u64 index)
{
	return buf && index - buf->begun <= buf->reach;
}

struct speed_buf *speed_buf_get(size_t size, u64 begun, u64 bytes);
bool speed_buf_grow(struct speed_buf *buf);
void speed_buf_put(struct speed_buf *buf, u64 head);
unsigned long speed_data_bytes(void);
unsigned long speed_pool_bytes(void);
int speed_pages_init(void);
void speed_pages_exit(void);

/* Between pages.c and pool.c. */

static inline unsigned int speed_buf_slots(const struct speed_buf *buf)
{
	return buf->size >> PAGE_SHIFT;
}

/* Whether @buf has a page in each of its slots. */
static inline bool speed_buf_is_whole(const struct speed_buf *buf)
{
	return buf->held == speed_buf_slots(buf);
}

/* The slot of a ring of @size that an index lies in. */
static inline unsigned int speed_buf_slot(size_t size, u64 index)
{
	return (index & (size - 1)) >> PAGE_SHIFT;
}

/* Do @bytes from @begun on lie in the pages that a ring gets at first? */
static inline bool speed_buf_few(u64 begun, u64 bytes)
{
	return offset_in_page(begun) + bytes <= SPEED_BUF_FIRST;
}

void speed_buf_begin(struct speed_buf *buf, u64 begun);
void speed_buf_free(struct speed_buf *buf);
struct speed_buf *speed_pool_take(size_t size, u64 begun, u64 bytes);
bool speed_pool_give(struct speed_buf *buf);
int speed_pool_init(void);
void speed_pool_exit(void);

#endif
