// SPDX-License-Identifier: GPL-2.0
/*
 * The pool of data pages: buffers that connections gave back, all zeroes.
 *
 * It belongs to the machine, is charged to nobody, holds at most SPEED_POOL_MAX
 * and shrinks when memory is short. pool_lock is taken under everything and holds
 * nobody up: buffers are made and freed outside it.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/spinlock.h>

#include "compat/compat.h"
#include "pages.h"

#define SPEED_POOL_MAX		(32UL << 20)
#define SPEED_POOL_CLASSES	32

enum kind { WHOLE, PART, KINDS };

/* Parts leave room for what takes more to make. */
static const unsigned long most[KINDS] = { SPEED_POOL_MAX, SPEED_POOL_MAX / 2 };
static DEFINE_SPINLOCK(pool_lock);
static struct list_head pool[SPEED_POOL_CLASSES][KINDS];
static unsigned long pool_bytes;

static unsigned long bytes_of(const struct speed_buf *buf)
{
	return (unsigned long)buf->held << PAGE_SHIFT;
}

/* pool_lock is held. */
static struct speed_buf *take(size_t size, enum kind kind)
{
	struct speed_buf *buf = list_first_entry_or_null(&pool[ilog2(size)][kind],
							 struct speed_buf, list);

	if (buf) {
		list_del_init(&buf->list);
		pool_bytes -= bytes_of(buf);
	}
	return buf;
}

/**
 * speed_pool_take() - a buffer that the pool has
 * @size: bytes, a power of two, at least a page
 * @begun: the producer's index
 * @bytes: so many from there on have pages, at least
 *
 * A whole one rather than a part, as it need not grow.
 *
 * Context: any but interrupt.
 * Return: the buffer, begun, or NULL.
 */
struct speed_buf *speed_pool_take(size_t size, u64 begun, u64 bytes)
{
	struct speed_buf *buf;

	spin_lock(&pool_lock);
	buf = take(size, WHOLE);
	if (!buf && !speed_buf_slot(size, begun) && speed_buf_few(begun, bytes))
		buf = take(size, PART);
	spin_unlock(&pool_lock);
	if (buf)
		speed_buf_begin(buf, begun);
	return buf;
}

/**
 * speed_pool_give() - keep a buffer, if there is room
 * @buf: the buffer, all zeroes; if a part, of the ring's first pages
 *
 * Context: any but interrupt.
 * Return: whether it was taken.
 */
bool speed_pool_give(struct speed_buf *buf)
{
	enum kind kind = speed_buf_is_whole(buf) ? WHOLE : PART;
	bool kept = false;

	spin_lock(&pool_lock);
	if (pool_bytes + bytes_of(buf) <= most[kind]) {
		list_add(&buf->list, &pool[ilog2(buf->size)][kind]);
		pool_bytes += bytes_of(buf);
		kept = true;
	}
	spin_unlock(&pool_lock);
	return kept;
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
static struct speed_buf *take_any(void)
{
	struct speed_buf *buf = NULL;
	int class;

	spin_lock(&pool_lock);
	for (class = SPEED_POOL_CLASSES - 1; class >= PAGE_SHIFT && !buf; class--)
		buf = take(1UL << class, WHOLE) ?: take(1UL << class, PART);
	spin_unlock(&pool_lock);
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
		buf = take_any();
		if (!buf)
			break;
		freed += buf->held;
		speed_buf_free(buf);
	}
	return freed ?: SHRINK_STOP;
}

int speed_pool_init(void)
{
	int i;

	for (i = 0; i < SPEED_POOL_CLASSES * KINDS; i++)
		INIT_LIST_HEAD(&pool[i / KINDS][i % KINDS]);
	return speed_compat_shrinker_register(pool_count, pool_scan);
}

void speed_pool_exit(void)
{
	struct speed_buf *buf;

	speed_compat_shrinker_unregister();
	while ((buf = take_any()))
		speed_buf_free(buf);
}
