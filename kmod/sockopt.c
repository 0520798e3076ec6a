// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options of level SOL_SPEED, and the two of SOL_SOCKET that a mapped
 * consumer could not honour: they take its lease away.
 */
#include <linux/nospec.h>
#include <linux/uaccess.h>
#include <net/sock.h>

#include "addr.h"
#include "compat/compat.h"
#include "family.h"
#include "lease.h"
#include "net.h"
#include "ring.h"
#include "sockopt.h"

static int set_mode(struct sock *sk, u32 mode)
{
	struct speed_addr *addr = speed_sk_addr(sk);

	if (mode & ~0777u)
		return -EINVAL;
	if (!addr || !speed_sk(sk)->bound)
		return -EINVAL;
	WRITE_ONCE(addr->mode, mode);
	return 0;
}

static int unlease(struct speed_pair *pair, int end, u32 role)
{
	if (role >= SPEED_ROLES)
		return -EINVAL;
	return pair ? speed_lease_give_back(pair, end, role) : -ENOTCONN;
}

/**
 * speed_set_unlease() - SPEED_UNLEASE
 * @pair: the socket's pair, or NULL
 * @end: which endpoint it is
 * @val: a __u32, the role
 * @len: its size
 *
 * Return: 0 or the error.
 */
int speed_set_unlease(struct speed_pair *pair, int end, sockptr_t val, unsigned int len)
{
	u32 role;

	if (len != sizeof(role))
		return -EINVAL;
	if (copy_from_sockptr(&role, val, sizeof(role)))
		return -EFAULT;
	return unlease(pair, end, role);
}

/**
 * speed_setsockopt() - setsockopt()
 * @sock: the socket
 * @level: SOL_SPEED, or it is -EOPNOTSUPP
 * @name: the option
 * @val: a __u32
 * @len: its size
 *
 * Return: 0 or the error.
 */
int speed_setsockopt(struct socket *sock, int level, int name, sockptr_t val, unsigned int len)
{
	struct sock *sk = sock->sk;
	u32 mode;

	if (level != SOL_SPEED)
		return -EOPNOTSUPP;
	if (name == SPEED_UNLEASE)
		return speed_set_unlease(speed_sk_pair(sk), speed_sk(sk)->end, val, len);
	if (name != SPEED_MODE)
		return -ENOPROTOOPT;
	if (len != sizeof(mode))
		return -EINVAL;
	if (copy_from_sockptr(&mode, val, sizeof(mode)))
		return -EFAULT;
	return set_mode(sk, mode);
}

static u32 state_of(const struct sock *sk, const struct speed_pair *pair)
{
	if (READ_ONCE(sk->sk_state) == TCP_LISTEN)
		return SPEED_STATE_LISTENING;
	if (!pair)
		return SPEED_STATE_UNCONNECTED;
	return READ_ONCE(sk->sk_shutdown) == SHUTDOWN_MASK ? SPEED_STATE_CLOSED
							   : SPEED_STATE_CONNECTED;
}

static void fill_pair(struct speed_info *info, struct speed_pair *pair, int end)
{
	int role;

	info->pair = pair->id;
	info->side = end;
	for (role = 0; role < SPEED_ROLES; role++) {
		struct speed_ring *ring = speed_pair_ring(pair, end, role);

		info->ring_bytes[role] = speed_ring_held(ring);
		info->bytes[role] = speed_ring_index(ring, role);
		info->leased[role] = READ_ONCE(ring->role[role].epoch);
	}
}

static int get_info(struct sock *sk, struct speed_pair *pair, int end, void *out)
{
	struct speed_info *info = out;

	memset(info, 0, sizeof(*info));
	info->features = SPEED_FEATURE_MAP | SPEED_FEATURE_CALL | SPEED_FEATURE_EPOLL |
			 SPEED_FEATURE_MOVED | SPEED_FEATURE_AGAIN;
	info->state = state_of(sk, pair);
	info->type = sk->sk_type;
	info->spin_us = READ_ONCE(speed_net(sock_net(sk))->spin_us);
	if (pair)
		fill_pair(info, pair, end);
	return 0;
}

static int get_lease(struct sock *sk, struct speed_pair *pair, int end, void *inout)
{
	struct speed_lease *lease = inout;
	u64 cookie = lease->cookie;
	u32 role = lease->role;

	if (role >= SPEED_ROLES || lease->flags || lease->reserved)
		return -EINVAL;
	if (!pair)
		return -ENOTCONN;
	memset(lease, 0, sizeof(*lease));
	lease->role = role;
	lease->cookie = cookie;
	return speed_lease_grant(pair, end, lease);
}

