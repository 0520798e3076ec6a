// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/net/speed: a line a socket of the reader's namespace.
 *
 *	type	stream or seqpacket
 *	state	unconnected, listening, connected, closed
 *	inode	of the socket, 0 where nobody has accepted it yet
 *	uid	who made it
 *	pair	number of the pair, 0 where there is none; both ends show it
 *	local peer	a number, @name, or - where unbound
 *	tx rx	bytes that went each way
 *	fill	bytes in the two rings and their overflow, sent and received
 *	ring	sizes of the rings that hold data pages now, sent/received
 *	map	t and r where the role is leased, - where it is not
 *	wait	w where somebody waits on the socket, - where nobody does
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/seq_file_net.h>
#include <net/sock.h>

#include "addr.h"
#include "family.h"
#include "net.h"
#include "proc.h"
#include "ring.h"
#include "shim.h"
#include "stats.h"

static struct speed_net *seq_speed(struct seq_file *seq)
{
	return speed_net(seq_file_net(seq));
}

static void *seq_start(struct seq_file *seq, loff_t *pos)
	__acquires(&seq_speed(seq)->socks_lock)
{
	spin_lock(&seq_speed(seq)->socks_lock);
	return seq_hlist_start_head(&seq_speed(seq)->socks, *pos);
}

static void *seq_next(struct seq_file *seq, void *v, loff_t *pos)
{
	return seq_hlist_next(v, &seq_speed(seq)->socks, pos);
}

static void seq_stop(struct seq_file *seq, void *v)
	__releases(&seq_speed(seq)->socks_lock)
{
	spin_unlock(&seq_speed(seq)->socks_lock);
}

static void show_addr(struct seq_file *seq, const struct sock *sk)
{
	const struct speed_addr *addr = sk ? speed_sk_addr(sk) : NULL;
	char name[SPEED_NAME_MAX + 1] = {};

	if (!addr) {
		seq_puts(seq, " -");
	} else if (addr->len) {
		memcpy(name, addr->name, addr->len);
		seq_puts(seq, " @");
		seq_escape(seq, name, " \t\n\\");
	} else {
		seq_printf(seq, " %u", addr->number);
	}
}

static const char *state_name(const struct sock *sk, const struct speed_pair *pair)
{
	if (READ_ONCE(sk->sk_state) == TCP_LISTEN)
		return "listening";
	if (!pair)
		return "unconnected";
	return READ_ONCE(sk->sk_shutdown) == SHUTDOWN_MASK ? "closed" : "connected";
}

static void show_pair(struct seq_file *seq, struct speed_pair *pair, int end)
{
	struct speed_ring *tx = &pair->ring[end], *rx = &pair->ring[!end];

	seq_printf(seq, " %llu %llu %llu/%llu %llu/%llu %c%c",
		   speed_ring_index(tx, SPEED_ROLE_TX), speed_ring_index(rx, SPEED_ROLE_RX),
		   speed_ring_fill(tx), speed_ring_fill(rx),
		   speed_ring_held(tx), speed_ring_held(rx),
		   READ_ONCE(tx->role[SPEED_ROLE_TX].epoch) ? 't' : '-',
		   READ_ONCE(rx->role[SPEED_ROLE_RX].epoch) ? 'r' : '-');
}

static bool has_waiters(const struct sock *sk)
{
	struct socket_wq *wq;
	bool yes;

	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	/* Only to be shown: no barrier. */
	yes = wq && waitqueue_active(&wq->wait);
	rcu_read_unlock();
	return yes;
}

static void show_sock(struct seq_file *seq, struct sock *sk)
{
	struct speed_pair *pair = speed_sk_pair(sk);

	seq_printf(seq, "%s %s %llu %u %llu",
		   sk->sk_type == SOCK_STREAM ? "stream" : "seqpacket",
		   state_name(sk, pair), (u64)sock_i_ino(sk),
		   from_kuid_munged(seq_user_ns(seq), READ_ONCE(sk->sk_uid)), pair ? pair->id : 0);
	show_addr(seq, sk);
	show_addr(seq, pair ? pair->sk[!speed_sk(sk)->end] : NULL);
	if (pair)
		show_pair(seq, pair, speed_sk(sk)->end);
	else
		seq_puts(seq, " 0 0 0/0 0/0 --");
	seq_printf(seq, " %c\n", has_waiters(sk) ? 'w' : '-');
}

static int seq_show(struct seq_file *seq, void *v)
{
	struct speed_sock *ss;

	if (v == SEQ_START_TOKEN) {
		seq_puts(seq, "type state inode uid pair local peer tx rx fill ring map wait\n");
		return 0;
	}
	ss = hlist_entry(v, struct speed_sock, node);
	show_sock(seq, &ss->sk);
	return 0;
}

static const struct seq_operations seq_ops = {
	.start	= seq_start,
	.next	= seq_next,
	.stop	= seq_stop,
	.show	= seq_show,
};

int speed_proc_add(struct net *net)
{
	if (!proc_create_net("speed", 0444, net->proc_net, &seq_ops,
			     sizeof(struct seq_net_private)))
		return -ENOMEM;
	if (!proc_create_net_single("speed_stat", 0444, net->proc_net, speed_stats_show, NULL))
		goto sockets;
	if (!shim_proc_add(net))
		return 0;
	remove_proc_entry("speed_stat", net->proc_net);
sockets:
	remove_proc_entry("speed", net->proc_net);
	return -ENOMEM;
}

void speed_proc_del(struct net *net)
{
	shim_proc_del(net);
	remove_proc_entry("speed_stat", net->proc_net);
	remove_proc_entry("speed", net->proc_net);
}
