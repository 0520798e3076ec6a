// SPDX-License-Identifier: GPL-2.0
/*
 * SO_RCVLOWAT of a TCP socket whose calls are ours. TCP wakes for bytes of its own queue, of
 * which the sum with the ring's is not made up: who wants more than one byte has all of them
 * on TCP, those that lie in the ring as well.
 */
#include <linux/bpf.h>
#include <net/sock.h>

#include "shim.h"
#include "shim_proto.h"
#include "tell.h"

/* Somebody has to be waited for: not with the socket locked, which he may want. */
static int bring_unlocked(struct sock *sk, struct shim *shim)
{
	int err;

	atomic_inc(&shim->calls);
	release_sock(sk);
	err = shim_bring_home(shim, SPEED_TCP_ODD);
	lock_sock(sk);
	atomic_dec(&shim->calls);
	/* Another thread may have asked for less meanwhile, or for a ULP. */
	if (!err && shim_of(sk) == shim)
		err = shim_bring_home_locked(shim, SPEED_TCP_ODD);
	return err == -EAGAIN ? -EBUSY : err;
}

/* A BPF program asks in softirq, or where it may not sleep: nothing can be brought there. */
static int bar_only(struct shim *shim)
{
	shim_bar(shim, SPEED_TCP_ODD, true);
	return shim_pair(shim) ? -EBUSY : 0;	/* one that is made now is barred */
}

static int lowat_is_odd(struct sock *sk, struct shim *shim)
{
	int err;

	if (!sock_owned_by_user(sk) || has_current_bpf_ctx())
		err = bar_only(shim);
	else
		err = shim_bring_home_locked(shim, SPEED_TCP_ODD);
	if (err == -EAGAIN)
		err = bring_unlocked(sk, shim);
	if (err && sk->sk_rcvlowat <= 1)
		shim_bar(shim, SPEED_TCP_ODD, false);
	return err;
}

int shim_set_rcvlowat(struct sock *sk, int val)
{
	struct shim *shim = shim_of(sk);
	struct speed_pair *pair;
	int err = 0;

	if (shim && val > 1)
		err = lowat_is_odd(sk, shim);
	else if (shim)
		shim_bar(shim, SPEED_TCP_ODD, false);
	if (err)
		return err;
	shim = shim_of(sk);
	err = shim_tcp_of(sk)->ops->set_rcvlowat(sk, val);
	pair = shim ? shim_pair(shim) : NULL;
	/* TCP tells again of bytes that are enough now, where they are its own. */
	if (pair && shim_tcp_unread(sk) < sock_rcvlowat(sk, 0, INT_MAX) && shim_is_readable(sk))
		speed_tell_data(pair, sk);
	return err;
}
