// SPDX-License-Identifier: GPL-2.0
/*
 * What is told of a TCP socket whose calls are ours: by SPEED_FUSION, to ss and
 * others by netlink, by TCP's own counters, and in /proc/net/speed_tcp, a line a
 * socket of the reader's namespace:
 *
 *	local remote	addresses and ports
 *	inode uid	of the socket
 *	pair		number of the pair, 0 where there is none; both ends show it
 *	tx rx		bytes that went through the rings
 *	fill		bytes in the two rings, sent and received
 *	ring		sizes of the rings that hold data pages now, sent/received
 *	fused unfused	how often sending moved to the ring, and back
 *	why		why bytes sent go by TCP, "fused" where they do not
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/seq_file_net.h>
#include <net/inet_hashtables.h>
#include <net/netlink.h>
#include <net/sock.h>

#include "ring.h"
#include "shim.h"
#include "stats.h"

#define INFO_FUSION	83	/* among the ULP's attributes: struct speed_fusion */

static void tell_pair(struct speed_pair *pair, int end, struct speed_fusion *f)
{
	struct speed_ring *tx = &pair->ring[end], *rx = &pair->ring[!end];

	f->flags = SPEED_FUSION_PAIRED;
	if (READ_ONCE(tx->fused))
		f->flags |= SPEED_FUSION_TX;
	if (READ_ONCE(rx->fused))
		f->flags |= SPEED_FUSION_RX;
	f->pair = pair->id;
	f->ring_bytes[SPEED_ROLE_TX] = speed_ring_held(tx);
	f->ring_bytes[SPEED_ROLE_RX] = speed_ring_held(rx);
	f->bytes[SPEED_ROLE_TX] = speed_ring_index(tx, SPEED_ROLE_TX);
	f->bytes[SPEED_ROLE_RX] = speed_ring_index(rx, SPEED_ROLE_RX);
	f->fill[SPEED_ROLE_TX] = speed_ring_fill(tx);
	f->fill[SPEED_ROLE_RX] = speed_ring_fill(rx);
	f->reason = f->flags & SPEED_FUSION_TX ? SPEED_TCP_FUSED : shim_why(tx);
}

/**
 * shim_tell_fusion() - how a socket's bytes travel
 * @shim: its part
 * @fusion: all zeroes; filled in
 *
 * Context: any but hard interrupt.
 */
void shim_tell_fusion(struct shim *shim, struct speed_fusion *fusion)
{
	spin_lock_bh(&shim->lock);
	fusion->reason = SPEED_TCP_PEER;
	if (shim->pair)
		tell_pair(shim->pair, shim->end, fusion);
	else if (READ_ONCE(shim_conn(shim)->joined) && !shim->closing)
		fusion->flags = SPEED_FUSION_PAIRED;
	if (fusion->flags == SPEED_FUSION_PAIRED && !shim->pair)
		fusion->reason = shim->bars ? __ffs(shim->bars) : SPEED_TCP_FUSED;
	if (fusion->reason == SPEED_TCP_FUSED && !(fusion->flags & SPEED_FUSION_TX))
		fusion->reason = shim->reason;
	fusion->fused = shim->fused;
	fusion->unfused = shim->unfused;
	spin_unlock_bh(&shim->lock);
}

/* What a role has moved since it was last told. Who lies about an index takes nothing back. */
static u64 news(struct shim *shim, int role, u64 bytes)
{
	s64 more = bytes - shim->told[role];

	if (more <= 0)
		return 0;
	WRITE_ONCE(shim->told[role], bytes);
	return more;
}

/**
 * shim_tell_counters() - TCP's counters of bytes learn of the ring's
 * @shim: the socket's part; the socket is owned
 */
void shim_tell_counters(struct shim *shim)
{
	struct tcp_sock *tp = tcp_sk(shim->sk);
	struct speed_pair *pair = shim_pair(shim);
	u64 sent;

	if (!pair)
		return;
	sent = news(shim, SPEED_ROLE_TX, speed_ring_index(shim_tx_ring(shim, pair), SPEED_ROLE_TX));
	tp->bytes_sent += sent;
	tp->bytes_acked += sent;
	tp->bytes_received += news(shim, SPEED_ROLE_RX,
				   speed_ring_arrived(shim_rx_ring(shim, pair)));
}

/* Whether a socket's counters are behind in one direction. */
static bool behind(struct sock *sk, int role, u64 bytes)
{
	struct shim *shim = shim_of(sk);

	return shim && READ_ONCE(shim->told[role]) != bytes;
}

/**
 * shim_untold() - is there anything to tell of a ring?
 * @ring: it, with data pages
 *
 * To TCP's counters, which ss and others read without asking us; or to those who track
 * connections.
 *
 * Context: any; waits for nobody.
 */
