// SPDX-License-Identifier: GPL-2.0
/*
 * Accounting. Every byte of data pages and of overflow is charged to one
 * socket, the sender's: to its control group through the socket's own
 * accounting, and to its namespace, its user and the machine (user.c).
 *
 * charge_lock of a socket is taken under a role's lock, and held while a control group has
 * who charges wait. To give back is anybody's, the reaper's too, who must not wait for that:
 * it is noted as a debt, and settled at once where the lock is free, or by its holder.
 */
#include <net/sock.h>

#include "charge.h"
#include "family.h"
#include "poll.h"

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

/*
 * As for received bytes: for bytes to send, the socket layer charges a control
 * group beyond its limit and cuts the socket's send buffer instead.
 */
static bool schedule_bytes(struct sock *sk, size_t bytes)
{
	int more = (int)bytes - sk->sk_forward_alloc;

	return more <= 0 || __sk_mem_schedule(sk, more, SK_MEM_RECV);
}

/* What was given back, by who has the lock, or is the last. */
static void settle(struct speed_sock *ss)
{
	long bytes = atomic_long_xchg(&ss->debt, 0);

	if (bytes)
		sk_mem_uncharge(&ss->sk, bytes);
}

/* Somebody else who has the lock settles when he has given it back. */
static void settle_now(struct speed_sock *ss)
{
	smp_mb();	/* the debt, or the lock given back, before the look at the other */
	while (atomic_long_read(&ss->debt) && mutex_trylock(&ss->charge_lock)) {
		settle(ss);
		mutex_unlock(&ss->charge_lock);
		smp_mb();	/* as above */
	}
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
	settle_now(ss);
	if (err)
		speed_uncharge_bounds(sock_net(sk), ss->user, bytes);
	return err;
}

/**
 * speed_uncharge() - end a charge
 * @sk: who paid
 * @bytes: how much
 *
 * Context: process; waits for nobody.
 */
void speed_uncharge(struct sock *sk, size_t bytes)
{
	struct speed_sock *ss = speed_sk(sk);

	speed_uncharge_bounds(sock_net(sk), ss->user, bytes);
	atomic_long_add(bytes, &ss->debt);
	settle_now(ss);
}

/**
 * speed_charge_end() - nothing is charged to a socket any more
 * @sk: the socket, which nobody else has
 *
 * Context: any.
 */
void speed_charge_end(struct sock *sk)
{
	settle(speed_sk(sk));
	sk_mem_reclaim_final(sk);
}
