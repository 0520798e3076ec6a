// SPDX-License-Identifier: GPL-2.0
/*
 * Finding the other end of a connection, and joining the two.
 *
 * The other end is whoever TCP would find for a packet of ours, with the same
 * addresses and ports the other way round and sequence numbers that fit. Where
 * it is not found the connection stays on TCP. Where addresses are translated on the
 * way, connection tracking knows by which ones the other end goes (shim_nat.c).
 */
#include <net/inet_hashtables.h>
#include <net/inet6_hashtables.h>

#include "compat/compat.h"
#include "net.h"
#include "shim.h"
#include "stats.h"
#include "trace.h"

static const int always_on = 1;

static struct sock *lookup(struct net *net, const struct sock *sk, int dev)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (shim_is_ip6(sk))
		return speed_compat_lookup6(net, &sk->sk_v6_rcv_saddr, inet_sk(sk)->inet_sport,
					    &sk->sk_v6_daddr, ntohs(sk->sk_dport), dev, 0);
#endif
	return speed_compat_lookup4(net, sk->sk_rcv_saddr, inet_sk(sk)->inet_sport,
				    sk->sk_daddr, ntohs(sk->sk_dport), dev, 0);
}

/* What comes back is the other end's: by its addresses before they are translated. */
static struct sock *lookup_translated(struct net *net, const struct sock *sk, int dev)
{
	struct shim_names back;

	if (!shim_translated(sk, &back))
		return NULL;
#if IS_ENABLED(CONFIG_IPV6)
	if (shim_is_ip6(sk))
		return speed_compat_lookup6(net, &back.to.in6, back.to_port, &back.from.in6,
					    ntohs(back.from_port), dev, 0);
#endif
	return speed_compat_lookup4(net, back.to.ip, back.to_port, back.from.ip,
				    ntohs(back.from_port), dev, 0);
}

/* What one end expects next is what the other has under way. */
static bool fits(const struct sock *sk, const struct sock *peer)
{
	const struct tcp_sock *a = tcp_sk(sk), *b = tcp_sk(peer);

	return between(READ_ONCE(b->rcv_nxt), READ_ONCE(a->snd_una), READ_ONCE(a->snd_nxt)) &&
	       between(READ_ONCE(a->rcv_nxt), READ_ONCE(b->snd_una), READ_ONCE(b->snd_nxt));
}

/* Return: @peer if it is the other end; otherwise it is put. */
static struct sock *fitting(const struct sock *sk, struct sock *peer)
{
	if (!peer || (sk_fullsock(peer) && peer != sk && fits(sk, peer)))
		return peer;
	sock_gen_put(peer);
	return NULL;
}

/**
 * shim_find_peer() - the socket at the other end
 * @sk: a connected socket
 * @anew: it was not looked for before
 *
 * Context: any but hard interrupt.
 * Return: the socket, to be put, or NULL.
 */
struct sock *shim_find_peer(struct sock *sk, bool anew)
{
	struct net *net = sock_net(sk);
	int dev = READ_ONCE(sk->sk_bound_dev_if) ?: READ_ONCE(net->loopback_dev->ifindex);
	struct sock *peer;

	rcu_read_lock_bh();
	peer = fitting(sk, lookup(net, sk, dev));
	if (unlikely(!peer && anew && shim_tracked()))
		peer = fitting(sk, lookup_translated(net, sk, dev));
	rcu_read_unlock_bh();
	return peer;
}

static void set_pair(struct shim *shim, struct speed_pair *pair, int end)
{
	shim->end = end;
	smp_store_release(&shim->pair, pair);		/* shim_pair() */
	/* Nothing is published before both know of it: shim_fuse() */
	smp_store_release(&pair->tcp.bars[end], shim->bars);
}

/* In one piece of memory, but one of them has given that connection up. */
static bool estranged(struct shim *shim, struct shim *peer)
{
	return shim_conn(shim) == shim_conn(peer) && !shim_conn(shim)->joined;
}

/* How often either has given a connection up. */
struct giving {
	u32 shim, peer;
};

static bool join_locked(struct shim *shim, struct shim *peer, struct speed_pair *pair,
			const struct giving *since)
{
	if (shim->pair || shim->closing || peer->pair || peer->closing ||
	    shim->giving != since->shim || peer->giving != since->peer ||
	    shim->sk->sk_data_ready != peer->sk->sk_data_ready || estranged(shim, peer))
		return false;
	pair->tcp.late = shim->late || peer->late;
	pair->tcp.data_ready = shim->sk->sk_data_ready;
	pair->tcp.bars[1] = BIT(SPEED_TCP_BUSY);
	set_pair(peer, pair, 0);
	set_pair(shim, pair, 1);
	return true;
}

/* In the order of their addresses: two ends may look for each other at once. */
static bool join(struct shim *shim, struct shim *other, struct speed_pair *pair,
		 const struct giving *since)
{
	struct shim *first = min(shim, other), *second = max(shim, other);
	bool done;

	local_bh_disable();
	spin_lock(&first->lock);
	spin_lock_nested(&second->lock, SINGLE_DEPTH_NESTING);
	done = join_locked(shim, other, pair, since);
	spin_unlock(&second->lock);
	spin_unlock(&first->lock);
	local_bh_enable();
	return done;
}

