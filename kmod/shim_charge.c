// SPDX-License-Identifier: GPL-2.0
/*
 * What a fused connection pays. The sender's socket is charged for its ring as
 * for bytes to be received: so the charge reaches the control group and tcp_mem,
 * and is refused where one of them is used up.
 *
 * sk_forward_alloc belongs to who has the socket's lock. To charge is the
 * sender's own call, and locks it. To give back is anybody's, who must not wait
 * for the sender: it is noted as a debt, and settled at once where the socket is
 * free, or by its owner when that unlocks it. A pair that ends with a debt of a socket
 * that somebody owns is put aside, and goes when nobody does.
 */
#include <linux/delay.h>
#include <linux/llist.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/workqueue.h>
#include <net/sock.h>

#include "charge.h"
#include "compat/compat.h"
#include "shim.h"
#include "shim_map.h"

#define SPARE	4
#define AGAIN	(HZ / 10)

static LLIST_HEAD(indebted);	/* pairs that were put aside, by @dead */

/* Who charges and who maps may both be the first. */
static struct speed_user *door_user(struct speed_pair *pair, int end)
{
	struct speed_user *user = READ_ONCE(pair->tcp.user[end]), *was;

	if (user)
		return user;
	user = speed_user_get(READ_ONCE(pair->sk[end]->sk_uid));
	if (!user)
		return NULL;
	was = cmpxchg(&pair->tcp.user[end], NULL, user);
	if (!was)
		return user;
	speed_user_put(user);
	return was;
}

static int charge_user(struct speed_pair *pair, int end, size_t bytes)
{
	struct speed_user *user = door_user(pair, end);

	return user ? speed_charge_bounds(sock_net(pair->sk[end]), user, bytes) : -ENOBUFS;
}

static unsigned long door_bound(const struct speed_ring *ring)
{
	return sk_prot_mem_limits(speed_ring_writer(ring), 0) * PAGE_SIZE;
}

static int charge_sock(struct sock *sk, size_t bytes)
{
	/* Asked for more than is taken, so that what else its group does has room. */
	int ask = max_t(u64, bytes, min_t(u64, (u64)SPARE * bytes, SZ_512M));
	int err = 0;

	/* Rings are a luxury: TCP can do without, and others may not. */
	if (sk_under_memory_pressure(sk) || sk_memory_allocated(sk) > sk_prot_mem_limits(sk, 0))
		return -ENOBUFS;
	lock_sock(sk);
	if (__sk_mem_schedule(sk, ask, SK_MEM_RECV))
		sk_mem_charge(sk, bytes);
	else
		err = -ENOBUFS;
	sk_mem_reclaim(sk);
	release_sock(sk);
	return err;
}

static int door_charge(struct speed_ring *ring, size_t bytes)
{
	struct speed_pair *pair = ring->pair;
	struct sock *sk = speed_ring_writer(ring);
	int err = charge_user(pair, ring->end, bytes);

	if (err)
		return err;
	err = charge_sock(sk, bytes);
	if (err)
		speed_uncharge_bounds(sock_net(sk), pair->tcp.user[ring->end], bytes);
	return err;
}

/**
 * shim_give_back() - settle what is owed to a socket's accounting
 * @sk: the socket, owned, or with its spin lock held and nobody owning it
 * @pair: its pair
 * @end: which end it is
 */
void shim_give_back(struct sock *sk, struct speed_pair *pair, int end)
{
	int bytes = atomic_xchg(&pair->tcp.debt[end], 0);

	if (bytes)
		sk_mem_uncharge(sk, bytes);
}

/* Of what went through its rings. */
static void tell_counters(struct sock *sk)
{
	struct shim *shim = shim_of(sk);

	if (shim)
		shim_tell_counters(shim);
}

/**
 * shim_settle_now() - settle what is owed to a socket, and tell TCP's counters
 * @pair: its pair
 * @end: which end it is
 *
 * Context: any but hard interrupt; waits for no owner.
 * Return: whether nobody owns the socket, and so nothing is owed any more.
 */
bool shim_settle_now(struct speed_pair *pair, int end)
{
	struct sock *sk = pair->sk[end];
	bool can;

	local_bh_disable();
	bh_lock_sock_nested(sk);
	can = !sock_owned_by_user_nocheck(sk);
	if (can) {
		shim_give_back(sk, pair, end);
		tell_counters(sk);
	}
	bh_unlock_sock(sk);
	local_bh_enable();
	return can;
}

static void door_uncharge(struct speed_ring *ring, size_t bytes)
{
	struct speed_pair *pair = ring->pair;

	speed_uncharge_bounds(sock_net(speed_ring_writer(ring)), pair->tcp.user[ring->end], bytes);
	/* Ordered before the look at the owner, who looks at it when it goes. */
	atomic_add(bytes, &pair->tcp.debt[ring->end]);
	shim_settle_now(pair, ring->end);
}

static bool settled(struct speed_pair *pair)
{
	int end;

	for (end = 0; end < 2; end++)
		if (atomic_read(&pair->tcp.debt[end]) && !shim_settle_now(pair, end))
			return false;
	for (end = 0; end < 2; end++)
		speed_user_put(pair->tcp.user[end]);
	return true;
}

static void settle_again(struct work_struct *work);
static DECLARE_DELAYED_WORK(settle_work, settle_again);

static void settle_later(struct speed_pair *pair)
{
	llist_add(&pair->dead, &indebted);
	schedule_delayed_work(&settle_work, AGAIN);
}

static void settle_again(struct work_struct *work)
{
	struct llist_node *all = llist_del_all(&indebted);
	struct speed_pair *pair, *next;
	bool pinned;

	llist_for_each_entry_safe(pair, next, all, dead) {
		if (!settled(pair)) {
			settle_later(pair);
			continue;
		}
		pinned = pair->tcp.pinned;
		speed_pair_end(pair);
		if (pinned)
			module_put(THIS_MODULE);
	}
}

/* Whoever owns a socket now may own it for as long as he likes. */
static bool door_settle(struct speed_pair *pair)
{
	if (settled(pair))
		return true;
	pair->tcp.pinned = try_module_get(THIS_MODULE);
	settle_later(pair);
	return false;
}

/**
 * shim_charge_stop() - pairs that were put aside have gone
 *
 * Each had a reference to the module, but for those that came on its way out.
 *
 * Context: process.
 */
void shim_charge_stop(void)
{
	flush_delayed_work(&settle_work);
	while (!llist_empty(&indebted)) {
		msleep(jiffies_to_msecs(AGAIN));
		flush_delayed_work(&settle_work);
	}
}

static void door_free(struct speed_pair *pair)
{
	shim_conn_put(container_of(pair, struct shim_conn, pair));
}

const struct speed_door shim_door = {
	.charge		= door_charge,
	.uncharge	= door_uncharge,
	.user		= door_user,
	.bound		= door_bound,
	.settle		= door_settle,
	.free		= door_free,
	.data_ready	= shim_data_ready,
	.too_few	= shim_too_few,
	.wait_data	= shim_wait_mapped,
	.may_lease	= shim_may_lease,
	.mapped		= shim_mapped,
	.untold		= shim_untold,
	.tell		= shim_tell,
	.ring_alone	= true,
	.callbacks_locked = true,
};
