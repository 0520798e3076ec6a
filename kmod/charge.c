// SPDX-License-Identifier: GPL-2.0
/*
 * Accounting. Every byte of data pages and of overflow is charged to one
 * socket, the sender's: to its control group through the socket's own
 * accounting, to its namespace, to its user, and to the machine.
 *
 * Bounds: a namespace may take its own net.speed.mem_max; all together may take
 * that of the initial namespace; a user other than root may take half of that,
 * wherever its namespaces are.
 *
 * charge_lock of a socket is taken under a role's lock. users_lock is a leaf.
 */
#include <linux/hashtable.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "charge.h"
#include "family.h"
#include "net.h"
#include "poll.h"

/**
 * struct speed_user - what one user holds, in all namespaces
 * @node: by uid
 * @refs: sockets
 * @uid: the user
 * @bytes: charged
 * @mapped: of AF_SPEED's rings and of TCP's, what counts as mapped by it; share.c's
 */
struct speed_user {
	struct hlist_node node;
	refcount_t refs;
	kuid_t uid;
	atomic_long_t bytes;
	long mapped[2];
};

static DEFINE_SPINLOCK(users_lock);
static DEFINE_HASHTABLE(users, 6);

static atomic_long_t memory_allocated;
static DEFINE_PER_CPU(int, memory_fw_alloc);

/*
 * The socket layer's own limits never decide: ours do. sk_has_account() wants
 * the counters all the same, and with them come the control groups. The second
 * limit, of memory pressure, which we have not, is passed at once, so that
 * SO_RESERVE_MEM always fails: it would change sk_forward_alloc under a lock
 * that is not ours.
 */
static long sysctl_mem[3] = { LONG_MAX / 2, -1, LONG_MAX / 2 };
static int sysctl_bufs[3] = { 4096, 1 << 18, 1 << 30 };

struct proto speed_proto = {
	.name			= "SPEED",
	.owner			= THIS_MODULE,
	.obj_size		= sizeof(struct speed_sock),
	.release_cb		= speed_release_cb,
	.memory_allocated	= &memory_allocated,
	.per_cpu_fw_alloc	= &memory_fw_alloc,
	.sysctl_mem		= sysctl_mem,
	.sysctl_wmem		= sysctl_bufs,
	.sysctl_rmem		= sysctl_bufs,
};

static u32 uid_hash(kuid_t uid)
{
	return __kuid_val(uid);
}

static struct speed_user *user_find(kuid_t uid)
{
	struct speed_user *user;

	hash_for_each_possible(users, user, node, uid_hash(uid))
		if (uid_eq(user->uid, uid) && refcount_inc_not_zero(&user->refs))
			return user;
	return NULL;
}

/**
 * speed_user_get() - the account of a user
 * @uid: of the user, in the initial user namespace's terms
 *
 * Context: may sleep.
 * Return: the account, to be put, or NULL where memory is short.
 */
struct speed_user *speed_user_get(kuid_t uid)
{
	struct speed_user *user, *fresh;

	spin_lock(&users_lock);
	user = user_find(uid);
	spin_unlock(&users_lock);
	if (user)
		return user;
	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL);
	if (!fresh)
		return NULL;
	refcount_set(&fresh->refs, 1);
	fresh->uid = uid;
	spin_lock(&users_lock);
	user = user_find(uid);
	if (!user)
		hash_add(users, &fresh->node, uid_hash(uid));
	spin_unlock(&users_lock);
	if (!user)
		return fresh;
	kfree(fresh);
	return user;
}

void speed_user_put(struct speed_user *user)
{
	bool last = false;

	if (!user || refcount_dec_not_one(&user->refs))
		return;
	spin_lock(&users_lock);
	if (refcount_dec_and_test(&user->refs)) {
		hash_del(&user->node);
		last = true;
	}
	spin_unlock(&users_lock);
	if (!last)
		return;
	WARN_ON_ONCE(atomic_long_read(&user->bytes) || user->mapped[0] || user->mapped[1]);
	kfree(user);
}

struct speed_user *speed_user_hold(struct speed_user *user)
{
	refcount_inc(&user->refs);
	return user;
}

/**
 * speed_charge_group_of() - have an endpoint's memory charged where its listener's is
 * @child: the endpoint, made by who connects, and with nothing charged
 * @listener: the listener
 */
