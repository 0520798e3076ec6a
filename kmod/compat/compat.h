/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernels differ; the module does not. Each difference is named here by the
 * capability, and there is no test of a version anywhere else. Linux 6.1 to
 * 7.x.
 */
#ifndef SPEED_COMPAT_H
#define SPEED_COMPAT_H

#include <linux/mm.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/shrinker.h>
#include <linux/uio.h>
#include <linux/version.h>
#include <net/sock.h>
#include <net/tcp.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#include <net/proto_memory.h>
#endif

#define SPEED_KERNEL_WITHIN(a, b, c, d, e, f)			\
	(LINUX_VERSION_CODE >= KERNEL_VERSION(a, b, c) &&	\
	 LINUX_VERSION_CODE < KERNEL_VERSION(d, e, f))

/*
 * connect(AF_UNSPEC) of TCP failed for a while where another thread waited, after the ring
 * was given up: what is in one would get lost.
 */
#if SPEED_KERNEL_WITHIN(6, 1, 33, 6, 1, 60) || SPEED_KERNEL_WITHIN(6, 3, 7, 6, 5, 9)
#error "speed needs 6.1.60, 6.5.9 or a later release of this kernel"
#endif

/*
 * accept() of MPTCP knew a plain TCP connection by its calls, and took one with ours for its
 * own kind. It asks for the address family since 6.18, and since these releases at the latest.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0) || SPEED_KERNEL_WITHIN(6, 1, 159, 6, 2, 0) || \
	SPEED_KERNEL_WITHIN(6, 6, 120, 6, 7, 0) || SPEED_KERNEL_WITHIN(6, 12, 62, 6, 13, 0)
#define SPEED_MPTCP_ACCEPTS_OURS	true
#else
#define SPEED_MPTCP_ACCEPTS_OURS	false
#endif

/* vm_flags became read-only in 6.3, with functions to change it. */
static inline void speed_compat_vm_flags(struct vm_area_struct *vma, unsigned long set,
					 unsigned long clear)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#else
	vm_flags_mod(vma, set, clear);
#endif
}

/* sendpage() went in 6.5, when splice() to a socket became sendmsg(). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define SPEED_COMPAT_PROTO_OPS		.sendpage = sock_no_sendpage,
#else
#define SPEED_COMPAT_PROTO_OPS
#endif

/* Not a version: 32-bit programs on a 64-bit kernel. */
#ifdef CONFIG_COMPAT
#define SPEED_COMPAT_IOCTL(fn)		.compat_ioctl = fn,
#else
#define SPEED_COMPAT_IOCTL(fn)
#endif

/* accept() gets a struct since 6.10. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define SPEED_ACCEPT_ARGS		int accept_flags, bool accept_kern
#define SPEED_ACCEPT_FLAGS		accept_flags
#define SPEED_ACCEPT_PASS		accept_flags, accept_kern
#else
#define SPEED_ACCEPT_ARGS		struct proto_accept_arg *accept_arg
#define SPEED_ACCEPT_FLAGS		(accept_arg->flags)
#define SPEED_ACCEPT_PASS		accept_arg
#endif

/* recvmsg() of a protocol told an address's length until 7.0. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
#define SPEED_RECVMSG_MORE		, int *addr_len
static inline int speed_compat_recvmsg(const struct proto *prot, struct sock *sk,
				       struct msghdr *msg, size_t len, int flags)
{
	int addr_len = 0;

	return prot->recvmsg(sk, msg, len, flags, &addr_len);
}
#else
#define SPEED_RECVMSG_MORE
#define speed_compat_recvmsg(prot, sk, msg, len, flags)	\
	((prot)->recvmsg(sk, msg, len, flags))
#endif

/* ioctl() of a protocol wrote to user space itself until 6.4; splice() had a call of its own. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define SPEED_HAS_SENDPAGE		1
#define speed_ioctl_arg_t		unsigned long
#define speed_compat_ioctl_int(arg, val)	put_user((int)(val), (int __user *)(arg))
#else
#define speed_ioctl_arg_t		int *
#define speed_compat_ioctl_int(arg, val)	(*(arg) = (val), 0)
#endif

/* Established connections were looked up in a table that had to be named. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
#define speed_compat_lookup4(net, ...)	\
	__inet_lookup_established(net, (net)->ipv4.tcp_death_row.hashinfo, __VA_ARGS__)
#define speed_compat_lookup6(net, ...)	\
	__inet6_lookup_established(net, (net)->ipv4.tcp_death_row.hashinfo, __VA_ARGS__)
#else
#define speed_compat_lookup4		__inet_lookup_established
#define speed_compat_lookup6		__inet6_lookup_established
#endif

/* What a socket tells by the ULP's get_info() may depend on who asks since 6.19. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
#define SPEED_GET_INFO_MORE
#else
#define SPEED_GET_INFO_MORE		, bool net_admin
#endif

/* Not a version: without preemption in the kernel, RCU sees all tasks. */
#ifdef CONFIG_TASKS_RCU
#define speed_compat_barrier_tasks	rcu_barrier_tasks
#elif defined(CONFIG_PREEMPTION)
#error "a kernel with CONFIG_PREEMPTION needs CONFIG_TASKS_RCU"
#else
#define speed_compat_barrier_tasks	rcu_barrier
#endif