/* Memory for a pair: that of who came first, if it has not been used. */
static struct speed_pair *claim_pair(struct shim *shim)
{
	struct shim_conn *conn = shim_conn(shim);

	if (!refcount_inc_not_zero(&conn->refs))
		return NULL;
	if (!xchg(&conn->paired, true))
		return memset(&conn->pair, 0, sizeof(conn->pair));
	shim_conn_put(conn);
	return NULL;
}

static bool join_known(struct shim *shim, struct shim *other, const struct giving *since)
{
	struct speed_pair *pair = claim_pair(other);

	if (!pair)
		return false;
	speed_pair_setup(pair, &shim_door, other->sk, shim->sk, SOCK_STREAM);
	pair->tcp.on = shim->asked && other->asked ? &always_on
						   : &speed_net(sock_net(shim->sk))->loopback;
	if (join(shim, other, pair, since)) {
		trace_speed_connect(pair->id, inet_sk(shim->sk)->inet_num);
		return true;
	}
	speed_pair_put_any(pair);
	speed_pair_put_any(pair);
	return false;
}

/* One that is given up, or was, has nobody at its other end until it is connected anew. */
static bool has_peer(struct shim *shim, u32 *since)
{
	*since = smp_load_acquire(&shim->giving);	/* before what TCP says */
	return !(*since & 1) && !((1 << READ_ONCE(shim->sk->sk_state)) &
				  (TCPF_CLOSE | TCPF_LISTEN | TCPF_SYN_SENT));
}

/* What TCP says of the two from here on is of connections that @since tells of. */
static bool hold_on(struct shim *shim, struct shim *other, struct giving *since)
{
	return has_peer(shim, &since->shim) && has_peer(other, &since->peer);
}

/**
 * shim_join() - make a pair of two sockets
 * @shim: the one that came later
 * @peer: the other, held
 *
 * Nothing happens where the other takes no part, or either gives the connection up.
 *
 * Context: any but hard interrupt.
 */
void shim_join(struct shim *shim, struct sock *peer)
{
	struct giving since;
	struct shim *other;

	rcu_read_lock();
	other = shim_of(peer);
	if (other && !READ_ONCE(shim->pair) && hold_on(shim, other, &since) &&
	    fits(shim->sk, peer) && join_known(shim, other, &since))
		speed_count(SPEED_STAT_TCP_PAIRED);
	rcu_read_unlock();
}

/**
 * shim_join_soon() - two of one piece of memory have found each other
 * @shim: the child, locked
 * @peer: its client, held
 *
 * The pair is made when there are bytes: shim_join_late(). A client that gave the
 * connection up says so under its lock, before and after TCP forgets it.
 *
 * Context: any but hard interrupt.
 * Return: whether they belong together still.
 */
bool shim_join_soon(struct shim *shim, const struct sock *peer)
{
	struct shim_conn *conn = shim_conn(shim);
	struct shim *client = &conn->end[!shim->slot];
	u32 since;
	bool done;

	spin_lock_bh(&client->lock);
	done = has_peer(client, &since) && fits(shim->sk, peer);
	if (done)
		smp_store_release(&conn->joined, true);	/* shim_join_late() */
	spin_unlock_bh(&client->lock);
	return done;
}

/* Hold the socket of another part, unless it is on its way out. */
static struct sock *hold_sock(struct shim *shim)
{
	struct sock *sk = NULL;

	spin_lock_bh(&shim->lock);
	if (!shim->closing && refcount_inc_not_zero(&shim->sk->sk_refcnt))
		sk = shim->sk;
	spin_unlock_bh(&shim->lock);
	return sk;
}

/**
 * shim_join_late() - make the pair of a connection that has bytes to carry
 * @shim: one end
 *
 * The two found each other when the connection was made (they share memory).
 *
 * Context: process.
 */
void shim_join_late(struct shim *shim)
{
	struct shim_conn *conn = shim_conn(shim);
	struct giving since;
	struct sock *peer;

	/* Matches take_half(): whoever sees it sees the other end. */
	if (!smp_load_acquire(&conn->joined))
		return;
	peer = hold_sock(&conn->end[!shim->slot]);
	if (!peer)
		return;
	rcu_read_lock();
	/* That they belong together is what @joined says. */
	if (!READ_ONCE(shim->pair) && hold_on(&conn->end[1], &conn->end[0], &since))
		join_known(&conn->end[1], &conn->end[0], &since);
	rcu_read_unlock();
	sock_put(peer);
}

/**
 * shim_find_late() - the other end of one that asked may have come without a word
 * @shim: the socket's part; it has no pair
 *
 * Context: process.
 */
void shim_find_late(struct shim *shim)
{
	struct sock *peer;

	if (!shim->asked || shim->sk->sk_state != TCP_ESTABLISHED)
		return;
	peer = shim_find_peer(shim->sk, false);
	if (!peer)
		return;
	shim_join(shim, peer);
	sock_put(peer);
}