void speed_charge_group_of(struct sock *child, const struct sock *listener)
{
#ifdef CONFIG_MEMCG
	if (listener->sk_memcg)
		css_get(&listener->sk_memcg->css);
	if (child->sk_memcg)
		css_put(&child->sk_memcg->css);
	child->sk_memcg = listener->sk_memcg;
#endif
}

static bool take(atomic_long_t *count, long bytes, unsigned long max)
{
	if ((unsigned long)atomic_long_add_return(bytes, count) <= max)
		return true;
	atomic_long_sub(bytes, count);
	return false;
}

/**
 * speed_user_max() - what a user may have of a bound
 * @user: the user
 * @all: the bound, bytes
 *
 * Return: bytes.
 */
unsigned long speed_user_max(const struct speed_user *user, unsigned long all)
{
	return uid_eq(user->uid, GLOBAL_ROOT_UID) ? all : all / 2;
}

long *speed_user_mapped(struct speed_user *user)
{
	return user->mapped;
}

/**
 * speed_charge_bounds() - take from what namespace, user and machine may have
 * @net: the namespace
 * @user: the user
 * @bytes: how much
 *
 * Context: any.
 * Return: 0, or -ENOBUFS where a bound is reached.
 */
int speed_charge_bounds(struct net *net, struct speed_user *user, size_t bytes)
{
	unsigned long all = READ_ONCE(speed_net(&init_net)->mem_max);

	if (!take(&user->bytes, bytes, speed_user_max(user, all)))
		return -ENOBUFS;
	if (!take(&speed_net(&init_net)->mem, bytes, all))
		goto put_user;
	if (net_eq(net, &init_net) ||
	    take(&speed_net(net)->mem, bytes, READ_ONCE(speed_net(net)->mem_max)))
		return 0;
	atomic_long_sub(bytes, &speed_net(&init_net)->mem);
put_user:
	atomic_long_sub(bytes, &user->bytes);
	return -ENOBUFS;
}

void speed_uncharge_bounds(struct net *net, struct speed_user *user, size_t bytes)
{
	atomic_long_sub(bytes, &user->bytes);
	atomic_long_sub(bytes, &speed_net(&init_net)->mem);
	if (!net_eq(net, &init_net))
		atomic_long_sub(bytes, &speed_net(net)->mem);
}

/*
 * As for received bytes: for bytes to send, the socket layer charges a control
 * group beyond its limit and cuts the socket's send buffer instead.
 */
static bool schedule_bytes(struct sock *sk, size_t bytes)
{
	int more = (int)bytes - sk->sk_forward_alloc;

	return more <= 0 || __sk_mem_schedule(sk, more, SK_MEM_RECV);
}

/**
 * speed_charge() - make a socket pay for memory
 * @sk: the socket, held for as long as the charge lasts
 * @bytes: how much, at most INT_MAX
 *
 * Context: may sleep; takes the socket's charge_lock.
 * Return: 0, or -ENOBUFS where a bound is reached.
 */
int speed_charge(struct sock *sk, size_t bytes)
{
	struct speed_sock *ss = speed_sk(sk);
	int err = speed_charge_bounds(sock_net(sk), ss->user, bytes);

	if (err)
		return err;
	mutex_lock(&ss->charge_lock);
	if (schedule_bytes(sk, bytes))
		sk_mem_charge(sk, bytes);
	else
		err = -ENOBUFS;
	mutex_unlock(&ss->charge_lock);
	if (err)
		speed_uncharge_bounds(sock_net(sk), ss->user, bytes);
	return err;
}

/**
 * speed_uncharge() - end a charge
 * @sk: who paid
 * @bytes: how much
 *
 * Context: may sleep; takes the socket's charge_lock.
 */
void speed_uncharge(struct sock *sk, size_t bytes)
{
	struct speed_sock *ss = speed_sk(sk);

	mutex_lock(&ss->charge_lock);
	sk_mem_uncharge(sk, bytes);
	mutex_unlock(&ss->charge_lock);
	speed_uncharge_bounds(sock_net(sk), ss->user, bytes);
}

void speed_charge_exit(void)
{
	WARN_ON_ONCE(!hash_empty(users));
}