bool shim_untold(struct speed_ring *ring)
{
	bool untold;

	rcu_read_lock();
	untold = behind(speed_ring_writer(ring), SPEED_ROLE_TX,
			speed_ring_index(ring, SPEED_ROLE_TX)) ||
		 behind(speed_ring_reader(ring), SPEED_ROLE_RX, speed_ring_arrived(ring));
	rcu_read_unlock();
	return untold || shim_unheard(ring);
}

/**
 * shim_tell() - tell what there is to tell of a ring
 * @ring: the ring
 *
 * Where somebody has a socket just now, it is for the next time.
 *
 * Context: process.
 */
void shim_tell(struct speed_ring *ring)
{
	shim_settle_now(ring->pair, ring->end);
	shim_settle_now(ring->pair, !ring->end);
	if (shim_unheard(ring))
		shim_be_heard(ring);
}

/* For ss and others. The socket may be on its way out. */
int shim_get_info(struct sock *sk, struct sk_buff *skb SPEED_GET_INFO_MORE)
{
	struct speed_fusion fusion = {};
	struct shim *shim;

	rcu_read_lock();
	shim = shim_of(sk);
	if (shim)
		shim_tell_fusion(shim, &fusion);
	rcu_read_unlock();
	return nla_put(skb, INFO_FUSION, sizeof(fusion), &fusion);
}

size_t shim_get_info_size(const struct sock *sk SPEED_GET_INFO_MORE)
{
	return nla_total_size(sizeof(struct speed_fusion));
}

static void show_addr(struct seq_file *seq, const struct sock *sk, bool remote)
{
	u16 port = remote ? ntohs(sk->sk_dport) : inet_sk(sk)->inet_num;

#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		seq_printf(seq, "[%pI6c]:%u ",
			   remote ? &sk->sk_v6_daddr : &sk->sk_v6_rcv_saddr, port);
		return;
	}
#endif
	seq_printf(seq, "%pI4:%u ", remote ? &sk->sk_daddr : &sk->sk_rcv_saddr, port);
}

static void show_sock(struct seq_file *seq, struct sock *sk, struct shim *shim)
{
	struct speed_fusion f = {};

	shim_tell_fusion(shim, &f);
	show_addr(seq, sk, false);
	show_addr(seq, sk, true);
	seq_printf(seq, "%llu %u %llu %llu %llu %llu/%llu %llu/%llu %llu %llu %s\n",
		   (u64)sock_i_ino(sk),
		   from_kuid_munged(seq_user_ns(seq), READ_ONCE(sk->sk_uid)), f.pair,
		   f.bytes[SPEED_ROLE_TX], f.bytes[SPEED_ROLE_RX], f.fill[SPEED_ROLE_TX],
		   f.fill[SPEED_ROLE_RX], f.ring_bytes[SPEED_ROLE_TX],
		   f.ring_bytes[SPEED_ROLE_RX], f.fused, f.unfused,
		   f.flags & SPEED_FUSION_TX ? "fused" : speed_reason_name(f.reason));
}

static void show_held(struct seq_file *seq, struct sock *sk)
{
	struct shim *shim;

	if (!net_eq(sock_net(sk), seq_file_net(seq)))
		return;
	shim = shim_of(sk);
	if (shim)
		show_sock(seq, sk, shim);
}

static struct inet_hashinfo *seq_hash(struct seq_file *seq)
{
	return seq_file_net(seq)->ipv4.tcp_death_row.hashinfo;
}

static void *seq_start(struct seq_file *seq, loff_t *pos)
{
	return *pos <= seq_hash(seq)->ehash_mask + 1ULL ? pos : NULL;
}

static void *seq_next(struct seq_file *seq, void *v, loff_t *pos)
{
	++*pos;
	return seq_start(seq, pos);
}

static void seq_stop(struct seq_file *seq, void *v)
{
}

/* Position 0 is the head line, the others are TCP's buckets. */
static int seq_show(struct seq_file *seq, void *v)
{
	loff_t pos = *(loff_t *)v;
	struct hlist_nulls_node *node;
	struct sock *sk;

	if (!pos) {
		seq_puts(seq, "local remote inode uid pair tx rx fill ring fused unfused why\n");
		return 0;
	}
	rcu_read_lock();
	sk_nulls_for_each_rcu(sk, node, &seq_hash(seq)->ehash[pos - 1].chain) {
		if (!sk_fullsock(sk) || !refcount_inc_not_zero(&sk->sk_refcnt))
			continue;
		show_held(seq, sk);
		sock_put(sk);
	}
	rcu_read_unlock();
	return 0;
}

static const struct seq_operations seq_ops = {
	.start	= seq_start,
	.next	= seq_next,
	.stop	= seq_stop,
	.show	= seq_show,
};

int shim_proc_add(struct net *net)
{
	return proc_create_net("speed_tcp", 0444, net->proc_net, &seq_ops,
			       sizeof(struct seq_net_private)) ? 0 : -ENOMEM;
}

void shim_proc_del(struct net *net)
{
	remove_proc_entry("speed_tcp", net->proc_net);
}
