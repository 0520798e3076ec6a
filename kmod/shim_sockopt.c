// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options of a TCP socket whose calls are ours: our own, at SOL_SPEED, and
 * those of TCP that a ring does not go with. Before one of these is passed on,
 * the socket's bytes are brought to TCP's queues.
 */
#include <linux/sockptr.h>
#include <linux/uaccess.h>
#include <net/sock.h>

#include "lease.h"
#include "shim.h"
#include "shim_proto.h"
#include "sockopt.h"

#define SPEED_TCP_AO_ADD_KEY	38	/* TCP_AO_ADD_KEY, since 6.7 */

static int pass_set(struct sock *sk, int level, int name, sockptr_t val, unsigned int len)
{
	/* The calls of now: they may have changed meanwhile. */
	const struct proto *prot = READ_ONCE(sk->sk_prot);
	struct shim *shim = shim_of(sk);

	if (shim)
		prot = shim->base->prot;
	return prot->setsockopt(sk, level, name, val, len);
}

/* Who maps the ring that it sends by would go on, past TCP's own calls. */
static void stop_sending(struct shim *shim)
{
	struct speed_pair *pair = shim_pair(shim);

	if (pair)
		speed_lease_drop(shim_tx_ring(shim, pair), SPEED_ROLE_TX);
}

/* Give the ULP slot away, with nothing of the stream left in the ring. */
static int let_go(struct sock *sk, struct shim *shim)
{
	int err = shim_bring_home(shim, SPEED_TCP_ULP);

	if (err)
		return err;
	stop_sending(shim);
	lock_sock(sk);
	/* Once more: another thread that had no luck may have let the ring be used again. */
	if (shim_of(sk) == shim)
		err = shim_bring_home_locked(shim, SPEED_TCP_ULP) ?: shim_detach(sk);
	if (err)
		shim_bar(shim, SPEED_TCP_ULP, false);
	release_sock(sk);
	return err == -EAGAIN ? -EBUSY : err;
}

/* Another ULP gets the slot; ours is asked for by name once, as any other. */
static int set_ulp(struct sock *sk, struct shim *shim, sockptr_t val, unsigned int len)
{
	char name[TCP_ULP_NAME_MAX] = {};
	int err;

	if (len < 1)
		return -EINVAL;
	if (copy_from_sockptr(name, val, min_t(unsigned int, len, TCP_ULP_NAME_MAX - 1)))
		return -EFAULT;
	if (!strcmp(name, "speed")) {
		if (shim->asked)
			return -EEXIST;
		shim->asked = true;
		return 0;
	}
	/* One that there is: it finds the slot taken. TLS wants a connection. */
	err = pass_set(sk, SOL_TCP, TCP_ULP, val, len);
	if (err != -EEXIST)
		return err;
	if (sk->sk_state != TCP_ESTABLISHED)
		return -ENOTCONN;
	return let_go(sk, shim) ?: pass_set(sk, SOL_TCP, TCP_ULP, val, len);
}

#if IS_ENABLED(CONFIG_IPV6)
/* An IPv6 socket becomes one of IPv4, with other calls: what it says to that. */
static int set_addrform(struct sock *sk, struct shim *shim, sockptr_t val, unsigned int len)
{
	int family, err = 0;

	if (len < sizeof(family) || copy_from_sockptr(&family, val, sizeof(family)) ||
	    family != PF_INET)
		return pass_set(sk, SOL_IPV6, IPV6_ADDRFORM, val, len);
	if (sk->sk_state != TCP_ESTABLISHED)
		err = -ENOTCONN;
	else if (ipv6_only_sock(sk) || !ipv6_addr_v4mapped(&sk->sk_v6_daddr))
		err = -EADDRNOTAVAIL;
	return err ?: let_go(sk, shim) ?: pass_set(sk, SOL_IPV6, IPV6_ADDRFORM, val, len);
}
#else
static int set_addrform(struct sock *sk, struct shim *shim, sockptr_t val, unsigned int len)
{
	return pass_set(sk, SOL_IPV6, IPV6_ADDRFORM, val, len);
}
#endif

static int set_repair(struct sock *sk, struct shim *shim, sockptr_t val, unsigned int len)
{
	int err, on;

	if (len < sizeof(on) || copy_from_sockptr(&on, val, sizeof(on)))
		return pass_set(sk, SOL_TCP, TCP_REPAIR, val, len);
	err = on == TCP_REPAIR_ON ? shim_bring_home(shim, SPEED_TCP_REPAIR) : 0;
	if (!err)
		err = pass_set(sk, SOL_TCP, TCP_REPAIR, val, len);
	if (!tcp_sk(sk)->repair)
		shim_bar(shim, SPEED_TCP_REPAIR, false);
	return err;
}

