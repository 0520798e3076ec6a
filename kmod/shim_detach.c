// SPDX-License-Identifier: GPL-2.0
/*
 * Giving a socket's ULP slot to another: kTLS, or IPV6_ADDRFORM, which wants none
 * in it. The socket gets TCP's own calls back; but a thread may be inside one of
 * ours, and may sleep there for as long as it likes. What it works on is kept
 * until nobody can be: all tasks have been seen outside (RCU-tasks), no call that
 * may sleep is counted, and the locks of both roles are free; and once more so.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "lease.h"
#include "shim.h"
#include "shim_map.h"
#include "shim_proto.h"

#define AGAIN	(HZ / 10)

/**
 * struct leaver - what a socket leaves behind
 * @sk: the socket, held
 * @shim: its part
 * @tasks: to wait for all tasks
 * @work: to look whether nobody is left
 * @twice: nobody was left once, and all tasks have been seen since
 */
struct leaver {
	struct sock *sk;
	struct shim *shim;
	struct rcu_head tasks;
	struct delayed_work work;
	bool twice;
};

static bool role_free(struct speed_ring *ring, int role)
{
	if (!mutex_trylock(&ring->role[role].lock))
		return false;
	mutex_unlock(&ring->role[role].lock);
	speed_lease_unlocked(ring);
	return true;
}

static bool roles_free(const struct shim *shim, struct speed_pair *pair)
{
	return !pair || (role_free(shim_tx_ring(shim, pair), SPEED_ROLE_TX) &&
			 role_free(shim_rx_ring(shim, pair), SPEED_ROLE_RX));
}

static bool nobody_inside(struct shim *shim)
{
	return !atomic_read(&shim->calls) && !atomic_read(&shim->inside) &&
	       roles_free(shim, shim->pair) && roles_free(shim, shim->old);
}

static void all_seen(struct rcu_head *rcu);

static void leave(struct work_struct *work)
{
	struct leaver *l = container_of(to_delayed_work(work), struct leaver, work);
	struct speed_pair *pair;

	if (!nobody_inside(l->shim)) {
		l->twice = false;
		schedule_delayed_work(&l->work, AGAIN);
		return;
	}
	/* Who slept with a role's lock held, in a copy, may be on the way from it. */
	if (!l->twice) {
		l->twice = true;
		call_rcu_tasks(&l->tasks, all_seen);
		return;
	}
	pair = shim_take_pair(l->shim);
	if (pair)
		shim_drop_pair(pair, l->shim->end);
	shim_drop_old(l->shim);
	shim_conn_put(shim_conn(l->shim));
	sock_put(l->sk);
	kfree(l);
	module_put(THIS_MODULE);
}

static void all_seen(struct rcu_head *rcu)
{
	struct leaver *l = container_of(rcu, struct leaver, tasks);

	schedule_delayed_work(&l->work, 0);
}

/**
 * shim_detach() - give the ULP slot to whoever wants it
 * @sk: the socket, locked, with a slot of ours; nothing is left in its rings
 *	that it has to read
 *
 * It may never fuse again.
 *
 * Context: process.
 * Return: 0 or -ENOBUFS.
 */
int shim_detach(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct shim *shim = shim_of(sk);
	struct leaver *l = kzalloc(sizeof(*l), GFP_KERNEL);

	if (!l)
		return -ENOBUFS;
	shim_bar(shim, SPEED_TCP_ULP, true);
	sock_hold(sk);
	l->sk = sk;
	l->shim = shim;
	INIT_DELAYED_WORK(&l->work, leave);
	WRITE_ONCE(sk->sk_prot, (struct proto *)shim->base->prot);
	if (sk->sk_socket && READ_ONCE(sk->sk_socket->ops) == &shim->base->our_ops)
		WRITE_ONCE(sk->sk_socket->ops, shim->base->ops);
	WRITE_ONCE(icsk->icsk_ulp_ops, NULL);
	RCU_INIT_POINTER(icsk->icsk_ulp_data, NULL);
	call_rcu_tasks(&l->tasks, all_seen);
	return 0;
}
