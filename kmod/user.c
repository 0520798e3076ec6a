// SPDX-License-Identifier: GPL-2.0
/*
 * Users, and what they, namespaces and the machine may have: a namespace may take its
 * own net.speed.mem_max; all together may take that of the initial namespace; a user
 * other than root may take half of that, wherever its namespaces are.
 *
 * users_lock is a leaf; the last socket of a user may end in a softirq.
 */
#include <linux/hashtable.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "charge.h"
#include "net.h"

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

	spin_lock_bh(&users_lock);
	user = user_find(uid);
	spin_unlock_bh(&users_lock);
	if (user)
		return user;
	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL);
	if (!fresh)
		return NULL;
	refcount_set(&fresh->refs, 1);
	fresh->uid = uid;
	spin_lock_bh(&users_lock);
	user = user_find(uid);
	if (!user)
		hash_add(users, &fresh->node, uid_hash(uid));
	spin_unlock_bh(&users_lock);
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
	spin_lock_bh(&users_lock);
	if (refcount_dec_and_test(&user->refs)) {
		hash_del(&user->node);
		last = true;
	}
	spin_unlock_bh(&users_lock);
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

/**
 * speed_charge_short() - is there less left of a namespace's bound?
 * @net: the namespace; the initial one's bound is the machine's
 * @bytes: than so much
 *
 * Context: any.
 */
bool speed_charge_short(struct net *net, size_t bytes)
{
	const struct speed_net *sn = speed_net(net);

	return atomic_long_read(&sn->mem) + bytes > READ_ONCE(sn->mem_max);
}

/**
 * speed_user_short() - is there less left of a user's bound?
 * @user: the user
 * @bytes: than so much
 *
 * Context: any.
 */
bool speed_user_short(const struct speed_user *user, size_t bytes)
{
	unsigned long all = READ_ONCE(speed_net(&init_net)->mem_max);

	return atomic_long_read(&user->bytes) + bytes > speed_user_max(user, all);
}

void speed_uncharge_bounds(struct net *net, struct speed_user *user, size_t bytes)
{
	atomic_long_sub(bytes, &user->bytes);
	atomic_long_sub(bytes, &speed_net(&init_net)->mem);
	if (!net_eq(net, &init_net))
		atomic_long_sub(bytes, &speed_net(net)->mem);
}

void speed_charge_exit(void)
{
	WARN_ON_ONCE(!hash_empty(users));
}