static int get_settle(struct sock *sk, struct speed_pair *pair, int end, void *inout)
{
	struct speed_settle *settle = inout;

	if (settle->role >= SPEED_ROLES || settle->flags || !settle->epoch)
		return -EINVAL;
	if (!pair)
		return -ENOTCONN;
	return speed_lease_settle(pair, end, settle);
}

static int get_magic(struct sock *sk, struct speed_pair *pair, int end, void *out)
{
	*(u32 *)out = SPEED_MAGIC_VALUE;
	return 0;
}

static int get_mode(struct sock *sk, struct speed_pair *pair, int end, void *out)
{
	struct speed_addr *addr = speed_sk_addr(sk);

	if (!addr)
		return -EINVAL;
	*(u32 *)out = READ_ONCE(addr->mode);
	return 0;
}

/* What can be got: how large it is, and whether it is read first. */
static const struct getter {
	int (*get)(struct sock *sk, struct speed_pair *pair, int end, void *inout);
	unsigned int size;
	bool in;
} getters[] = {
	[SPEED_MAGIC]	= { get_magic, sizeof(u32), false },
	[SPEED_INFO]	= { get_info, sizeof(struct speed_info), false },
	[SPEED_LEASE]	= { get_lease, sizeof(struct speed_lease), true },
	[SPEED_SETTLE]	= { get_settle, sizeof(struct speed_settle), true },
	[SPEED_MODE]	= { get_mode, sizeof(u32), false },
};

/**
 * speed_get() - getsockopt() at SOL_SPEED
 * @sk: the socket
 * @pair: its pair, or NULL
 * @end: which endpoint it is
 * @name: the option; SPEED_MODE is AF_SPEED's alone
 * @val: where to, and for some options from
 * @len: its size, exactly
 *
 * A refused lease tells when to ask again: it is copied out with -EAGAIN, too.
 *
 * Return: 0 or the error.
 */
int speed_get(struct sock *sk, struct speed_pair *pair, int end, int name, char __user *val,
	      int __user *len)
{
	union {
		u32 word;
		struct speed_info info;
		struct speed_lease lease;
		struct speed_settle settle;
	} u = {};
	const struct getter *g;
	int size, err;

	if (name < 0 || name >= ARRAY_SIZE(getters) || !getters[name].get)
		return -ENOPROTOOPT;
	g = &getters[array_index_nospec(name, ARRAY_SIZE(getters))];
	if (get_user(size, len))
		return -EFAULT;
	if (size != g->size)
		return -EINVAL;
	if (g->in && copy_from_user(&u, val, g->size))
		return -EFAULT;
	err = g->get(sk, pair, end, &u);
	if (err && err != -EAGAIN)
		return err;
	if (!copy_to_user(val, &u, g->size))
		return err;
	/* A lease that nobody heard of. */
	if (!err && name == SPEED_LEASE)
		unlease(pair, end, u.lease.role);
	return -EFAULT;
}

/**
 * speed_getsockopt() - getsockopt()
 * @sock: the socket
 * @level: SOL_SPEED, or it is -EOPNOTSUPP
 * @name: the option
 * @val: where to, and for some options from
 * @len: its size, exactly
 *
 * Return: 0 or the error.
 */
int speed_getsockopt(struct socket *sock, int level, int name, char __user *val, int __user *len)
{
	struct sock *sk = sock->sk;

	if (level != SOL_SPEED)
		return -EOPNOTSUPP;
	return speed_get(sk, speed_sk_pair(sk), speed_sk(sk)->end, name, val, len);
}

static int end_rx_lease(struct sock *sk)
{
	struct speed_pair *pair = speed_sk_pair(sk);

	if (!pair)
		return 0;
	return speed_lease_drop_killable(speed_pair_ring(pair, speed_sk(sk)->end, SPEED_ROLE_RX),
					 SPEED_ROLE_RX);
}

/**
 * speed_set_peek_off() - SO_PEEK_OFF
 * @sk: the socket
 * @val: offset in bytes, or a negative number for none
 *
 * Return: 0 or -EINTR.
 */
int speed_set_peek_off(struct sock *sk, int val)
{
	int err = speed_compat_set_peek_off(sk, val);

	return err ?: end_rx_lease(sk);
}

/**
 * speed_set_rcvlowat() - SO_RCVLOWAT
 * @sk: the socket
 * @val: bytes
 *
 * Return: 0 or -EINTR.
 */
int speed_set_rcvlowat(struct sock *sk, int val)
{
	WRITE_ONCE(sk->sk_rcvlowat, val ?: 1);
	return end_rx_lease(sk);
}
