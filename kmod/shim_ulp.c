// SPDX-License-Identifier: GPL-2.0
/*
 * Attaching the shim to a socket and taking it off again. The slot for an upper
 * layer protocol (ULP) is taken, so that no other can move in between, and so
 * that TCP calls us when it destroys a socket that no program closed.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "compat/compat.h"
#include "shim.h"
#include "shim_map.h"
#include "shim_proto.h"
#include "stats.h"

static struct kmem_cache *conn_cache;
static bool is_open;

/*
 * A cache with a constructor is not cleared by the kernel at each allocation: what is
 * used is cleared when it is taken, and of most connections that are short the pair
 * never is.
 */
static void conn_construct(void *conn)
{
	memset(conn, 0, sizeof(struct shim_conn));
}

static void conn_free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(conn_cache, container_of(rcu, struct shim_conn, rcu));
}

/**
 * shim_conn_put() - drop a reference to a connection's memory
 * @conn: the connection
 *
 * Context: any.
 */
void shim_conn_put(struct shim_conn *conn)
{
	if (refcount_dec_and_test(&conn->refs))
		call_rcu(&conn->rcu, conn_free_rcu);
}

/* The other half of the memory that a client came with, if it is free. */
static struct shim *take_half(struct shim *peer)
{
	struct shim_conn *conn = shim_conn(peer);

	if (peer->slot || !refcount_inc_not_zero(&conn->refs))
		return NULL;
	if (!xchg(&conn->shared, true))
		return &conn->end[1];
	shim_conn_put(conn);
	return NULL;
}

static struct shim *make_half(gfp_t gfp)
{
	struct shim_conn *conn = kmem_cache_alloc(conn_cache, gfp);

	if (!conn)
		return NULL;
	refcount_set(&conn->refs, 1);
	conn->shared = false;
	conn->joined = false;
	conn->paired = false;
	return &conn->end[0];
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
	if (shim->pair) {
		WRITE_ONCE(shim->pair->tcp.bars[shim->end], shim->bars);
		if (on)
			shim_flag_mapped(shim->pair, SPEED_OVERFLOW);
	}
	spin_unlock_bh(&shim->lock);
}

/**
 * shim_attach() - make a socket's calls ours
 * @sk: the socket, locked; its ULP slot is free
 * @peer: the other end's part, under RCU, or NULL where it is not known
 * @late: calls may be under way already; shim_wait_calls() has to follow
 * @gfp: whether it may sleep
 *
 * Return: its part, or NULL where the socket is of no kind that is known, or
 * memory is short.
 */
struct shim *shim_attach(struct sock *sk, struct shim *peer, bool late, gfp_t gfp)
{
	const struct shim_base *base = shim_base_of(sk);
	struct shim *shim = NULL;
	u8 slot;

	if (!base)
		return NULL;
	if (peer)
		shim = take_half(peer);
	slot = !!shim;
	if (!shim)
		shim = make_half(gfp);
	if (!shim)
		return NULL;
	*shim = (struct shim){ .sk = sk, .base = base, .slot = slot, .late = late };
	spin_lock_init(&shim->lock);
	if (sk->sk_rcvlowat > 1)
		shim->bars = BIT(SPEED_TCP_ODD);
	if (late)
		shim->bars |= BIT(SPEED_TCP_BUSY);
	rcu_assign_pointer(inet_csk(sk)->icsk_ulp_data, shim);
	WRITE_ONCE(inet_csk(sk)->icsk_ulp_ops, &shim_ulp_ops);
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
	bool late = !((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN));
	u32 unfit = shim_unfit(sk);
	struct shim *shim;
	struct sock *peer;

	if (unfit)
		return -EOPNOTSUPP;
	shim = shim_attach(sk, NULL, late, GFP_KERNEL);
	if (!shim)
		return -ENOBUFS;
	shim->asked = true;
	/* Taken away for ULPs that do not pass MSG_ZEROCOPY on: this one does. */
	if (sk->sk_socket)
		set_bit(SOCK_SUPPORT_ZC, &sk->sk_socket->flags);
	if (late || (sk->sk_state == TCP_CLOSE && shim_others_call(sk)))
		shim_wait_calls(shim);
	if (!late)
		return 0;
	peer = shim_find_peer(sk, true);
	if (!peer)
		return 0;
	shim_join(shim, peer);
	sock_put(peer);
	return 0;
}

