// SPDX-License-Identifier: GPL-2.0
/*
 * How a connection ends. TCP carries the end, and so what was published before
 * has to be seen before: shutdown() waits for the producer, close() looks at what
 * was never read, which makes TCP reset the connection instead of ending it.
 */
#include <linux/module.h>
#include <net/sock.h>

#include "lease.h"
#include "ring.h"
#include "shim.h"
#include "shim_map.h"
#include "shim_proto.h"
#include "trace.h"

static int shutdown_pair(struct shim *shim, struct speed_pair *pair, struct socket *sock, int how)
{
	struct speed_ring *ring = shim_tx_ring(shim, pair);
	struct mutex *lock = &ring->role[SPEED_ROLE_TX].lock;	/* the producer's */
	int err;

	/* As TCP, which waits for a sender that copies. */
	mutex_lock(lock);
	speed_lease_end(ring, SPEED_ROLE_TX);
	/* Before the end can be seen; and after it, for a lease that began meanwhile. */
	shim_flag_mapped(pair, SPEED_OVERFLOW);
	err = shim->base->ops->shutdown(sock, how);
	shim_flag_mapped(pair, SPEED_OVERFLOW);
	mutex_unlock(lock);
	return err;
}

/* As a call of TCP's sendmsg(): the ring of a pair that comes meanwhile is not used. */
static int shutdown_alone(struct shim *shim, struct socket *sock, int how)
{
	struct speed_pair *pair;
	int err = 0;

	atomic_inc(&shim->inside);
	smp_mb__after_atomic();	/* who makes the pair looks at the count after */
	pair = shim_pair(shim);
	if (!pair)
		err = shim->base->ops->shutdown(sock, how);
	atomic_dec(&shim->inside);
	return pair ? shutdown_pair(shim, pair, sock, how) : err;
}

/**
 * shim_shutdown() - shutdown()
 * @sock: the socket
 * @how: SHUT_*
 *
 * Context: process.
 * Return: as TCP's.
 */
int shim_shutdown(struct socket *sock, int how)
{
	struct shim *shim = shim_of(sock->sk);
	struct speed_pair *pair;
	int err;

	if (!shim)
		return shim_tcp_of(sock->sk)->ops->shutdown(sock, how);
	atomic_inc(&shim->calls);
	pair = shim_pair(shim);
	if (pair)
		err = shutdown_pair(shim, pair, sock, how);
	else
		err = shutdown_alone(shim, sock, how);
	atomic_dec(&shim->calls);
	return err;
}

/**
 * shim_take_pair() - take a socket's pair from it, for good
 * @shim: the socket's part
 *
 * Context: any but hard interrupt.
 * Return: the pair, whose reference is the caller's now, or NULL.
 */
struct speed_pair *shim_take_pair(struct shim *shim)
{
	struct speed_pair *pair;

	spin_lock_bh(&shim->lock);
	pair = shim->pair;
	shim->pair = NULL;
	shim->closing = true;
	spin_unlock_bh(&shim->lock);
	return pair;
}

/* The other end's producer publishes, then looks whether we are there (E). */
static void close_pair(struct sock *sk, struct speed_pair *pair, int end)
{
	u64 lost;

	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	smp_store_release(&pair->closed[end], true);	/* shim_nobody_reads() */
	shim_flag_mapped(pair, SPEED_CLOSED);
	/* Of who maps it: what was published until now, and no more. */
	speed_lease_leave(pair, end);
	if (!speed_ring_at_home(&pair->ring[!end]))
		speed_lease_try_drop(&pair->ring[!end], SPEED_ROLE_TX);
	smp_mb();	/* it looks after it publishes, we count after this */
	lost = speed_ring_live(&pair->ring[!end]);
	trace_speed_close(pair->id, end, lost);
	if (!lost)
		return;
	lock_sock(sk);
	sock_set_flag(sk, SOCK_LINGER);
	sk->sk_lingertime = 0;
	release_sock(sk);
}

/*
 * It is cloned until it stops listening, and a child of half an attachment could go on to
 * another listener: TCP takes the ULP off, and its reference to the module, after that.
 */
static void close_listener(struct sock *sk, struct shim *shim, long timeout)
{
	const struct shim_base *base = shim->base;

	__module_get(THIS_MODULE);
	shim_drop_old(shim);
	base->prot->close(sk, timeout);
	module_put(THIS_MODULE);
}

/**
 * shim_close() - the last descriptor has gone
 * @sk: the socket
 * @timeout: how long to linger, jiffies
 *
 * Context: process; nobody else uses the socket.
 */
void shim_close(struct sock *sk, long timeout)
{
	const struct shim_base *base = shim_tcp_of(sk);
	struct shim *shim = shim_of(sk);
	struct speed_pair *pair;
	int end;

	if (!shim) {
		base->prot->close(sk, timeout);
		return;
	}
	base = shim->base;
	if (sk->sk_state == TCP_LISTEN) {
		close_listener(sk, shim, timeout);
		return;
	}
	pair = shim_take_pair(shim);
	end = shim->end;
	if (pair)
		close_pair(sk, pair, end);
	/* What is left is TCP's alone, however long it lasts. */
	shim_leave(sk);
	base->prot->close(sk, timeout);
	if (pair)
		shim_drop_pair(pair, end);
	/* Last: nothing sleeps from here to the return, which shim_exit() waits for. */
	module_put(THIS_MODULE);
}

/*
 * Who was found is the other end of a connection that is no more, and who is being looked
 * for by it may be: shim_join().
 */
static void forget_peer(struct shim *shim)
{
	spin_lock_bh(&shim->lock);
	WRITE_ONCE(shim_conn(shim)->joined, false);
	WRITE_ONCE(shim->giving, shim->giving + 1);
	spin_unlock_bh(&shim->lock);
}

/* TCP has forgotten it, too. */
static void forgotten(struct shim *shim)
{
	spin_lock_bh(&shim->lock);
	smp_store_release(&shim->giving, shim->giving + 1);	/* hold_on() */
	spin_unlock_bh(&shim->lock);
}

/**
 * shim_disconnect() - connect(AF_UNSPEC), a reset, or a child nobody accepts
 * @sk: the socket, locked
 * @flags: as TCP's
 *
 * Somebody may be inside a call that works on the old pair, which is kept.
 *
 * Return: as TCP's.
 */
int shim_disconnect(struct sock *sk, int flags)
{
	const struct shim_base *base = shim_tcp_of(sk);
	struct shim *shim = shim_of(sk);
	struct speed_pair *pair;
	int err;

	if (!shim)
		return base->prot->disconnect(sk, flags);
	forget_peer(shim);
	/* A connection that failed leaves nothing behind. */
	pair = shim_pair(shim) ? shim_take_pair(shim) : NULL;
	/* Who sees the pair closed sees this, and who sees this no pair. */
	WRITE_ONCE(shim->given_up, shim->given_up + 1);
	if (pair) {
		/* shim_data_ready() */
		smp_store_release(&pair->closed[shim->end], true);
		shim_flag_mapped(pair, SPEED_CLOSED);
		speed_lease_try_drop(shim_tx_ring(shim, pair), SPEED_ROLE_TX);
		speed_lease_try_drop(shim_rx_ring(shim, pair), SPEED_ROLE_RX);
		shim->old = pair;
	}
	err = shim->base->prot->disconnect(sk, flags);
	forgotten(shim);
	/* A program's: it begins anew, with TCP's own calls. */
	if (sk->sk_socket && !shim->asked)
		shim_detach(sk);
	return err;
}
