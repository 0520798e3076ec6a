// SPDX-License-Identifier: GPL-2.0
/*
 * Attaching the shim to a socket and taking it off again. The slot for an upper
 * layer protocol (ULP) is taken, so that no other can move in between, and so
 * that TCP calls us when it destroys the socket.
 *
 * The slot is given away when another ULP or IPV6_ADDRFORM wants the socket. The
 * struct shim then waits among the zombies, with its references, for the socket
 * to be destroyed. zombies_lock is a leaf.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "shim.h"
#include "shim_proto.h"
#include "stats.h"

static struct kmem_cache *shim_cache;
static DEFINE_SPINLOCK(zombies_lock);
static HLIST_HEAD(zombies);

static void shim_free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(shim_cache, container_of(rcu, struct shim, rcu));
}

static void shim_put(struct shim *shim)
{
	if (refcount_dec_and_test(&shim->refs))
		call_rcu(&shim->rcu, shim_free_rcu);
}

/**
 * shim_bar() - set or clear a reason not to fuse
 * @shim: the socket's part
 * @reason: SPEED_TCP_*
 * @on: whether it stands
 *
 * Context: any but hard interrupt.
 */
void shim_bar(struct shim *shim, u32 reason, bool on)
{
	spin_lock_bh(&shim->lock);
	shim->bars = on ? shim->bars | BIT(reason) : shim->bars & ~BIT(reason);
	if (shim->pair)
		WRITE_ONCE(shim->pair->tcp.bars[shim->end], shim->bars);
	spin_unlock_bh(&shim->lock);
}

/* All calls that began before the attachment have ended, or sleep. */
static void calls_seen(struct rcu_head *rcu)
{
	struct shim *shim = container_of(rcu, struct shim, tasks);

	shim_bar(shim, SPEED_TCP_BUSY, false);
	shim_put(shim);
}

/**
 * shim_attach() - make a socket's calls ours
 * @sk: the socket, locked; its ULP slot is free
 * @gfp: whether it may sleep
 *
 * The slot itself is filled by the caller: by TCP in setsockopt(TCP_ULP).
 *
 * Return: its part, or NULL where the socket is of no kind that is known, or
 * memory is short.
 */
struct shim *shim_attach(struct sock *sk, gfp_t gfp)
{
	const struct shim_base *base = shim_base_of(sk);
	struct shim *shim;

	if (!base)
		return NULL;
	shim = kmem_cache_zalloc(shim_cache, gfp);
	if (!shim)
		return NULL;
	refcount_set(&shim->refs, 1);
	shim->sk = sk;
	shim->base = base;
	spin_lock_init(&shim->lock);
	INIT_HLIST_NODE(&shim->zombie);
	rcu_assign_pointer(inet_csk(sk)->icsk_ulp_data, shim);
	/* The context before the calls that look for it. */
	smp_wmb();
	WRITE_ONCE(sk->sk_prot, (struct proto *)&base->our_prot);
	shim_swap_ops(sk, base);
	speed_count(SPEED_STAT_TCP_ATTACHED);
	return shim;
}

/* setsockopt(TCP_ULP, "speed") */
static int ulp_init(struct sock *sk)
{
	u32 unfit = shim_unfit(sk);
	struct shim *shim;
	struct sock *peer;

	if (unfit)
		return -EOPNOTSUPP;
	shim = shim_attach(sk, GFP_KERNEL);
	if (!shim)
		return -ENOBUFS;
	shim->asked = true;
	/* Taken away for ULPs that do not pass MSG_ZEROCOPY on: this one does. */
	if (sk->sk_socket)
		set_bit(SOCK_SUPPORT_ZC, &sk->sk_socket->flags);
	if (sk->sk_state == TCP_CLOSE || sk->sk_state == TCP_LISTEN)
		return 0;
	/* Others may be inside TCP's own calls, and know of no ring. */
	shim_bar(shim, SPEED_TCP_BUSY, true);
	refcount_inc(&shim->refs);
	call_rcu_tasks(&shim->tasks, calls_seen);
	peer = shim_find_peer(sk);
	if (!peer)
		return 0;
	shim_join(shim, peer, GFP_KERNEL);
	sock_put(peer);
	return 0;
}