static void drop_pair(struct shim *shim)
{
	struct speed_pair *pair = NULL;

	/* It was not closed by a program, which would have taken it. */
	if (!READ_ONCE(shim->closing))
		pair = shim_take_pair(shim);
	if (pair)
		speed_pair_put_any(pair);
	if (shim->old)
		speed_pair_put_any(shim->old);
}

static void take_off(struct sock *sk, struct shim *shim)
{
	WRITE_ONCE(sk->sk_prot, (struct proto *)shim->base->prot);
	RCU_INIT_POINTER(inet_csk(sk)->icsk_ulp_data, NULL);
}

/* The socket is destroyed, and no program ever had it, or has it any more. */
static void ulp_release(struct sock *sk)
{
	struct shim *shim = shim_of(sk);

	take_off(sk, shim);
	drop_pair(shim);
	shim_conn_put(shim_conn(shim));
}

/**
 * shim_leave() - a socket is being closed: take the shim off
 * @sk: the socket; nobody else uses it, and its pair was taken
 *
 * The socket's reference to the module is the caller's now.
 */
void shim_leave(struct sock *sk)
{
	struct shim *shim = shim_of(sk);

	take_off(sk, shim);
	WRITE_ONCE(inet_csk(sk)->icsk_ulp_ops, NULL);
	shim_drop_old(shim);
	shim_conn_put(shim_conn(shim));
}

/* A listener has it: its children start without, and join in like any other. */
static void ulp_clone(const struct request_sock *req, struct sock *newsk, const gfp_t gfp)
{
	const struct shim_base *base = shim_tcp_of(newsk);
	struct shim *parent = rcu_dereference_raw(inet_csk(newsk)->icsk_ulp_data);
	/* It may be closing just now. */
	u32 bars = parent ? READ_ONCE(parent->bars) : 0;
	bool asked = parent && parent->asked;
	struct shim *shim;

	inet_csk(newsk)->icsk_ulp_ops = NULL;
	RCU_INIT_POINTER(inet_csk(newsk)->icsk_ulp_data, NULL);
	WRITE_ONCE(newsk->sk_prot, (struct proto *)base->prot);
	newsk->sk_prot_creator = (struct proto *)base->prot;
	if (!asked || !try_module_get(THIS_MODULE))
		return;
	shim = shim_attach(newsk, NULL, false, gfp);
	if (!shim) {
		module_put(THIS_MODULE);
		return;
	}
	shim->asked = true;
	shim->bars |= bars & BIT(SPEED_TCP_REQUEST);
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
	conn_cache = kmem_cache_create("shim_conn", sizeof(struct shim_conn),
				       __alignof__(struct shim_conn),
				       SLAB_ACCOUNT, conn_construct);
	if (!conn_cache)
		return -ENOMEM;
	shim_learn_bases();
	return 0;
}

/**
 * shim_ulp_open() - sockets may have the shim from now on
 *
 * By its name, or by the sysctl; not before all that can fail has gone well.
 */
void shim_ulp_open(void)
{
	tcp_register_ulp(&shim_ulp_ops);
	WRITE_ONCE(is_open, true);
}

/**
 * shim_try_use() - have a socket's reference to the module
 *
 * Return: whether it may have the shim.
 */
bool shim_try_use(void)
{
	return READ_ONCE(is_open) && try_module_get(THIS_MODULE);
}

/**
 * shim_ulp_stop() - no socket gets the shim any more
 *
 * The last socket has gone, and with it the last reference to the module, in a
 * call of ours that may not have returned yet: wait for all tasks to leave, and
 * for what waited for them.
 */
void shim_ulp_stop(void)
{
	tcp_unregister_ulp(&shim_ulp_ops);
	synchronize_rcu_tasks();
	speed_compat_barrier_tasks();
}

void shim_ulp_exit(void)
{
	shim_watch_stop();
	rcu_barrier();
	kmem_cache_destroy(conn_cache);
}
