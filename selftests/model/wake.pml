/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Publish, sleep and wake: nobody sleeps while there is something to do.
 *
 * Two threads that share a producer role put ITEMS items into a ring of SIZE
 * items and sleep when it is full; a consumer takes them and sleeps when it is
 * empty. Each publication goes by the mapped path or by the kernel path, as
 * the checker likes. The consumer is a blocking reader (READER 0), an epoll
 * set that is edge-triggered (1) or level-triggered (2): the latter two stay
 * on the wait queue. With ASKS=1 the kernel knows that the set is one, and is alone
 * there: the flag stays clear from a wake-up on until the set has called poll().
 *
 * A lost wake-up is a process that blocks for ever, an invalid end state; a
 * lost, doubled or reordered item fails an assertion.
 */
#ifndef READER
#define READER	0
#endif
#ifndef ASKS
#define ASKS	0
#endif
#define SIZE	2
#ifndef ITEMS
#define ITEMS	4
#endif

/* Shared words. ON_RQ and ON_WQ are membership of the two wait queues. */
#define HEAD		0
#define TAIL		1
#define NEED_DATA	2
#define NEED_SPACE	3
#define WAKE_FREE	4
#define ON_RQ		5
#define ON_WQ		6
#define WORDS		7

/* Processes: the consumer, two producers. */
#define CONS	0
#define PROCS	3

#include "tso.pml"

/* The variants that must fail: each takes one thing away. */
#ifdef NO_E
#define BARRIER_E(p)	skip
#else
#define BARRIER_E(p)	full_barrier(p)
#endif
#ifdef NO_F
#define BARRIER_F(p)	skip
#else
#define BARRIER_F(p)	full_barrier(p)
#endif
#ifdef NO_KERNEL_MB
#define BARRIER_KERNEL(p)	skip
#else
#define BARRIER_KERNEL(p)	full_barrier(p)
#endif
#ifdef NO_WAKE_MB
#define BARRIER_WAKE(p)	skip
#else
#define BARRIER_WAKE(p)	full_barrier(p)
#endif
#ifdef NO_REARM_MB
#define BARRIER_REARM(p)	skip
#else
#define BARRIER_REARM(p)	full_barrier(p)
#endif

byte slot[SIZE];	/* the item that lies there */
byte head;		/* the producer role's own index, under tx */
bool tx;		/* the lock by which threads share the role */
bool reader_up;		/* the reader was woken, or its epoll set has an event */
bool writer_up;

/* SPEED_IOC_WAKE, for readers and for writers. */
inline ioctl_wake(p, need, queue, up)
{
#ifdef CLEAR_LATE
	if
	:: mem[queue] -> up = true
	:: else
	fi;
	store(p, need, 0);
	full_barrier(p)
#else
	store(p, need, 0);
	BARRIER_WAKE(p);
	if
	:: mem[queue] ->
		reached(1);
#ifndef NO_REARM
		if
		:: ASKS && need == NEED_DATA
		:: else ->
			store(p, need, 1);
			BARRIER_REARM(p)
		fi;
#endif
		up = true
	:: else ->
		reached(2)
	fi
#endif
}

/* The kernel path looks at the queue, not at the flag. */
inline kernel_wake(p, queue, up)
{
	BARRIER_KERNEL(p);
	if
	:: mem[queue] -> reached(3); up = true
	:: else
	fi
}

#define FREE	(SIZE - (head - mem[TAIL]))

inline wait_for_space(p)
{
	do
	:: FREE > 0 -> break
	:: else ->
		if
		:: want = 1
		:: want = SIZE
		fi;
		writer_up = false;
		store(p, ON_WQ, 1);
		store(p, WAKE_FREE, want);
		store(p, NEED_SPACE, 1);
		BARRIER_F(p);
		if
		:: FREE >= want
		:: else -> reached(4); writer_up
		fi;
		store(p, ON_WQ, 0);
		want = 0
	od
}

