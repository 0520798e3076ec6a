// SPDX-License-Identifier: GPL-2.0
/*
 * Data pages: made, added to, cleared and given back.
 *
 * A buffer in the pool is all zeroes: what a connection wrote is cleared when
 * it gives the buffer back, and only that, so that one that writes little at a time
 * pays for few bytes. No user ever sees another's.
 *
 * The filler stands for the pages that there are not. Nobody writes to it, and no user ever
 * sees it: whoever maps a ring has all of its pages first.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "pages.h"

#define SPEED_POOL_BUF_MAX	BIT(20)	/* larger ones are not kept */

static struct page *filler;
static atomic_long_t pages;

/* The @i-th page from that of @begun on. */
static struct page **page_at(struct speed_buf *buf, unsigned int i)
{
	unsigned int n = speed_buf_slots(buf);

	return &buf->pages[(speed_buf_slot(buf->size, buf->begun) + i) & (n - 1)];
}

static bool page_make(struct page **page)
{
	*page = alloc_page(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
	if (*page)
		atomic_long_inc(&pages);
	return *page;
}

static void page_free(struct page **page)
{
	__free_page(*page);
	*page = NULL;
	atomic_long_dec(&pages);
}

/**
 * speed_data_bytes() - what all data pages take, those of the pool too
 *
 * Return: bytes.
 */
unsigned long speed_data_bytes(void)
{
	return (unsigned long)atomic_long_read(&pages) << PAGE_SHIFT;
}

static void unmap_before(struct speed_buf *buf)
{
	if (buf->before)
		vunmap(buf->before);
	buf->before = NULL;
}

/* May sleep. */
void speed_buf_free(struct speed_buf *buf)
{
	unsigned int i;

	unmap_before(buf);
	if (buf->addr)
		vunmap(buf->addr);
	for (i = 0; i < speed_buf_slots(buf); i++)
		if (buf->pages[i])
			page_free(&buf->pages[i]);
	kvfree(buf);
}

/* Two page tables' worth of the same pages, one after the other. */
static bool map_twice(struct speed_buf *buf)
{
	unsigned int i, n = speed_buf_slots(buf);
	struct page **twice;
	void *addr;

	twice = kvmalloc_array(n, 2 * sizeof(*twice), GFP_KERNEL);
	if (!twice)
		return false;
	for (i = 0; i < 2 * n; i++)
		twice[i] = buf->pages[i & (n - 1)] ?: filler;
	addr = vmap(twice, 2 * n, VM_MAP, PAGE_KERNEL);
	kvfree(twice);
	if (!addr)
		return false;
	buf->before = buf->addr;
	/*
	 * Who reads meanwhile takes the one or the other: what is there yet is in both. It is
	 * mapped before it is seen.
	 */
	smp_store_release(&buf->addr, addr);
	return true;
}

/* All or nothing. */
static bool fill(struct speed_buf *buf, unsigned int want)
{
	unsigned int i;

	for (i = buf->held; i < want; i++)
		if (!page_make(page_at(buf, i)))
			break;
	if (i == want && map_twice(buf)) {
		buf->held = want;
		return true;
	}
	while (i-- > buf->held)
		page_free(page_at(buf, i));
	return false;
}

/* A buffer becomes a ring's whose producer is at @begun, or has grown. */
void speed_buf_begin(struct speed_buf *buf, u64 begun)
{
	buf->begun = begun;
	if (speed_buf_is_whole(buf))
		buf->reach = U64_MAX;
	else
		buf->reach = ((u64)buf->held << PAGE_SHIFT) - offset_in_page(buf->begun);
}

static struct speed_buf *buf_make(size_t size, u64 begun, u64 bytes)
{
	unsigned int n = size >> PAGE_SHIFT;
	struct speed_buf *buf;

	buf = kvzalloc(struct_size(buf, pages, n), GFP_KERNEL);
	if (!buf)
		return NULL;
	INIT_LIST_HEAD(&buf->list);
	buf->size = size;
	buf->begun = begun;
	if (size > SPEED_BUF_FIRST && speed_buf_few(begun, bytes))
		n = SPEED_BUF_FIRST >> PAGE_SHIFT;
	if (!fill(buf, n)) {
		speed_buf_free(buf);
		return NULL;
	}
	speed_buf_begin(buf, begun);
	return buf;
}

/**
 * speed_buf_get() - data pages for a ring, all zeroes
 * @size: of the ring in bytes, a power of two, at least a page
 * @begun: the producer's index
 * @bytes: so many from there on have pages, at least; @size or more, for all pages
 *
 * The caller has charged somebody for all of them.
 *
 * Context: may sleep.
 * Return: the buffer, or NULL where memory is short.
 */
struct speed_buf *speed_buf_get(size_t size, u64 begun, u64 bytes)
{
	return speed_pool_take(size, begun, bytes) ?: buf_make(size, begun, bytes);
}

/**
 * speed_buf_grow() - add the pages that there are not yet
 * @buf: a part, of a ring whose producer's lock is held
 *
 * Context: may sleep.
 * Return: whether there are all now; if not, it is as it was.
 */
bool speed_buf_grow(struct speed_buf *buf)
{
	if (!fill(buf, speed_buf_slots(buf)))
		return false;
	speed_buf_begin(buf, buf->begun);
	return true;
}

/*
 * Has nobody kept a page that was mapped? Nothing pins one, but before Linux 6.13 a virtual
 * machine could. A page that is freed stays its keeper's; one of the pool would be another's.
 */
static bool is_ours(const struct speed_buf *buf)
{
	unsigned int i;

	if (!buf->dirty)
		return true;
	for (i = 0; i < speed_buf_slots(buf); i++)
		if (buf->pages[i] && page_count(buf->pages[i]) != 1)
			return false;
	return true;
}

/* A part of others than the ring's first pages fits no new ring. */
static bool is_kept(const struct speed_buf *buf)
{
	return buf->size <= SPEED_POOL_BUF_MAX && is_ours(buf) &&
	       (speed_buf_is_whole(buf) || !speed_buf_slot(buf->size, buf->begun));
}

static void buf_clear(struct speed_buf *buf, u64 head)
{
	u64 written = head - buf->begun;

	if (buf->dirty || written > buf->size)
		memset(buf->addr, 0, (size_t)buf->held << PAGE_SHIFT);
	else
		memset(buf->addr + (buf->begun & (buf->size - 1)), 0, written);
	buf->dirty = false;
}

/**
 * speed_buf_put() - give data pages back
 * @buf: the buffer; nothing maps it any more
 * @head: the producer's index now
 *
 * Context: may sleep.
 */
void speed_buf_put(struct speed_buf *buf, u64 head)
{
	if (is_kept(buf)) {
		unmap_before(buf);
		buf_clear(buf, head);
		if (speed_pool_give(buf))
			return;
	}
	speed_buf_free(buf);
}

int speed_pages_init(void)
{
	int err;

	filler = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!filler)
		return -ENOMEM;
	err = speed_pool_init();
	if (err)
		__free_page(filler);
	return err;
}

void speed_pages_exit(void)
{
	speed_pool_exit();
	__free_page(filler);
}
