// SPDX-License-Identifier: GPL-2.0
/*
 * Seeing connections come: a probe on the tracepoint inet_sock_set_state, there
 * while some namespace has net.speed.loopback on.
 *
 * It runs before the state changes, with the socket locked, in softirq as well:
 * for who connects at SYN_SENT, which is in its own process, or when it is known
 * that its packets are translated to an address of this machine; for who accepts
 * when the child becomes established. The child finds its client, which came
 * before it.
 */
#include <linux/bpf-cgroup.h>
#include <linux/module.h>
#include <linux/tracepoint.h>
#include <net/addrconf.h>
#include <net/inet_connection_sock.h>
#include <net/route.h>

#include "compat/compat.h"
#include "net.h"
#include "ports.h"
#include "shim.h"
#include "shim_proto.h"
#include "stats.h"

static struct tracepoint *set_state;
static DEFINE_MUTEX(probe_lock);	/* users */
static unsigned int users;

static bool has_sock_ops(const struct sock *sk)
{
#ifdef CONFIG_CGROUP_BPF
	return cgroup_bpf_enabled(CGROUP_SOCK_OPS) &&
	       cgroup_bpf_sock_enabled((struct sock *)sk, CGROUP_SOCK_OPS);
#else
	return false;
#endif
}

/**
 * shim_signed() - are segments signed, by MD5 or AO?
 * @sk: the socket, locked
 */
bool shim_signed(const struct sock *sk)
{
#ifdef CONFIG_TCP_MD5SIG
	if (rcu_access_pointer(tcp_sk(sk)->md5sig_info))
		return true;
#endif
#ifdef CONFIG_TCP_AO
	if (rcu_access_pointer(tcp_sk(sk)->ao_info))
		return true;
#endif
	return false;
}

static bool wants_smc(const struct sock *sk)
{
#if IS_ENABLED(CONFIG_SMC)
	return tcp_sk(sk)->syn_smc;
#else
	return false;
#endif
}

/**
 * shim_unfit() - may the shim be attached to a socket?
 * @sk: the socket, locked
 *
 * Return: SPEED_TCP_FUSED, or the reason against it.
 */
u32 shim_unfit(const struct sock *sk)
{
	if (inet_csk(sk)->icsk_ulp_ops || READ_ONCE(sk->sk_user_data))
		return SPEED_TCP_ULP;
	if (sk_is_mptcp(sk))
		return SPEED_TCP_MPTCP;
	if (!shim_base_of(sk))
		return SPEED_TCP_ULP;
	if (shim_signed(sk))
		return SPEED_TCP_SIGNED;
	if (wants_smc(sk))
		return SPEED_TCP_SMC;
	if (tcp_sk(sk)->fastopen_req)
		return SPEED_TCP_FASTOPEN;
	return has_sock_ops(sk) ? SPEED_TCP_CGROUP : SPEED_TCP_FUSED;
}

static bool local4(struct net *net, __be32 to)
{
	return ipv4_is_loopback(to) || inet_addr_type(net, to) == RTN_LOCAL;
}

#if IS_ENABLED(CONFIG_IPV6)
static bool local6(struct net *net, const struct in6_addr *to)
{
	return ipv6_addr_loopback(to) || ipv6_chk_addr(net, to, NULL, 0);
}
#endif

static bool is_local(const struct sock *sk)
{
	struct net *net = sock_net(sk);

#if IS_ENABLED(CONFIG_IPV6)
	if (shim_is_ip6(sk))
		return local6(net, &sk->sk_v6_daddr);
	if (sk->sk_family == AF_INET6)
		return local4(net, sk->sk_v6_daddr.s6_addr32[3]);
#endif
	return local4(net, sk->sk_daddr);
}

static bool comes_from_here(const struct sock *sk, const struct shim_names *back)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (shim_is_ip6(sk))
		return local6(sock_net(sk), &back->from.in6);
#endif
	return local4(sock_net(sk), back->from.ip);
}

static struct shim *attach(struct sock *sk, struct shim *peer, bool late)
{
	u32 unfit = shim_unfit(sk);
	struct shim *shim;

	if (!unfit && !shim_try_use())
		return NULL;
	shim = unfit ? NULL : shim_attach(sk, peer, late, GFP_ATOMIC);
	if (shim)
		return shim;
	shim_refuse(sk, unfit ?: SPEED_TCP_MEMORY);
	if (!unfit)
		module_put(THIS_MODULE);
	return NULL;
}

static u32 who_in_the_kernel(const struct sock *sk)
{
	if (sk_is_mptcp(sk))
		return SPEED_TCP_MPTCP;
	return wants_smc(sk) ? SPEED_TCP_SMC : SPEED_TCP_KERNEL;
}

