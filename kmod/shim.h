/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The door "loopback TCP": a TCP socket whose bytes go over a pair.
 *
 * TCP stays in charge of the connection; its sk_prot and its sock->ops are
 * replaced by copies with some calls of ours (shim_proto.c), and its ULP slot
 * holds a struct shim. Of each direction,
 *
 *	bytes of TCP before ring->tcp_seq, then
 *	bytes of the ring, then
 *	bytes of TCP again
 *
 * is the order of the stream. The producer moves to the ring only when it is
 * drained (unfuse.c), so that there is never more than this to keep in order.
 * What the ring does not carry goes by TCP, call by call: a full ring, too.
 *
 * Ownership. A struct shim, and a reference to the module, belong to a socket
 * from its attachment until it is closed (or, if no program ever had it,
 * destroyed); it is freed after a grace period. It owns one reference to its
 * pair. A socket whose ULP slot is given to another keeps them a little longer,
 * since a thread may sleep in a call of ours (shim_detach.c).
 *
 * Locks, beside those of pair.h: lock_sock() of one's own socket is taken under
 * a role's lock, never the other way round; a peer's is never waited for.
 * shim->lock covers bars and pair; it is a leaf, and taken in softirq.
 */
#ifndef SPEED_SHIM_H
#define SPEED_SHIM_H

#include <linux/netfilter.h>
#include <linux/poll.h>
#include <linux/speed.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "pair.h"

/* Flags of a socket that wants to know when packets came. */
#define SHIM_RX_STAMPS	(BIT(SOCK_RCVTSTAMP) | BIT(SOCK_TIMESTAMPING_RX_SOFTWARE))

struct shim_base;

/**
 * struct shim - a TCP socket's part
 * @sk: the socket
 * @pair: set once, when the other end was found; NULL again when it is closed
 * @old: the pair of a connection that was given up by connect(AF_UNSPEC)
 * @base: what its calls are derived from
 * @lock: covers @bars, the setting of @pair, and @giving
 * @bars: reasons not to fuse, a bit each
 * @end: which endpoint of the pair it is
 * @slot: which of a struct shim_conn's it is
 * @reason: why sending last moved back to TCP
 * @asked: whether the program asked for it by the ULP's name
 * @closing: no pair any more
 * @late: attached when calls could be under way already
 * @inside: calls of TCP's sendmsg() under way
 * @calls: calls that may sleep with a pointer to the pair
 * @alone: calls that read TCP's bytes alone, as there was no pair
 * @given_up: how often the connection was, by connect(AF_UNSPEC)
 * @giving: the same, and odd while TCP is about to know; under @lock
 * @fused: how often sending moved to the ring
 * @unfused: how often it moved back
 * @told: bytes of each role that TCP's counters have been told of
 */
struct shim {
	struct sock *sk;
	struct speed_pair *pair;
	struct speed_pair *old;
	const struct shim_base *base;
	spinlock_t lock;	/* bars, pair, giving */
	u32 bars;
	u8 end;
	u8 slot;
	u8 reason;
	bool asked;
	bool closing;
	bool late;
	atomic_t inside;
	atomic_t calls;
	atomic_t alone;
	u32 given_up;
	u32 giving;
	u32 fused;
	u32 unfused;
	u64 told[SPEED_ROLES];
};

/**
 * struct shim_conn - the memory of a connection, in one piece
 * @end: who connects, and in most cases who accepts
 * @pair: the pair, once the two have found each other
 * @refs: those of @end that are in use, the pair, and waits for old calls
 * @shared: the second of @end is in use
 * @joined: both have found each other; cleared under the lock of one of @end
 * @paired: the pair is in use, or was
 * @rcu: to free it
 */
struct shim_conn {
	struct shim end[2];
	struct speed_pair pair;
	refcount_t refs;
	bool shared;
	bool joined;
	bool paired;
	struct rcu_head rcu;
};

static inline struct shim_conn *shim_conn(struct shim *shim)
{
	return container_of(shim - shim->slot, struct shim_conn, end[0]);
}

extern struct tcp_ulp_ops shim_ulp_ops;
extern const struct speed_door shim_door;

/* The part of a socket whose calls are ours, or NULL. */
static inline struct shim *shim_of(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	/* First the data, then whose it is: another ULP's comes after ours went. */
	struct shim *shim = smp_load_acquire((struct shim **)&icsk->icsk_ulp_data);

	return likely(READ_ONCE(icsk->icsk_ulp_ops) == &shim_ulp_ops) ? shim : NULL;
}

static inline struct speed_pair *shim_pair(const struct shim *shim)
{
	/* Matches shim_join(): whoever sees the pointer sees the pair. */
	return smp_load_acquire(&shim->pair);
}

static inline struct speed_ring *shim_tx_ring(const struct shim *shim, struct speed_pair *pair)
{
	return &pair->ring[shim->end];
}

static inline struct speed_ring *shim_rx_ring(const struct shim *shim, struct speed_pair *pair)
{
	return &pair->ring[!shim->end];
}

/* Bytes that TCP has received in order and that nobody has read, and an unread FIN. */
static inline u32 shim_tcp_unread(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	s32 bytes = READ_ONCE(tp->rcv_nxt) - READ_ONCE(tp->copied_seq);

	return max(bytes, 0);	/* more came between the two looks, and was read */
}

/* Bytes of TCP that come before the ring's, arrived or not. */
static inline u32 shim_tcp_before(const struct speed_ring *ring, const struct sock *sk)
{
	s32 before;

	if (!READ_ONCE(ring->behind))
		return 0;
	before = READ_ONCE(ring->tcp_seq) - READ_ONCE(tcp_sk(sk)->copied_seq);
	return max(before, 0);
}

