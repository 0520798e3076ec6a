// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for what there is to read on a TCP socket whose calls are ours
 * (shim_unread.c). Nobody sleeps in TCP's own recvmsg(), which knows of no ring; TCP's
 * wake-ups and the ring's arrive in the same queue.
 *
 * SO_BUSY_POLL makes a reader look at the ring for that long before it sleeps.
 */
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/smp.h>
#include <net/busy_poll.h>
#include <net/sock.h>

#include "ring.h"
#include "shim.h"
#include "shim_take.h"
#include "wait.h"
#include "yield.h"

static bool ready(struct shim *shim, u64 want)
{
	struct speed_pair *pair = shim_pair(shim);

	return shim_readable(pair ? shim_rx_ring(shim, pair) : NULL, shim->sk) >= want ||
	       shim_ended(shim->sk);
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
 * a lease that has ended, are the caller's to find; the latter unless a signal ends the
 * call, which would be lost to the plain one.
 */
static bool ring_ready(struct speed_ring *ring, u64 want)
{
	const struct sock *sk = speed_ring_reader(ring);

	speed_need_data(ring);
	return speed_ring_live(ring) >= want || shim_tcp_unread(sk) || shim_ended(sk) ||
	       (!READ_ONCE(ring->role[SPEED_ROLE_RX].epoch) && !signal_pending(current));
}

static bool is_ready(struct shim *shim, struct speed_ring *ring, u64 want)
{
	struct speed_pair *pair;

	if (ring)
		return ring_ready(ring, want);
	/* One that came since we saw none may be mapped, and be read by others, by now. */
	pair = shim_pair(shim);
	if (pair)
		speed_need_data(shim_rx_ring(shim, pair));
	return ready(shim, want);
}

static bool too_few(const struct shim *shim)
{
	struct speed_pair *pair = shim_pair(shim);

	return pair ? shim_too_few(shim_rx_ring(shim, pair)) : !shim_ended(shim->sk);
}

/* As speed_data_wakes(). */
static bool wakes(struct shim *shim, struct speed_ring *ring, u64 want,
		  struct speed_sleeper *sleeper)
{
	bool told = ring || likely(READ_ONCE(shim->sk->sk_rcvlowat) <= 1) ||
		    speed_told(sleeper, shim->sk);

	return is_ready(shim, ring, want) && (told || !too_few(shim));
}

static bool has_given_up(const struct shim *shim, u32 begun)
{
	return unlikely(READ_ONCE(shim->given_up) != begun);
}

/* The other end has not been found, and may be while we sleep; or the ring's in @ring. */
static int wait_here(struct shim *shim, struct speed_ring *ring, u64 want, u32 begun,
		     long *timeo)
{
	struct speed_sleeper sleeper;
	struct sock *sk = shim->sk;
	int err = 0;

	speed_sleeper_init(&sleeper);
	if (ring)
		speed_pair_asleep(ring->pair, !ring->end);
	/* As speed_wait_data(): who sleeps is not told by SIGIO as well. */
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	add_wait_queue(sk_sleep(sk), &sleeper.entry);
	smp_mb();	/* in the queue before the look: who wakes looks there after */
	while (!err && !has_given_up(shim, begun) && !wakes(shim, ring, want, &sleeper)) {
		if (!*timeo)
			err = -EAGAIN;
		else if (signal_pending(current))
			err = sock_intr_errno(*timeo);
		else
			*timeo = wait_woken(&sleeper.entry, TASK_INTERRUPTIBLE, *timeo);
	}
	remove_wait_queue(sk_sleep(sk), &sleeper.entry);
	speed_waits_no_more(sk, true);
	if (ring)
		speed_pair_seen(ring->pair, !ring->end);
	if (!err)
		return 0;
	smp_mb();	/* as in speed_wait_data(): no signal has told what came till here */
	return is_ready(shim, ring, want) ? 0 : err;
}

/* Of first waits, by where they are. */
static DEFINE_PER_CPU(struct speed_shy, first_shy);

/*
 * A server waits for a connection's first bytes, and there is no pair to tell where the
 * client is. When it connected it was where TCP's last packet came in: yield.h.
 */
static bool yield_first(struct shim *shim, u64 want, long *timeo)
{
	struct speed_shy *shy = raw_cpu_ptr(&first_shy);
	struct sock *sk = shim->sk;
	unsigned long ticks;
	bool came;

	/* Who is told by SIGIO is told of what comes while it does not sleep. */
	if (!shim->slot || !READ_ONCE(shim_conn(shim)->joined) || sock_flag(sk, SOCK_FASYNC) ||
	    READ_ONCE(sk->sk_incoming_cpu) != raw_smp_processor_id() || !speed_yield_may(shy))
		return false;
	ticks = speed_yield(timeo);
	came = ready(shim, want);
	speed_yield_learn(shy, came && !ticks, SPEED_SHY_FIRST);
	return came;
}

/* Bytes in order, with @ring NULL; or those of a ring that its reader has mapped. */
static int sleep_for(struct shim *shim, struct speed_ring *ring, u64 want, u32 begun,
		     long *timeo)
{
	struct speed_pair *pair = shim_pair(shim);
	int err = 0;

	if (pair && !ring)
		err = speed_wait_data(shim_rx_ring(shim, pair), want, timeo);
	else if (ring || !*timeo || READ_ONCE(shim->sk->sk_rcvlowat) > 1 ||
		 !yield_first(shim, want, timeo))
		err = wait_here(shim, ring, want, begun, timeo);
	/* As TCP says to who slept while the connection was given up. */
	return has_given_up(shim, begun) ? -EPIPE : err;
}

/**
 * shim_wait() - sleep until a reader has something to do
 * @shim: the reader's
 * @want: bytes to wait for
 * @begun: shim_begun(), when the call began
 * @timeo: jiffies left, in and out
 *
 * Context: process; no role's lock may be held.
 * Return: 0, -EAGAIN when the time is over, -EPIPE where the connection was given up
 * since, or what a signal makes of it.
 */
int shim_wait(struct shim *shim, u64 want, u32 begun, long *timeo)
{
	if (*timeo && spin(shim, want))
		return 0;
	return sleep_for(shim, NULL, want, begun, timeo);
}

/**
 * shim_wait_ring() - sleep until a mapped reader has something to do
 * @shim: the reader's
 * @ring: its ring
 * @want: bytes of the ring to wait for, at most its size
 * @begun: as in shim_wait()
 * @timeo: jiffies left, in and out
 *
 * Context: process; no role's lock may be held.
 * Return: as shim_wait(), 0 also where something else than the ring has to be looked at.
 */
int shim_wait_ring(struct shim *shim, struct speed_ring *ring, u64 want, u32 begun, long *timeo)
{
	int err = shim_wait(shim, 1, begun, timeo);

	if (err || want == 1 || ring_ready(ring, want))
		return err;
	return sleep_for(shim, ring, want, begun, timeo);
}