static void client_comes(struct sock *sk, const struct speed_net *sn)
{
	struct shim *shim = shim_of(sk);

	/* One that has failed to connect before, or was asked for. */
	if (shim)
		return;
	if (sk->sk_kern_sock)
		shim_refuse(sk, who_in_the_kernel(sk));
	else if (!speed_port_allowed(sn, ntohs(sk->sk_dport)))
		shim_refuse(sk, SPEED_TCP_PORT);
	else if (is_local(sk))
		shim = attach(sk, NULL, false);
	if (shim && shim_others_call(sk))
		shim_wait_calls(shim);
}

/* Connected elsewhere, by its names; a translation may have kept it here. */
static void client_arrives(struct sock *sk, const struct speed_net *sn)
{
	struct shim_names back;
	struct shim *shim;

	if (shim_of(sk) || sk->sk_kern_sock || !shim_translated(sk, &back) ||
	    !comes_from_here(sk, &back) || !speed_port_allowed(sn, ntohs(back.from_port)))
		return;
	shim = attach(sk, NULL, true);
	if (shim)
		shim_wait_calls(shim);
}

/* In one piece of memory with its client: the pair is made when there are bytes. */
static void join(struct shim *shim, struct sock *peer)
{
	if (!shim->slot)
		shim_join(shim, peer);
	else if (shim_join_soon(shim, peer))
		speed_count(SPEED_STAT_TCP_PAIRED);
}

static void child_comes(struct sock *sk, const struct speed_net *sn)
{
	struct shim *shim = shim_of(sk), *other;
	struct sock *peer;
	bool local;

	if (!shim && !(READ_ONCE(sn->loopback) && speed_port_allowed(sn, inet_sk(sk)->inet_num)))
		return;
	local = is_local(sk);
	if (!shim && !local)
		return;
	if (!shim && sk->sk_kern_sock && !SPEED_MPTCP_ACCEPTS_OURS) {
		shim_refuse(sk, SPEED_TCP_KERNEL);
		return;
	}
	/* TCP Fast Open: accepted, and perhaps read from, before this. */
	if (!shim && sk->sk_socket) {
		shim_refuse(sk, SPEED_TCP_FASTOPEN);
		return;
	}
	/* A listener that asked by name has children that come from afar, too. */
	peer = shim_find_peer(sk, local);
	if (!peer) {
		if (local)
			shim_refuse(sk, SPEED_TCP_PEER);
		return;
	}
	other = shim_of(peer);
	if (!other)
		shim_refuse(sk, SPEED_TCP_PEER);
	else if (!shim)
		shim = attach(sk, other, false);
	if (shim) {
		/* A kernel's, or MPTCP's that may yet become a program's. */
		if (sk->sk_kern_sock)
			shim_bar(shim, SPEED_TCP_KERNEL, true);
		if (sk->sk_socket)
			shim_wait_calls(shim);
		join(shim, peer);
	}
	sock_put(peer);
}

static void on_set_state(void *data, const struct sock *csk, const int old, const int state)
{
	struct sock *sk = (struct sock *)csk;
	const struct speed_net *sn;

	if (state > TCP_SYN_SENT || sk->sk_protocol != IPPROTO_TCP ||
	    (state == TCP_ESTABLISHED && old != TCP_SYN_RECV &&
	     (old != TCP_SYN_SENT || !shim_tracked())))
		return;
	rcu_read_lock();
	sn = speed_net(sock_net(sk));
	if (state == TCP_SYN_SENT && READ_ONCE(sn->loopback))
		client_comes(sk, sn);
	else if (state == TCP_ESTABLISHED && old == TCP_SYN_RECV)
		child_comes(sk, sn);
	else if (state == TCP_ESTABLISHED && READ_ONCE(sn->loopback))
		client_arrives(sk, sn);
	rcu_read_unlock();
}

static void find_tracepoint(struct tracepoint *tp, void *found)
{
	if (!strcmp(tp->name, "inet_sock_set_state"))
		*(struct tracepoint **)found = tp;
}

/**
 * shim_probe_on() - a namespace wants its connections seen
 *
 * Context: process.
 * Return: 0, -ENOENT where this kernel has no such tracepoint, or another error.
 */
int shim_probe_on(void)
{
	int err = 0;

	mutex_lock(&probe_lock);
	if (!set_state)
		for_each_kernel_tracepoint(find_tracepoint, &set_state);
	if (!set_state)
		err = -ENOENT;
	else if (!users)
		err = tracepoint_probe_register(set_state, on_set_state, NULL);
	if (!err)
		users++;
	mutex_unlock(&probe_lock);
	return err;
}

/**
 * shim_probe_off() - it does not any more
 *
 * When the last one says so, the probe has left before this returns.
 *
 * Context: process.
 */
void shim_probe_off(void)
{
	mutex_lock(&probe_lock);
	if (!--users) {
		tracepoint_probe_unregister(set_state, on_set_state, NULL);
		tracepoint_synchronize_unregister();
	}
	mutex_unlock(&probe_lock);
}
