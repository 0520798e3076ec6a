// SPDX-License-Identifier: GPL-2.0
/*
 * What there is to read on a TCP socket whose calls are ours, and waiting for
 * it. Nobody sleeps in TCP's own recvmsg(), which knows of no ring; TCP's
 * wake-ups and the ring's arrive in the same queue.
 *
 * SO_BUSY_POLL makes a reader look at the ring for that long before it sleeps.
 */
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <net/busy_poll.h>
#include <net/sock.h>

#include "ring.h"
#include "shim.h"
#include "wait.h"

/* All bytes that can be read now, in order. */
static u64 unread(struct speed_ring *ring, const struct sock *sk)
{
	u64 tcp = shim_tcp_unread(sk), live;

	smp_rmb();	/* TCP's first: what came to the ring since is not behind it */
	live = speed_ring_live(ring);
	if (!live)
		return tcp;
	/* What is missing of TCP's hides the ring's. */
	return tcp < shim_tcp_before(ring, sk) ? tcp : tcp + live;
}

/*
 * An urgent byte that is next and not in line is not read, but passed over. @ring is
 * NULL where there is none.
 */
static u64 readable(struct speed_ring *ring, const struct sock *sk)
{
	u64 bytes = ring ? unread(ring, sk) : shim_tcp_unread(sk);

	if (shim_at_mark(sk) && bytes && !sock_flag(sk, SOCK_URGINLINE) &&
	    !(ring && speed_ring_live(ring)))
		bytes--;
	return bytes;
}

/**
 * shim_ring_first() - is the next byte to read the ring's?
 * @shim: the reader's
 */
bool shim_ring_first(const struct shim *shim)
{
	struct speed_pair *pair = shim_pair(shim);
	struct speed_ring *ring;

	if (!pair)
		return false;
	ring = shim_rx_ring(shim, pair);
	return speed_ring_live(ring) && !shim_tcp_before(ring, shim->sk);
}

/**
 * shim_unread() - bytes that can be read now
 * @shim: the reader's
 *
 * Return: bytes, an unread FIN counted as one.
 */
u64 shim_unread(const struct shim *shim)
{
	struct speed_pair *pair = shim_pair(shim);

	return pair ? unread(shim_rx_ring(shim, pair), shim->sk) : shim_tcp_unread(shim->sk);
}

/**
 * shim_ended() - will TCP bring no more, or an error?
 * @sk: the socket
 *
 * Return: whether its recvmsg() would not wait.
 */
bool shim_ended(const struct sock *sk)
{
	u32 state = READ_ONCE(sk->sk_state);

	return READ_ONCE(sk->sk_err) || (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN) ||
	       sock_flag(sk, SOCK_DONE) || state == TCP_CLOSE || state == TCP_LISTEN;
}

/**
 * shim_inq() - SIOCINQ: bytes that can be read now, up to the urgent one
 * @shim: the reader's
 */
u64 shim_inq(const struct shim *shim)
{
	struct speed_pair *pair = shim_pair(shim);
	u64 tcp = tcp_inq(shim->sk);
	struct speed_ring *ring;

	if (!pair)
		return tcp;
	ring = shim_rx_ring(shim, pair);
	return tcp < shim_tcp_before(ring, shim->sk) ? tcp : tcp + speed_ring_live(ring);
}

static bool ready(struct shim *shim, u64 want)
{
	struct speed_pair *pair = shim_pair(shim);

	return readable(pair ? shim_rx_ring(shim, pair) : NULL, shim->sk) >= want ||
	       shim_ended(shim->sk);
}

/**
 * shim_data_ready() - would a reader have something to do?
 * @ring: the ring
 * @want: bytes it waits for
 *
 * Return: whether bytes enough can be read in order, or nothing more will come.
 */
bool shim_data_ready(struct speed_ring *ring, u64 want)
{
	const struct sock *sk = speed_ring_reader(ring);

	/* The usual case first: one look at the ring. */
	if (likely(speed_ring_live(ring) >= want && !READ_ONCE(ring->behind)))
		return true;
	if (readable(ring, sk) >= want || shim_ended(sk))
		return true;
	/* Its own end was given up: shim_disconnect() */
	return smp_load_acquire(&ring->pair->closed[!ring->end]);
}

/**
 * shim_is_readable() - what poll() asks beside TCP's own bytes
 * @sk: the socket
 *
 * Return: whether SO_RCVLOWAT bytes can be read.
 */
