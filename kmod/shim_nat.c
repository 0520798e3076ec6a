// SPDX-License-Identifier: GPL-2.0
/*
 * Connections whose addresses are translated between two sockets of this machine: a
 * redirection to a proxy, a port that is forwarded.
 *
 * Connection tracking is asked how. For IPv4 by a packet that is made up for the question
 * and of which it reads the addresses: the kernel has a call for this that works whether
 * or not that module is there, and is cheap. It knows no IPv6; there the module's own
 * function is looked up by its name, which takes longer, and only where the namespace has
 * hooks for what IPv6 sends. What is found is believed only where the sequence numbers
 * fit, as ever.
 */
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <net/inet_sock.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/netfilter/nf_conntrack_core.h>
#include <net/netfilter/nf_conntrack_tuple.h>
#include <net/netfilter/nf_conntrack_zones.h>

#include "shim.h"

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

static bool ask4(const struct sock *sk, struct nf_conntrack_tuple *back)
{
	struct sk_buff *skb = make_question(sk);
	bool known = skb && nf_ct_get_tuple_skb(back, skb);

	consume_skb(skb);
	return known;
}

#if IS_ENABLED(CONFIG_IPV6)

/* Only what goes through a hook is translated. */
static bool hooked6(const struct net *net)
{
	return rcu_access_pointer(net->nf.hooks_ipv6[NF_INET_LOCAL_OUT]);
}

static struct nf_conntrack_tuple tuple6(const struct sock *sk)
{
	return (struct nf_conntrack_tuple){
		.src.u3.in6 = sk->sk_v6_rcv_saddr,
		.src.u.tcp.port = inet_sk(sk)->inet_sport,
		.src.l3num = NFPROTO_IPV6,
		.dst.u3.in6 = sk->sk_v6_daddr,
		.dst.u.tcp.port = sk->sk_dport,
		.dst.protonum = IPPROTO_TCP,
	};
}

static void other_way(struct nf_conntrack_tuple_hash *hash, struct nf_conntrack_tuple *back)
{
	struct nf_conn *ct = nf_ct_tuplehash_to_ctrack(hash);

	*back = ct->tuplehash[!NF_CT_DIRECTION(hash)].tuple;
	nf_conntrack_put(&ct->ct_general);
}

static bool ask6(const struct sock *sk, struct nf_conntrack_tuple *back)
{
	static const struct nf_conntrack_zone zone = { .dir = NF_CT_DEFAULT_ZONE_DIR };
	const struct nf_conntrack_tuple tuple = tuple6(sk);
	struct nf_conntrack_tuple_hash *(*find)(struct net *net,
						const struct nf_conntrack_zone *zone,
						const struct nf_conntrack_tuple *tuple);
	struct nf_conntrack_tuple_hash *hash;

	if (!hooked6(sock_net(sk)))
		return false;
	find = symbol_get(nf_conntrack_find_get);
	if (!find)
		return false;
	hash = find(sock_net(sk), &zone, &tuple);
	if (hash)
		other_way(hash, back);
	symbol_put(nf_conntrack_find_get);
	return hash;
}

/* What comes back where nothing is translated. */
static void straight6(const struct sock *sk, struct shim_names *names)
{
	names->from.in6 = sk->sk_v6_daddr;
	names->to.in6 = sk->sk_v6_rcv_saddr;
}

#else

static bool ask6(const struct sock *sk, struct nf_conntrack_tuple *back)
{
	return false;
}

static void straight6(const struct sock *sk, struct shim_names *names)
{
}

#endif

static bool as_they_are(const struct sock *sk, const struct shim_names *names)
{
	struct shim_names straight = {
		.from_port = sk->sk_dport,
		.to_port = inet_sk(sk)->inet_sport,
	};

	if (shim_is_ip6(sk)) {
		straight6(sk, &straight);
	} else {
		straight.from.ip = sk->sk_daddr;
		straight.to.ip = sk->sk_rcv_saddr;
	}
	return !memcmp(names, &straight, sizeof(straight));
}

/**
 * shim_translated() - how a connection looks from its other end
 * @sk: a connected socket
 * @names: filled in: source and destination of what comes back, before it is translated
 *
 * Context: any but hard interrupt, in a reader's section of RCU.
 * Return: whether its addresses are translated, as far as connection tracking knows.
 */
bool shim_translated(const struct sock *sk, struct shim_names *names)
{
	struct nf_conntrack_tuple tuple;

	if (!(shim_is_ip6(sk) ? ask6(sk, &tuple) : ask4(sk, &tuple)))
		return false;
	*names = (struct shim_names){
		.from = tuple.src.u3,
		.to = tuple.dst.u3,
		.from_port = tuple.src.u.tcp.port,
		.to_port = tuple.dst.u.tcp.port,
	};
	return !as_they_are(sk, names);
}

#else

bool shim_translated(const struct sock *sk, struct shim_names *names)
{
	return false;
}

#endif
