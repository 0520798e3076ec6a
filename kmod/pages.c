// SPDX-License-Identifier: GPL-2.0
/*
 * Data pages and their pool.
 *
 * A buffer in the pool is all zeroes: what a connection wrote is cleared when
 * it gives the buffer back, and only that, so that one that writes little at a time
 * pays for few bytes. No user ever sees another's.
 *
 * The pool belongs to the machine, is charged to nobody, holds at most
 * SPEED_POOL_MAX and shrinks when memory is short. pool_lock is taken under
 * everything and holds nobody up: buffers are made and freed outside it.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "compat/compat.h"
#include "pages.h"

#define SPEED_POOL_MAX		(32UL << 20)
#define SPEED_POOL_BUF_MAX	BIT(20)	/* larger ones are not kept */
#define SPEED_POOL_CLASSES	32

static DEFINE_SPINLOCK(pool_lock);
static struct list_head pool[SPEED_POOL_CLASSES];
static unsigned long pool_bytes;

static unsigned int buf_pages(size_t size)
{
	return size >> PAGE_SHIFT;
}

static void buf_free(struct speed_buf *buf)
{
	unsigned int i;

	if (buf->addr)
		vunmap(buf->addr);
	for (i = 0; i < buf_pages(buf->size) && buf->pages[i]; i++)
		__free_page(buf->pages[i]);
	kvfree(buf);
}

/* Two page tables' worth of the same pages, one after the other. */
static void *map_twice(struct page **pages, unsigned int n)
{
	struct page **twice;
	void *addr;

	twice = kvmalloc_array(n, 2 * sizeof(*twice), GFP_KERNEL);
	if (!twice)
		return NULL;
	memcpy(twice, pages, n * sizeof(*twice));
	memcpy(twice + n, pages, n * sizeof(*twice));
	addr = vmap(twice, 2 * n, VM_MAP, PAGE_KERNEL);
	kvfree(twice);
	return addr;
}

static struct speed_buf *buf_make(size_t size)
{
	unsigned int i, n = buf_pages(size);
	struct speed_buf *buf;

	buf = kvzalloc(struct_size(buf, pages, n), GFP_KERNEL);
	if (!buf)
		return NULL;
	INIT_LIST_HEAD(&buf->list);
	buf->size = size;
	for (i = 0; i < n; i++) {
		buf->pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN |
					   __GFP_RETRY_MAYFAIL);
		if (!buf->pages[i])
			goto free;
	}
	buf->addr = map_twice(buf->pages, n);
	if (buf->addr)
		return buf;
free:
	buf_free(buf);
	return NULL;
}

static struct speed_buf *pool_take(size_t size)
{
	struct list_head *class = &pool[ilog2(size)];
	struct speed_buf *buf;

	spin_lock(&pool_lock);
	buf = list_first_entry_or_null(class, struct speed_buf, list);
	if (buf) {
		list_del_init(&buf->list);
		pool_bytes -= size;
	}
	spin_unlock(&pool_lock);
	return buf;
}

/**
 * speed_buf_get() - data pages for a ring, all zeroes
 * @size: bytes, a power of two, at least a page
 *
 * The caller has charged somebody for them.
 *
 * Context: may sleep.
 * Return: the buffer, or NULL where memory is short.
 */
struct speed_buf *speed_buf_get(size_t size)
{
	struct speed_buf *buf = pool_take(size);

	return buf ?: buf_make(size);
}

/*
 * Has nobody kept a page that was mapped? Nothing pins one, but before Linux 6.13 a virtual
 * machine could. A page that is freed stays its keeper's; one of the pool would be another's.
 */
static bool is_ours(const struct speed_buf *buf)
{
	unsigned int i;

	if (!buf->whole)
		return true;
	for (i = 0; i < buf_pages(buf->size); i++)
		if (page_count(buf->pages[i]) != 1)
			return false;
	return true;
}

static void buf_clear(struct speed_buf *buf, u64 head)
{
	u64 written = head - buf->begun;

	if (buf->whole || written > buf->size)
		memset(buf->addr, 0, buf->size);
	else
		memset(buf->addr + (buf->begun & (buf->size - 1)), 0, written);
	buf->whole = false;
}

static bool pool_give(struct speed_buf *buf, u64 head)
{
	bool kept = false;

	if (buf->size > SPEED_POOL_BUF_MAX || !is_ours(buf))
		return false;
	buf_clear(buf, head);
	spin_lock(&pool_lock);
	if (pool_bytes + buf->size <= SPEED_POOL_MAX) {
		list_add(&buf->list, &pool[ilog2(buf->size)]);
		pool_bytes += buf->size;
		kept = true;
	}
	spin_unlock(&pool_lock);
	return kept;
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
	if (!pool_give(buf, head))
		buf_free(buf);
}

/**
 * speed_pool_bytes() - what the pool holds
 *
 * Return: bytes.
 */
unsigned long speed_pool_bytes(void)
{
	return READ_ONCE(pool_bytes);
}

/* The smallest buffers last: connections ask for the default size most. */
static struct speed_buf *pool_take_any(void)
{
	struct speed_buf *buf = NULL;
	int class;

	for (class = SPEED_POOL_CLASSES - 1; class >= PAGE_SHIFT && !buf; class--)
		buf = pool_take(1UL << class);
	return buf;
}

static unsigned long pool_count(struct shrinker *s, struct shrink_control *sc)
{
	return speed_pool_bytes() >> PAGE_SHIFT ?: SHRINK_EMPTY;
}

static unsigned long pool_scan(struct shrinker *s, struct shrink_control *sc)
{
	unsigned long freed = 0;
	struct speed_buf *buf;

	while (freed < sc->nr_to_scan) {
		buf = pool_take_any();
		if (!buf)
			break;
		freed += buf_pages(buf->size);
		buf_free(buf);
	}
	return freed ?: SHRINK_STOP;
}

int speed_pages_init(void)
{
	int i;

	for (i = 0; i < SPEED_POOL_CLASSES; i++)
		INIT_LIST_HEAD(&pool[i]);
	return speed_compat_shrinker_register(pool_count, pool_scan);
}

void speed_pages_exit(void)
{
	struct speed_buf *buf;

	speed_compat_shrinker_unregister();
	while ((buf = pool_take_any()))
		buf_free(buf);
}
