// SPDX-License-Identifier: GPL-2.0
/*
 * Connections whose addresses are translated between two sockets of this machine: a
 * redirection to a proxy, a port that is forwarded.
 *
 * Connection tracking is asked how, by a packet that is made up for the question and
 * of which it reads the addresses. The kernel has a call for this that works whether
 * or not the module is there, and for IPv4 alone. What is found is believed only
 * where the sequence numbers fit, as ever.
 *
 * Connection tracking forgets a connection of which it sees nothing for long, and with
 * it the translation of what TCP has to say in the end. The ring's bytes are no
 * packets. So of a connection into whose ring bytes went, and of which TCP has heard
 * nothing for QUIET, both ends send an empty acknowledgment: of one end's alone, several
 * that are alike would be taken for a sign of trouble. This is done for what is not
 * translated, too: a firewall may want to know the connection.
 */
#include <linux/ip.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <net/netfilter/nf_conntrack_tuple.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "ring.h"
#include "shim.h"

#define QUIET	(5 * HZ)

#if IS_ENABLED(CONFIG_NF_CONNTRACK)

/* Of a packet, as much as tells whose it is. */
struct question {
	struct iphdr ip;
	__be16 source;
	__be16 dest;
	__be32 seq;
} __packed;

static struct sk_buff *make_question(const struct sock *sk)
{
	const struct question question = {
		.ip = {
			.version = 4,
			.ihl = sizeof(struct iphdr) / 4,
			.protocol = IPPROTO_TCP,
			.saddr = sk->sk_rcv_saddr,
			.daddr = sk->sk_daddr,
		},
		.source = inet_sk(sk)->inet_sport,
		.dest = sk->sk_dport,
	};
	struct sk_buff *skb = alloc_skb(sizeof(question), GFP_ATOMIC | __GFP_NOWARN);

	if (!skb)
		return NULL;
	skb->dev = sock_net(sk)->loopback_dev;
	skb_reset_network_header(skb);
	skb_put_data(skb, &question, sizeof(question));
	return skb;
}

/**
 * shim_translated() - how a connection looks from its other end
 * @sk: a connected socket
 * @names: filled in: source and destination of what comes back, before it is translated
 *
 * Context: any but hard interrupt.
 * Return: whether its addresses are translated, as far as connection tracking knows.
 */
bool shim_translated(const struct sock *sk, struct shim_names *names)
{
	struct nf_conntrack_tuple tuple;
	struct sk_buff *skb;
	bool known;

	if (shim_is_ip6(sk))
		return false;
	skb = make_question(sk);
	if (!skb)
		return false;
	known = nf_ct_get_tuple_skb(&tuple, skb);
	consume_skb(skb);
	if (!known)
		return false;
	*names = (struct shim_names){
		.from = tuple.src.u3.ip,
		.to = tuple.dst.u3.ip,
		.from_port = tuple.src.u.tcp.port,
		.to_port = tuple.dst.u.tcp.port,
	};
	return names->from != sk->sk_daddr || names->from_port != sk->sk_dport ||
	       names->to != sk->sk_rcv_saddr || names->to_port != inet_sk(sk)->inet_sport;
}

#else

bool shim_translated(const struct sock *sk, struct shim_names *names)
{
	return false;
}

#endif

/**
 * shim_unheard() - may a connection in use soon be forgotten?
 * @ring: one of its rings, which has data pages
 *
 * Context: any; waits for nobody.
 */
bool shim_unheard(struct speed_ring *ring)
{
	return shim_tracked() && speed_ring_index(ring, SPEED_ROLE_TX) != READ_ONCE(ring->heard) &&
	       keepalive_time_elapsed(tcp_sk(speed_ring_reader(ring))) > QUIET;
}

static bool acknowledge(struct sock *sk)
{
	bool can;

	local_bh_disable();
	bh_lock_sock(sk);
	can = !sock_owned_by_user(sk) &&
	      ((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT));
	if (can)
		speed_compat_send_ack(sk);
	bh_unlock_sock(sk);
	local_bh_enable();
	return can;
}

/**
 * shim_be_heard() - let those who track connections see one
 * @ring: one of its rings
 *
 * Where somebody has a socket just now, it is for the next time.
 *
 * Context: process.
 */
void shim_be_heard(struct speed_ring *ring)
{
	u64 tail = speed_ring_index(ring, SPEED_ROLE_TX);

	if (acknowledge(speed_ring_writer(ring)) && acknowledge(speed_ring_reader(ring)))
		WRITE_ONCE(ring->heard, tail);
}