proctype producer(byte p)
{
	byte i, want;
	bool need;

	do
	:: i == ITEMS / 2 -> break
	:: else ->
		atomic { !tx -> tx = true };
		wait_for_space(p);
		slot[head % SIZE] = head;
		head++;
		store(p, HEAD, head);
		if
		:: BARRIER_E(p);
		   load_flag(p, NEED_DATA, need);
		   /* Another thread may publish before this one is in the kernel. */
		   tx = false;
		   if
		   :: need -> ioctl_wake(p, NEED_DATA, ON_RQ, reader_up)
		   :: else
		   fi;
		   need = false
		:: kernel_wake(p, ON_RQ, reader_up);
		   tx = false
		fi;
		i++
	od
}

/* Takes one item or all that are there. */
inline take()
{
	h = mem[HEAD];
	do
	:: t < h ->
		assert(slot[t % SIZE] == t);
		t++;
		if
		:: break
		:: skip
		fi
	:: t == h -> break
	od;
	h = 0;
	store(CONS, TAIL, t);
	if
	:: BARRIER_E(CONS);
	   load_flag(CONS, NEED_SPACE, need);
	   if
	   :: need && SIZE - (mem[HEAD] - t) >= mem[WAKE_FREE] ->
		ioctl_wake(CONS, NEED_SPACE, ON_WQ, writer_up)
	   :: else
	   fi;
	   need = false
	:: kernel_wake(CONS, ON_WQ, writer_up)
	fi
}

/* What poll does before it says "nothing", with a wait table or without. */
inline arm()
{
	store(CONS, NEED_DATA, 1);
	BARRIER_F(CONS)
}

/* A blocking reader, or poll(), which leaves the queue when it returns. */
inline blocking_reader()
{
	do
	:: t == ITEMS -> break
	:: else ->
		if
		:: mem[HEAD] != t -> take()
		:: mem[HEAD] == t ->
			reader_up = false;
#ifdef JOIN_LATE
			arm();
			store(CONS, ON_RQ, 1);
			full_barrier(CONS);
#else
			store(CONS, ON_RQ, 1);
			arm();
#endif
#ifdef NO_RECHECK
			reader_up;
#else
			if
			:: mem[HEAD] != t
			:: else -> reached(5); reader_up
			fi;
#endif
			store(CONS, ON_RQ, 0)
		fi
	od
}

/* With an event, epoll_wait() calls poll() before it tells. */
inline asked()
{
#if ASKS && !defined(NO_ASK)
	arm()
#else
	skip
#endif
}

/* Edge-triggered: an event, then reads until there is nothing; no poll again. */
inline edge_reader()
{
	store(CONS, ON_RQ, 1);
	arm();
	if
	:: mem[HEAD] != 0 -> reader_up = true
	:: else
	fi;
	do
	:: t == ITEMS -> break
	:: else ->
		atomic { reader_up -> reader_up = false };
		reached(5);
		asked();
		do
		:: mem[HEAD] != t -> take()
		:: mem[HEAD] == t -> break
		od
	od
}

/* Level-triggered: polled again after each event until it is not ready. */
inline level_reader()
{
	store(CONS, ON_RQ, 1);
	reader_up = true;
	do
	:: t == ITEMS -> break
	:: else ->
		atomic { reader_up -> reader_up = false };
		reached(5);
		asked();
		if
		:: mem[HEAD] != t -> reader_up = true; take()
		:: mem[HEAD] == t ->
			arm();
			if
			:: mem[HEAD] != t -> reader_up = true
			:: else
			fi
		fi
	od
}

proctype consumer()
{
	byte t, h;
	bool need;

#if READER == 0
	blocking_reader();
#elif READER == 1
	edge_reader();
#else
	level_reader();
#endif
	reached(6)
}

init {
	atomic {
		run drain(0);
		run drain(1);
		run drain(2);
		run consumer();
		run producer(1);
		run producer(2)
	}
}