/*
 * Not a version: an empty acknowledgment takes flags, in some stable series since
 * one of their releases. The socket's spin lock is held and nobody owns it.
 */
static inline void speed_compat_ack(void (*send)(struct sock *sk, u32 rcv_nxt), struct sock *sk)
{
	send(sk, tcp_sk(sk)->rcv_nxt);
}

static inline void speed_compat_ack_flags(void (*send)(struct sock *sk, u32 rcv_nxt, u16 flags),
					  struct sock *sk)
{
	send(sk, tcp_sk(sk)->rcv_nxt, 0);
}

#define speed_compat_send_ack(sk)							\
	(__builtin_choose_expr(__same_type(__tcp_send_ack, void(struct sock *, u32)),	\
			       speed_compat_ack, speed_compat_ack_flags)		\
		((void *)__tcp_send_ack, sk))

/* Somebody captures all packets of a device. */
static inline bool speed_compat_tapped(struct net_device *dev)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
	return dev_nit_active(dev);
#else
	return dev_nit_active_rcu(dev);
#endif
}

/* Programs of tc on a device, beside its queueing discipline. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0) && defined(CONFIG_NET_EGRESS)
#define speed_compat_tc(dev)	(rcu_access_pointer((dev)->miniq_ingress) || \
				 rcu_access_pointer((dev)->miniq_egress))
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0) && defined(CONFIG_NET_XGRESS)
#define speed_compat_tc(dev)	(rcu_access_pointer((dev)->tcx_ingress) || \
				 rcu_access_pointer((dev)->tcx_egress))
#else
#define speed_compat_tc(dev)	false
#endif

/* sysctl handlers get a const table since 6.11. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define speed_ctl_table_t		struct ctl_table
#else
#define speed_ctl_table_t		const struct ctl_table
#endif

/* The table's size is told since 6.6; before, an empty entry ended it. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define speed_compat_sysctl(net, path, table, n)	register_net_sysctl(net, path, table)
#else
#define speed_compat_sysctl(net, path, table, n)	register_net_sysctl_sz(net, path, table, n)
#endif

/* bind() and connect() get an address of no particular size since 6.19. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
#define speed_sockaddr_t		struct sockaddr
#else
#define speed_sockaddr_t		struct sockaddr_unsized
#endif

/*
 * A slab cache that is nobody else's as well: one that is shared leaves its name
 * behind in sysfs. Before 6.5 a flag that says more says this, too.
 */
#ifdef SLAB_NO_MERGE
#define SPEED_SLAB_ALONE	SLAB_NO_MERGE
#else
#define SPEED_SLAB_ALONE	SLAB_TYPESAFE_BY_RCU
#endif

/* set_peek_off() of sockets that need no lock of their own. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
static inline int speed_compat_set_peek_off(struct sock *sk, int val)
{
	WRITE_ONCE(sk->sk_peek_off, val);
	return 0;
}
#else
#define speed_compat_set_peek_off	sk_set_peek_off
#endif

/*
 * The processor is left to the peer, which was here last; yield.h bounds it and
 * says why it is not a busy wait.
 */
#define speed_compat_yield		yield

int speed_compat_shrinker_register(unsigned long (*count)(struct shrinker *,
							  struct shrink_control *),
				   unsigned long (*scan)(struct shrinker *,
							 struct shrink_control *));
void speed_compat_shrinker_unregister(void);

#endif