/* The byte that is next is urgent: a read that has bytes stops before it. */
static inline bool shim_at_mark(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return unlikely(READ_ONCE(tp->urg_data)) &&
	       READ_ONCE(tp->urg_seq) == READ_ONCE(tp->copied_seq);
}

/* shim_ulp.c */
struct shim *shim_attach(struct sock *sk, struct shim *peer, bool late, gfp_t gfp);
void shim_conn_put(struct shim_conn *conn);
void shim_leave(struct sock *sk);
void shim_bar(struct shim *shim, u32 reason, bool on);
int shim_ulp_init(void);
void shim_ulp_open(void);
bool shim_try_use(void);
void shim_ulp_stop(void);
void shim_ulp_exit(void);

/* shim_late.c */
bool shim_others_call(struct sock *sk);
void shim_wait_calls(struct shim *shim);

/* shim_detach.c */
int shim_detach(struct sock *sk);

/* Are its packets IPv6's? Those of addresses that are IPv4's, mapped, are not. */
static inline bool shim_is_ip6(const struct sock *sk)
{
#if IS_ENABLED(CONFIG_IPV6)
	return sk->sk_family == AF_INET6 && !ipv6_addr_v4mapped(&sk->sk_v6_daddr);
#else
	return false;
#endif
}

/* shim_match.c */
struct sock *shim_find_peer(struct sock *sk, bool anew);
void shim_join(struct shim *shim, struct sock *peer);
bool shim_join_soon(struct shim *shim, const struct sock *peer);
void shim_join_late(struct shim *shim);
void shim_find_late(struct shim *shim);

/**
 * struct shim_names - addresses and ports of packets
 * @from: source
 * @to: destination
 * @from_port: source
 * @to_port: destination
 */
struct shim_names {
	union nf_inet_addr from;
	union nf_inet_addr to;
	__be16 from_port;
	__be16 to_port;
};

/* May there be translated connections? */
static inline bool shim_tracked(void)
{
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
	return unlikely(rcu_access_pointer(nf_ct_hook));
#else
	return false;
#endif
}

/* shim_nat.c */
bool shim_translated(const struct sock *sk, struct shim_names *names);

/* shim_heard.c */
bool shim_unheard(struct speed_ring *ring);
void shim_be_heard(struct speed_ring *ring);

/* shim_probe.c */
int shim_probe_on(void);
void shim_probe_off(void);
u32 shim_unfit(const struct sock *sk);
bool shim_signed(const struct sock *sk);

/* unfuse.c */
u32 shim_why(struct speed_ring *ring);
u32 shim_fuse(struct shim *shim, struct speed_ring *ring, size_t bytes);
void shim_refuse(const struct sock *sk, u32 why);
void shim_unfuse(struct shim *shim, struct speed_ring *ring, u32 reason);

/* shim_home.c, shim_bring.c */
int shim_empty_ring(struct sock *sk, struct speed_ring *ring, gfp_t gfp);
int shim_bring_home(struct shim *shim, u32 reason);
int shim_bring_home_locked(struct shim *shim, u32 reason);
void shim_bring_reader(struct speed_ring *ring);

/* shim_tx.c, shim_rx.c, shim_poll.c, shim_unread.c, shim_wait.c */
int shim_sendmsg(struct sock *sk, struct msghdr *msg, size_t len);
ssize_t shim_receive(struct sock *sk, struct msghdr *msg, size_t len, int flags);
__poll_t shim_poll(struct file *file, struct socket *sock, poll_table *wait);
bool shim_data_ready(struct speed_ring *ring, u64 want);
bool shim_too_few(struct speed_ring *ring);
bool shim_is_readable(struct sock *sk);
u64 shim_readable(struct speed_ring *ring, const struct sock *sk);
u64 shim_place(const struct shim *shim, u64 place);
u64 shim_unread(const struct shim *shim);
u64 shim_inq(const struct shim *shim);
int shim_wait(struct shim *shim, u64 want, u32 begun, long *timeo);
int shim_wait_ring(struct shim *shim, struct speed_ring *ring, u64 want, u32 begun, long *timeo);
bool shim_ended(const struct sock *sk);
bool shim_ring_first(const struct shim *shim);

/* shim_charge.c, shim_close.c, shim_sockopt.c, shim_info.c */
bool shim_settle_now(struct speed_pair *pair, int end);
void shim_give_back(struct sock *sk, struct speed_pair *pair, int end);
void shim_charge_stop(void);
void shim_close(struct sock *sk, long timeout);
struct speed_pair *shim_take_pair(struct shim *shim);
int shim_disconnect(struct sock *sk, int flags);
int shim_shutdown(struct socket *sock, int how);
int shim_setsockopt(struct sock *sk, int level, int name, sockptr_t val, unsigned int len);
int shim_getsockopt(struct sock *sk, int level, int name, char __user *val, int __user *len);
void shim_tell_counters(struct shim *shim);
void shim_tell_fusion(struct shim *shim, struct speed_fusion *fusion);
bool shim_untold(struct speed_ring *ring);
void shim_tell(struct speed_ring *ring);
int shim_proc_add(struct net *net);
void shim_proc_del(struct net *net);
int shim_get_info(struct sock *sk, struct sk_buff *skb SPEED_GET_INFO_MORE);
size_t shim_get_info_size(const struct sock *sk SPEED_GET_INFO_MORE);

#endif
