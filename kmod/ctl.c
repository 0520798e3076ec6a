// SPDX-License-Identifier: GPL-2.0
/*
 * Control pages: where a ring's indices and flags live while it is mapped. They
 * move there before the first lease and home again when the ring is stripped,
 * both under both roles' locks and with no lease in force. Who looks at them
 * without a lock does so under RCU.
 */
#include <linux/gfp.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "ctl.h"
#include "pages.h"
#include "ring.h"
#include "wait.h"

/**
 * struct ctl_pages - control pages that can be mapped
 * @ctl: where they are
 * @rcu: to free them when lockless readers have gone
 */
struct ctl_pages {
	struct speed_ctl ctl;
	struct rcu_head rcu;
};

static struct speed_ctl *ctl_new(void)
{
	struct ctl_pages *pages = kzalloc(sizeof(*pages), GFP_KERNEL_ACCOUNT);
	gfp_t gfp = GFP_KERNEL_ACCOUNT;
	struct speed_ctl *ctl;

	if (!pages)
		return NULL;
	ctl = &pages->ctl;
	ctl->index[SPEED_ROLE_TX] = (void *)get_zeroed_page(gfp);
	ctl->index[SPEED_ROLE_RX] = (void *)get_zeroed_page(gfp);
	ctl->kern = (void *)get_zeroed_page(gfp);
	if (ctl->index[SPEED_ROLE_TX] && ctl->index[SPEED_ROLE_RX] && ctl->kern)
		return ctl;
	speed_ctl_free(ctl);
	return NULL;
}

/**
 * speed_ctl_free() - free control pages that no one can find any more
 * @ctl: the pages; lockless readers have gone
 */
void speed_ctl_free(struct speed_ctl *ctl)
{
	free_page((unsigned long)ctl->index[SPEED_ROLE_TX]);
	free_page((unsigned long)ctl->index[SPEED_ROLE_RX]);
	free_page((unsigned long)ctl->kern);
	kfree(container_of(ctl, struct ctl_pages, ctl));
}

static void ctl_free_rcu(struct rcu_head *rcu)
{
	speed_ctl_free(&container_of(rcu, struct ctl_pages, rcu)->ctl);
}

static bool ring_closed(const struct speed_ring *ring)
{
	return (READ_ONCE(speed_ring_writer(ring)->sk_shutdown) & SEND_SHUTDOWN) ||
	       (READ_ONCE(speed_ring_reader(ring)->sk_shutdown) & RCV_SHUTDOWN);
}

/* Both locks are held, and no lease is in force: indices and flags move. */
static void ctl_move(struct speed_ring *ring, struct speed_ctl *to)
{
	struct speed_ctl *from = speed_ring_ctl(ring);
	int i;

	for (i = 0; i < SPEED_ROLES; i++)
		to->index[i]->index = ring->role[i].side.own;
	to->kern->flags = from->kern->flags | SPEED_NEED_DATA | SPEED_NEED_SPACE;
	to->kern->wake_free = from->kern->wake_free;
	speed_ring_lives_in(ring, to);
	/* A shutdown takes no lock: it flagged the new place, or we see it. */
	smp_mb();
	if (ring_closed(ring))
		speed_ring_flag(ring, SPEED_CLOSED);
	/* Who looked at the old place looks again. */
	speed_wake_all(ring->pair);
}

/**
 * speed_ctl_go_home() - a ring's indices leave their pages
 * @ring: the ring; both roles' locks are held and no lease is in force
 */
void speed_ctl_go_home(struct speed_ring *ring)
{
	struct speed_ctl *ctl = speed_ring_ctl(ring);

	if (ctl == &ring->home)
		return;
	ctl_move(ring, &ring->home);
	call_rcu(&container_of(ctl, struct ctl_pages, ctl)->rcu, ctl_free_rcu);
}

/* Clear what the ring does not hold live; both roles' locks are held. */
static void ring_clear_dead(struct speed_ring *ring)
{
	u64 head = ring->role[SPEED_ROLE_TX].side.own, tail = ring->role[SPEED_ROLE_RX].side.own;
	struct speed_buf *buf = ring->buf;
	u64 read = tail - buf->begun;

	if (buf->dirty || head - buf->begun > buf->size || read > buf->size)
		memset(buf->addr + (head & (buf->size - 1)), 0, buf->size - (head - tail));
	else
		memset(buf->addr + (buf->begun & (buf->size - 1)), 0, read);
	buf->dirty = true;
}

/**
 * speed_ctl_make_ready() - make a ring ready to be mapped
 * @ring: the ring; both roles' locks are held
 * @role: the role that is about to be leased
 *
 * A ring whose other role is leased is ready, and its dead bytes are not ours
 * to touch.
 *
 * Context: may sleep.
 * Return: 0, -ENOBUFS, or -EPIPE where the connection broke.
 */
int speed_ctl_make_ready(struct speed_ring *ring, int role)
{
	struct speed_ctl *ctl;
	int err;

	if (ring->role[!role].epoch)
		return 0;
	if (!speed_ring_check(ring))
		return -EPIPE;
	err = speed_ring_need_buf(ring, role, speed_ring_size(ring));
	if (err)
		return err;
	if (speed_ring_at_home(ring)) {
		ctl = ctl_new();
		if (!ctl)
			return -ENOBUFS;
		ctl_move(ring, ctl);
	}
	ring_clear_dead(ring);
	return 0;
}