static int set_tcp(struct sock *sk, struct shim *shim, int name, sockptr_t val, unsigned int len)
{
	int err;

	switch (name) {
	case TCP_ULP:
		return set_ulp(sk, shim, val, len);
	case TCP_REPAIR:
		return set_repair(sk, shim, val, len);
	case TCP_MD5SIG:
	case TCP_MD5SIG_EXT:
	case SPEED_TCP_AO_ADD_KEY:
		err = pass_set(sk, SOL_TCP, name, val, len);
		shim_bar(shim, SPEED_TCP_SIGNED, shim_signed(sk));
		return err;
	}
	return pass_set(sk, SOL_TCP, name, val, len);
}

static int set_fuse(struct shim *shim, sockptr_t val, unsigned int len)
{
	u32 wish;

	if (len != sizeof(wish))
		return -EINVAL;
	if (copy_from_sockptr(&wish, val, sizeof(wish)))
		return -EFAULT;
	if (wish > 1)
		return -EINVAL;
	shim_bar(shim, SPEED_TCP_REQUEST, !wish);
	return 0;
}

static int set_ours(struct shim *shim, int name, sockptr_t val, unsigned int len)
{
	struct speed_pair *pair;

	if (name == SPEED_FUSE)
		return set_fuse(shim, val, len);
	if (name != SPEED_UNLEASE)
		return -ENOPROTOOPT;
	pair = shim_pair(shim);
	return speed_set_unlease(pair, shim->end, val, len);
}

static int set_counted(struct sock *sk, struct shim *shim, int level, int name, sockptr_t val,
		       unsigned int len)
{
	if (level == SOL_SPEED)
		return set_ours(shim, name, val, len);
	if (level == SOL_TCP)
		return set_tcp(sk, shim, name, val, len);
	if (level == SOL_IPV6 && name == IPV6_ADDRFORM && sk->sk_family == AF_INET6)
		return set_addrform(sk, shim, val, len);
	return pass_set(sk, level, name, val, len);
}

/**
 * shim_setsockopt() - setsockopt() below SOL_SOCKET
 * @sk: the socket
 * @level: SOL_SPEED, or one of TCP's
 * @name: the option
 * @val: its value
 * @len: its size, bytes
 *
 * Return: 0 or the error.
 */
int shim_setsockopt(struct sock *sk, int level, int name, sockptr_t val, unsigned int len)
{
	struct shim *shim = shim_of(sk);
	int err;

	if (!shim)
		return shim_tcp_of(sk)->prot->setsockopt(sk, level, name, val, len);
	atomic_inc(&shim->calls);
	err = set_counted(sk, shim, level, name, val, len);
	atomic_dec(&shim->calls);
	return err;
}

static int put_value(char __user *val, int __user *len, const void *from, int size)
{
	int room;

	if (get_user(room, len))
		return -EFAULT;
	if (room != size)
		return -EINVAL;
	return copy_to_user(val, from, size) ? -EFAULT : 0;
}

static int get_ours(struct shim *shim, int name, char __user *val, int __user *len)
{
	struct speed_pair *pair = shim_pair(shim);
	struct speed_fusion fusion = {};
	u32 word;

	switch (name) {
	case SPEED_MAGIC:
	case SPEED_INFO:
	case SPEED_LEASE:
	case SPEED_SETTLE:
		/* As with AF_SPEED. The end is known once the pair is. */
		return speed_get(shim->sk, pair, shim->end, name, val, len);
	case SPEED_FUSE:
		word = !(READ_ONCE(shim->bars) & BIT(SPEED_TCP_REQUEST));
		return put_value(val, len, &word, sizeof(word));
	case SPEED_FUSION:
		shim_tell_fusion(shim, &fusion);
		return put_value(val, len, &fusion, sizeof(fusion));
	}
	return -ENOPROTOOPT;
}

static int get_counted(struct sock *sk, struct shim *shim, int level, int name,
		       char __user *val, int __user *len)
{
	int err = 0;

	if (level == SOL_SPEED)
		return get_ours(shim, name, val, len);
	if (level == SOL_TCP && name == TCP_INFO) {
		lock_sock(sk);
		shim_tell_counters(shim);
		release_sock(sk);
	}
	if (level == SOL_TCP && name == TCP_ZEROCOPY_RECEIVE)
		err = shim_bring_home(shim, SPEED_TCP_ZEROCOPY);
	return err ?: shim->base->prot->getsockopt(sk, level, name, val, len);
}

/**
 * shim_getsockopt() - getsockopt() below SOL_SOCKET
 * @sk: the socket
 * @level: SOL_SPEED, or one of TCP's
 * @name: the option
 * @val: where to
 * @len: its size, bytes
 *
 * Return: 0 or the error.
 */
int shim_getsockopt(struct sock *sk, int level, int name, char __user *val, int __user *len)
{
	struct shim *shim = shim_of(sk);
	int err;

	if (!shim)
		return shim_tcp_of(sk)->prot->getsockopt(sk, level, name, val, len);
	atomic_inc(&shim->calls);
	err = get_counted(sk, shim, level, name, val, len);
	atomic_dec(&shim->calls);
	return err;
}