static void drop_pair(struct shim *shim)
{
	struct speed_pair *pair;

	spin_lock_bh(&shim->lock);
	pair = shim->pair;
	shim->pair = NULL;
	shim->closing = true;
	spin_unlock_bh(&shim->lock);
	if (pair)
		speed_pair_put_any(pair);
	if (shim->old)
		speed_pair_put_any(shim->old);
}

/* The socket is destroyed: nobody is inside its calls. */
static void ulp_release(struct sock *sk)
{
	struct shim *shim = shim_of(sk);

	WRITE_ONCE(sk->sk_prot, (struct proto *)shim->base->prot);
	RCU_INIT_POINTER(inet_csk(sk)->icsk_ulp_data, NULL);
	drop_pair(shim);
	shim_put(shim);
}

/* A listener has it: its children start without, and join in like any other. */
static void ulp_clone(const struct request_sock *req, struct sock *newsk, const gfp_t gfp)
{
	const struct shim_base *base = shim_tcp_of(newsk);
	struct shim *parent = rcu_dereference_raw(inet_csk(newsk)->icsk_ulp_data);
	u32 bars = READ_ONCE(parent->bars);
	bool asked = parent->asked;
	struct shim *shim;

	inet_csk(newsk)->icsk_ulp_ops = NULL;
	RCU_INIT_POINTER(inet_csk(newsk)->icsk_ulp_data, NULL);
	WRITE_ONCE(newsk->sk_prot, (struct proto *)base->prot);
	if (!asked || !try_module_get(THIS_MODULE))
		return;
	shim = shim_attach(newsk, gfp);
	if (!shim) {
		module_put(THIS_MODULE);
		return;
	}
	shim->asked = true;
	shim->bars = bars & BIT(SPEED_TCP_REQUEST);
	inet_csk(newsk)->icsk_ulp_ops = &shim_ulp_ops;
}

static struct shim *zombie_take(struct sock *sk)
{
	struct shim *shim;

	spin_lock_bh(&zombies_lock);
	hlist_for_each_entry(shim, &zombies, zombie)
		if (shim->sk == sk)
			break;
	if (shim)
		hlist_del(&shim->zombie);
	spin_unlock_bh(&zombies_lock);
	return shim;
}

static void zombie_destruct(struct sock *sk)
{
	struct shim *shim = zombie_take(sk);
	void (*destruct)(struct sock *sk) = shim->destruct;

	drop_pair(shim);
	shim_put(shim);
	module_put(THIS_MODULE);
	destruct(sk);
}

/**
 * shim_detach() - give the ULP slot to whoever wants it
 * @sk: the socket, locked, with a slot of ours; nothing is left in its rings
 *	that it has to read
 *
 * It may never fuse again.
 */
void shim_detach(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct shim *shim = shim_of(sk);

	shim_bar(shim, SPEED_TCP_ULP, true);
	shim->destruct = sk->sk_destruct;
	spin_lock_bh(&zombies_lock);
	hlist_add_head(&shim->zombie, &zombies);
	spin_unlock_bh(&zombies_lock);
	sk->sk_destruct = zombie_destruct;
	WRITE_ONCE(sk->sk_prot, (struct proto *)shim->base->prot);
	if (sk->sk_socket && READ_ONCE(sk->sk_socket->ops) == &shim->base->our_ops)
		WRITE_ONCE(sk->sk_socket->ops, shim->base->ops);
	WRITE_ONCE(icsk->icsk_ulp_ops, NULL);
	RCU_INIT_POINTER(icsk->icsk_ulp_data, NULL);
}

struct tcp_ulp_ops shim_ulp_ops __read_mostly = {
	.name		= "speed",
	.owner		= THIS_MODULE,
	.init		= ulp_init,
	.release	= ulp_release,
	.clone		= ulp_clone,
	.get_info	= shim_get_info,
	.get_info_size	= shim_get_info_size,
};

int shim_ulp_init(void)
{
	shim_cache = KMEM_CACHE(shim, SLAB_ACCOUNT);
	if (!shim_cache)
		return -ENOMEM;
	shim_learn_bases();
	tcp_register_ulp(&shim_ulp_ops);
	return 0;
}

/*
 * The last socket has gone, and with it the last reference to the module, in a
 * call of ours that may not have returned yet: wait for all tasks to leave.
 */
void shim_ulp_exit(void)
{
	tcp_unregister_ulp(&shim_ulp_ops);
	synchronize_rcu_tasks();
	rcu_barrier();
	kmem_cache_destroy(shim_cache);
}
