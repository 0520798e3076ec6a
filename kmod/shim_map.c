// SPDX-License-Identifier: GPL-2.0
/*
 * Mapping a fused TCP connection. A mapped producer makes no system call, and so
 * does not meet what a sending call looks for (shim_why()); a mapped consumer
 * looks at nothing but the ring. A flag in the kernel page makes both use system
 * calls, which then find out. Calls of ours set it at once; what happens behind
 * our back (a packet tap, a filter, the sysctl, a reset) is looked for every WATCH
 * for as long as anybody maps anything, and then the lease is ended, too: who
 * does not mind the flag goes on no longer than that.
 *
 * watch_lock covers the list of mapping files; nothing but what is looked at
 * without a lock is touched under it.
 */
#include <linux/compat.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <net/sock.h>

#include "lease.h"
#include "map.h"
#include "ring.h"
#include "shim.h"
#include "shim_map.h"
#include "shim_take.h"
#include "shim_proto.h"
#include "sockopt.h"
#include "wait.h"

#define WATCH	max(HZ / 20, 1)

static DEFINE_MUTEX(watch_lock);	/* watched */
static LIST_HEAD(watched);

static void watch_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(watch, watch_work);

/**
 * shim_flag_ring() - from now on who maps a ring uses system calls
 * @ring: the ring
 * @flag: SPEED_OVERFLOW for a while, SPEED_CLOSED for good
 *
 * Context: any.
 */
void shim_flag_ring(struct speed_ring *ring, u32 flag)
{
	/* What those calls shall find is there; shim_may_lease() looks after its store. */
	smp_mb();
	if (!speed_ring_at_home(ring))
		speed_ring_flag(ring, flag);
}

/**
 * shim_flag_mapped() - the same for both directions
 * @pair: the pair
 * @flag: SPEED_OVERFLOW for a while, SPEED_CLOSED for good
 *
 * Context: any.
 */
void shim_flag_mapped(struct speed_pair *pair, u32 flag)
{
	shim_flag_ring(&pair->ring[0], flag);
	shim_flag_ring(&pair->ring[1], flag);
}

/**
 * shim_drop_pair() - a socket's part in a pair ends
 * @pair: the pair, whose reference goes
 * @end: which endpoint it was
 *
 * Context: process; takes that endpoint's roles' locks.
 */
void shim_drop_pair(struct speed_pair *pair, int end)
{
	speed_lease_leave(pair, end);
	speed_lease_unmap(pair, end);
	speed_pair_put(pair);
}

/**
 * shim_drop_old() - so does its part in the one of a connection that was given up before
 * @shim: the socket's part; nobody is inside a call of it
 *
 * A mapping of it holds that pair, and with it both sockets.
 *
 * Context: process; takes that endpoint's roles' locks.
 */
void shim_drop_old(struct shim *shim)
{
	struct speed_pair *old = shim->old;

	shim->old = NULL;
	if (old)
		shim_drop_pair(old, shim->end);
}

/* A reader's end was not told of, and its reads move nothing else. */
static bool moves_freely(const struct sock *sk)
{
	return !shim_ended(sk) && READ_ONCE(sk->sk_peek_off) < 0;
}

/* Nothing but the ring is next, for who looks at nothing but the ring. */
static bool ring_is_next(const struct speed_ring *ring)
{
	const struct sock *sk = speed_ring_reader(ring);

	return !shim_tcp_unread(sk) && !shim_tcp_before(ring, sk) && moves_freely(sk);
}

/* For struct speed_door. */
int shim_may_lease(struct speed_ring *ring, int role)
{
	if (!ring->fused || !ring->buf)
		return -EAGAIN;
	/* A full barrier follows the flag; shim_flag_mapped() sets it after its reason. */
	speed_ring_unflag(ring, SPEED_OVERFLOW);
	if (!shim_why(ring) && (role == SPEED_ROLE_TX || ring_is_next(ring)))
		return 0;
	speed_ring_flag(ring, SPEED_OVERFLOW);
	return -EAGAIN;
}

int shim_wait_mapped(struct speed_ring *ring, u64 want, long *timeo)
{
	struct shim *shim = shim_of(speed_ring_reader(ring));
	u32 begun = shim ? shim_begun(shim) : 0;

	/* A connection may have been given up, and another made. */
	if (!shim || shim_pair(shim) != ring->pair)
		return -ESTALE;
	return shim_wait_ring(shim, ring, want, begun, timeo);
}

void shim_mapped(struct speed_map *map, bool on)
{
	mutex_lock(&watch_lock);
	if (on && list_empty(&watched))
		schedule_delayed_work(&watch, WATCH);
	if (on)
		list_add(&map->watch, &watched);
	else
		list_del_init(&map->watch);
	mutex_unlock(&watch_lock);
}

