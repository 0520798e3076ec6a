// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses in a network namespace. bind_lock covers the namespace's table; it
 * is a leaf. A look-up returns a held socket that was bound a moment ago.
 */
#include <linux/cred.h>
#include <linux/fs_struct.h>
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "addr.h"
#include "family.h"
#include "net.h"

#define ADDR_BARE	offsetofend(struct speed_sockaddr, sp_family)
#define ADDR_NUMBER	offsetof(struct speed_sockaddr, sp_name)

/**
 * speed_addr_parse() - validate a socket address
 * @from: struct speed_sockaddr, in kernel memory
 * @len: its length in bytes
 * @addr: number, name and length are set, both empty where autobind is asked
 *
 * Return: 0 or -EINVAL.
 */
int speed_addr_parse(const void *from, int len, struct speed_addr *addr)
{
	const struct speed_sockaddr *sa = from;

	memset(addr, 0, sizeof(*addr));
	if (len < (int)ADDR_BARE || len > (int)sizeof(*sa) || sa->sp_family != speed_family)
		return -EINVAL;
	if (len == ADDR_BARE)
		return 0;
	if (len < (int)ADDR_NUMBER || sa->sp_reserved)
		return -EINVAL;
	addr->number = sa->sp_number;
	addr->len = strnlen(sa->sp_name, len - ADDR_NUMBER);
	memcpy(addr->name, sa->sp_name, addr->len);
	return addr->number && addr->len ? -EINVAL : 0;
}

/**
 * speed_addr_tell() - the socket address of an address
 * @addr: the address, or NULL
 * @to: struct speed_sockaddr
 *
 * Return: its length.
 */
int speed_addr_tell(const struct speed_addr *addr, void *to)
{
	struct speed_sockaddr *sa = to;

	memset(sa, 0, sizeof(*sa));
	sa->sp_family = speed_family;
	if (!addr)
		return ADDR_BARE;
	sa->sp_number = addr->number;
	memcpy(sa->sp_name, addr->name, addr->len);
	return ADDR_NUMBER + addr->len;
}

static bool same(const struct speed_addr *a, const struct speed_addr *b)
{
	return a->number == b->number && a->len == b->len && !memcmp(a->name, b->name, a->len);
}

static struct hlist_head *bucket(struct speed_net *sn, const struct speed_addr *addr)
{
	return &sn->binds[jhash(addr->name, addr->len, addr->number) &
			  ((1 << SPEED_BIND_BITS) - 1)];
}

static struct speed_addr *find_locked(struct speed_net *sn, const struct speed_addr *want)
{
	struct speed_addr *addr;

	lockdep_assert_held(&sn->bind_lock);
	hlist_for_each_entry(addr, bucket(sn, want), node)
		if (same(addr, want))
			return addr;
	return NULL;
}

/* A free number of the upper half; there are more of them than sockets. */
static void pick_number(struct speed_net *sn, struct speed_addr *addr)
{
	addr->number = SPEED_NUMBER_AUTO | sn->next_auto++;
	while (find_locked(sn, addr))
		addr->number = SPEED_NUMBER_AUTO | get_random_u32();
}

static struct speed_addr *addr_new(struct sock *sk, const struct speed_addr *want)
{
	struct speed_addr *addr = kmemdup(want, sizeof(*want), GFP_KERNEL_ACCOUNT);

	if (!addr)
		return NULL;
	refcount_set(&addr->refs, 1);
	addr->mode = SOCK_INODE(sk->sk_socket)->i_mode & ~current_umask() & 0777;
	current_fsuid_fsgid(&addr->uid, &addr->gid);
	addr->sk = sk;
	return addr;
}

/**
 * speed_addr_bind() - bind a socket
 * @sk: the socket, locked, not bound yet
 * @want: the address, or an empty one for autobind
 *
 * Context: process, may sleep.
 * Return: 0, -EADDRINUSE, -EACCES for a reserved number, -ENOMEM.
 */
int speed_addr_bind(struct sock *sk, const struct speed_addr *want)
{
	struct speed_net *sn = speed_net(sock_net(sk));
	struct speed_addr *addr;
	int err = 0;

	if (want->number && want->number < SPEED_NUMBER_RESERVED &&
	    !ns_capable(sock_net(sk)->user_ns, CAP_NET_BIND_SERVICE))
		return -EACCES;
	addr = addr_new(sk, want);
	if (!addr)
		return -ENOMEM;
	spin_lock(&sn->bind_lock);
	if (!addr->number && !addr->len)
		pick_number(sn, addr);
	else if (find_locked(sn, addr))
		err = -EADDRINUSE;
	if (!err) {
		hlist_add_head(&addr->node, bucket(sn, addr));
		speed_sk(sk)->bound = true;
		smp_store_release(&speed_sk(sk)->addr, addr);	/* speed_sk_addr() */
	}
	spin_unlock(&sn->bind_lock);
	if (err)
		kfree(addr);
	return err;
}

/**
 * speed_addr_unbind() - a socket goes: its address is free again
 * @sk: the socket
 */
void speed_addr_unbind(struct sock *sk)
{
	struct speed_net *sn = speed_net(sock_net(sk));

	if (!speed_sk(sk)->bound)
		return;
	spin_lock(&sn->bind_lock);
	hlist_del_init(&speed_sk(sk)->addr->node);
	speed_sk(sk)->addr->sk = NULL;
	spin_unlock(&sn->bind_lock);
	speed_sk(sk)->bound = false;
}

/**
 * speed_addr_find() - the socket bound to an address
 * @net: the namespace
 * @want: the address
 *
 * Return: the socket, held, or NULL.
 */
struct sock *speed_addr_find(struct net *net, const struct speed_addr *want)
{
	struct speed_net *sn = speed_net(net);
	struct speed_addr *addr;
	struct sock *sk = NULL;

	spin_lock(&sn->bind_lock);
	addr = find_locked(sn, want);
	if (addr) {
		sk = addr->sk;
		sock_hold(sk);
	}
	spin_unlock(&sn->bind_lock);
	return sk;
}

/**
 * speed_addr_permits() - may the current task connect?
 * @sk: who connects
 * @addr: the listener's address
 *
 * As for the file of an AF_UNIX socket: write permission.
 *
 * Return: 0 or -EACCES.
 */
int speed_addr_permits(struct sock *sk, const struct speed_addr *addr)
{
	struct user_namespace *ns = sock_net(sk)->user_ns;
	u32 need = 0002;

	if (uid_eq(addr->uid, current_fsuid()))
		need = 0200;
	else if (in_group_p(addr->gid))
		need = 0020;
	if (READ_ONCE(addr->mode) & need)
		return 0;
	/* As for files: over owners that the namespace knows. */
	if (kuid_has_mapping(ns, addr->uid) && kgid_has_mapping(ns, addr->gid) &&
	    ns_capable(ns, CAP_DAC_OVERRIDE))
		return 0;
	return -EACCES;
}

struct speed_addr *speed_addr_get(struct speed_addr *addr)
{
	if (addr)
		refcount_inc(&addr->refs);
	return addr;
}

void speed_addr_put(struct speed_addr *addr)
{
	if (addr && refcount_dec_and_test(&addr->refs))
		kfree(addr);
}