bool shim_is_readable(struct sock *sk)
{
	struct shim *shim = shim_of(sk);
	struct speed_pair *pair = shim ? shim_pair(shim) : NULL;
	u64 want = sock_rcvlowat(sk, 0, INT_MAX);

	if (!pair)
		return false;
	if (readable(shim_rx_ring(shim, pair), sk) >= want)
		return true;
	speed_need_data(shim_rx_ring(shim, pair));
	return readable(shim_rx_ring(shim, pair), sk) >= want;
}

static bool spin(struct shim *shim, u64 want)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	u32 limit = READ_ONCE(shim->sk->sk_ll_usec);
	u64 end;

	if (!limit)
		return false;
	end = local_clock() + (u64)limit * NSEC_PER_USEC;
	do {
		if (ready(shim, want))
			return true;
		cpu_relax();
	} while (single_task_running() && !need_resched() && !signal_pending(current) &&
		 local_clock() < end);
#endif
	return false;
}

/*
 * Of a ring so many bytes, or anything that the ring alone does not say: TCP may have
 * room for fewer, and a plain call takes those as they come. An index that is a lie, and
 * a lease that has ended, are the caller's to find.
 */
static bool ring_ready(struct speed_ring *ring, u64 want)
{
	const struct sock *sk = speed_ring_reader(ring);

	speed_need_data(ring);
	return speed_ring_live(ring) >= want || shim_tcp_unread(sk) || shim_ended(sk) ||
	       !READ_ONCE(ring->role[SPEED_ROLE_RX].epoch);
}

static bool is_ready(struct shim *shim, struct speed_ring *ring, u64 want)
{
	return ring ? ring_ready(ring, want) : ready(shim, want);
}

static bool has_given_up(const struct shim *shim, u32 before)
{
	return unlikely(READ_ONCE(shim->given_up) != before);
}

/* The other end has not been found, and may be while we sleep; or the ring's in @ring. */
static int wait_here(struct shim *shim, struct speed_ring *ring, u64 want, u32 given_up,
		     long *timeo)
{
	DEFINE_WAIT_FUNC(wait, speed_woken);
	struct sock *sk = shim->sk;
	int err = 0;

	if (ring)
		speed_pair_asleep(ring->pair, !ring->end);
	/* As speed_wait_data(): who sleeps is not told by SIGIO as well. */
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	add_wait_queue(sk_sleep(sk), &wait);
	smp_mb();	/* in the queue before the look: who wakes looks there after */
	while (!err && !has_given_up(shim, given_up) && !is_ready(shim, ring, want)) {
		if (!*timeo)
			err = -EAGAIN;
		else if (signal_pending(current))
			err = sock_intr_errno(*timeo);
		else
			*timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, *timeo);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	speed_waits_no_more(sk, true);
	if (ring)
		speed_pair_seen(ring->pair, !ring->end);
	if (!err)
		return 0;
	smp_mb();	/* as in speed_wait_data(): no signal has told what came till here */
	return is_ready(shim, ring, want) ? 0 : err;
}

/* Bytes in order, with @ring NULL; or those of a ring that its reader has mapped. */
static int sleep_for(struct shim *shim, struct speed_ring *ring, u64 want, long *timeo)
{
	u32 given_up = READ_ONCE(shim->given_up);
	struct speed_pair *pair;
	int err;

	smp_rmb();	/* a pair that is seen is of what is given up after this */
	pair = shim_pair(shim);
	if (pair && !ring)
		err = speed_wait_data(shim_rx_ring(shim, pair), want, timeo);
	else
		err = wait_here(shim, ring, want, given_up, timeo);
	/* As TCP says to who slept while the connection was given up. */
	return has_given_up(shim, given_up) ? -EPIPE : err;
}

/**
 * shim_wait() - sleep until a reader has something to do
 * @shim: the reader's
 * @want: bytes to wait for
 * @timeo: jiffies left, in and out
 *
 * Context: process; no role's lock may be held.
 * Return: 0, -EAGAIN when the time is over, or what a signal makes of it.
 */
int shim_wait(struct shim *shim, u64 want, long *timeo)
{
	if (*timeo && spin(shim, want))
		return 0;
	return sleep_for(shim, NULL, want, timeo);
}

/**
 * shim_wait_ring() - sleep until a mapped reader has something to do
 * @shim: the reader's
 * @ring: its ring
 * @want: bytes of the ring to wait for, at most its size
 * @timeo: jiffies left, in and out
 *
 * Context: process; no role's lock may be held.
 * Return: 0, also where something else than the ring has to be looked at; -EAGAIN when
 * the time is over, or what a signal makes of it.
 */
int shim_wait_ring(struct shim *shim, struct speed_ring *ring, u64 want, long *timeo)
{
	int err = shim_wait(shim, 1, timeo);

	if (err || want == 1 || ring_ready(ring, want))
		return err;
	return sleep_for(shim, ring, want, timeo);
}