static bool leased(const struct speed_ring *ring, int role)
{
	return READ_ONCE(ring->role[role].epoch);
}

/*
 * Nobody is asked to stop: a flag is for who minds it. Nor is anybody waited for, who may
 * be in a page fault for long: all others would wait, too.
 */
static void stop(struct speed_ring *ring, int role)
{
	shim_flag_ring(ring, SPEED_OVERFLOW);
	speed_lease_drop_now(ring, role);
}

/* Is there what a system call of the one who maps this would find? */
static void look(const struct speed_map *map)
{
	struct speed_pair *pair = map->pair;
	struct speed_ring *tx = &pair->ring[map->end], *rx = &pair->ring[!map->end];

	if (leased(tx, SPEED_ROLE_TX) && shim_why(tx))
		stop(tx, SPEED_ROLE_TX);
	if (leased(rx, SPEED_ROLE_RX) && (shim_why(rx) || !moves_freely(pair->sk[map->end])))
		stop(rx, SPEED_ROLE_RX);
}

static void watch_work(struct work_struct *work)
{
	const struct speed_map *map;

	mutex_lock(&watch_lock);
	list_for_each_entry(map, &watched, watch) {
		look(map);
		cond_resched();
	}
	if (!list_empty(&watched))
		schedule_delayed_work(&watch, WATCH);
	mutex_unlock(&watch_lock);
}

/**
 * shim_watch_stop() - nothing is mapped any more, for good
 *
 * Context: process.
 */
void shim_watch_stop(void)
{
	cancel_delayed_work_sync(&watch);
}

static int ioctl_counted(struct shim *shim, struct socket *sock, unsigned int cmd,
			 unsigned long arg)
{
	struct speed_pair *pair;

	if (cmd != SPEED_IOC_WAKE && cmd != SPEED_IOC_WAIT && cmd != SPEED_IOC_EPOLL)
		return shim->base->ops->ioctl(sock, cmd, arg);
	pair = shim_pair(shim);	/* before the end, which is set before it */
	return speed_ioctl_mapped(sock, pair, shim->end, cmd, arg);
}

int shim_op_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct shim *shim = shim_of(sock->sk);
	int err;

	if (!shim)
		return shim_tcp_of(sock->sk)->ops->ioctl(sock, cmd, arg);
	atomic_inc(&shim->calls);
	err = ioctl_counted(shim, sock, cmd, arg);
	atomic_dec(&shim->calls);
	return err;
}

/*
 * SO_PEEK_OFF, of kernels whose TCP has it: a mapped reader does not move the
 * offset, and is granted no lease while there is one. The socket may be locked.
 */
int shim_set_peek_off(struct sock *sk, int val)
{
	int err = shim_tcp_of(sk)->ops->set_peek_off(sk, val);
	struct shim *shim = shim_of(sk);
	struct speed_pair *pair = shim ? shim_pair(shim) : NULL;

	if (!err && pair) {
		shim_flag_ring(shim_rx_ring(shim, pair), SPEED_OVERFLOW);
		speed_lease_try_drop(shim_rx_ring(shim, pair), SPEED_ROLE_RX);
	}
	return err;
}

#ifdef CONFIG_COMPAT
/* Of a 32-bit program. */
int shim_compat_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct shim *shim = shim_of(sock->sk);
	int err;

	if (cmd == SPEED_IOC_WAKE || cmd == SPEED_IOC_EPOLL)
		return shim_op_ioctl(sock, cmd, arg);
	if (cmd == SPEED_IOC_WAIT)
		return shim_op_ioctl(sock, cmd, (unsigned long)compat_ptr(arg));
	if (!shim)
		return shim_tcp_of(sock->sk)->ops->compat_ioctl(sock, cmd, arg);
	atomic_inc(&shim->calls);
	err = shim->base->ops->compat_ioctl(sock, cmd, arg);
	atomic_dec(&shim->calls);
	return err;
}
#endif

int shim_mmap(struct file *file, struct socket *sock, struct vm_area_struct *vma)
{
	struct shim *shim = shim_of(sock->sk);
	struct speed_pair *pair;
	int err;

	if (!shim || !speed_map_ours(vma))
		return shim_tcp_of(sock->sk)->ops->mmap(file, sock, vma);
	atomic_inc(&shim->calls);
	pair = shim_pair(shim);	/* before the end, which is set before it */
	err = speed_map_mmap(pair, shim->end, vma);
	atomic_dec(&shim->calls);
	return err;
}
