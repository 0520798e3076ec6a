/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Overflow: what the ring cannot take goes to a list, and nothing overtakes.
 *
 * Producer 0 sends through its mapping while it has a lease, or by the kernel;
 * producer 1, another process, by the kernel alone. The consumer receives
 * through its mapping or by the kernel. The ring holds SIZE items, ring and
 * list together LIMIT; beyond that producers sleep, and the consumer sleeps
 * when there is nothing.
 *
 * The leases are as lease_tx.pml proves them: a mapped publication counts if
 * the lease is in force, and is one step here. The NEED flags are as wake.pml
 * proves them: who publishes wakes whoever is on the queue. The consumer's
 * mapped release is a late store (tso.pml), before whose barrier (E) another
 * process may take the role back: it has a barrier of its own (H).
 */
#define SIZE	2
#define LIMIT	3
#ifndef ITEMS
#define ITEMS	3	/* that each producer sends */
#endif
#define TAG(p, i)	(1 + (p) * ITEMS + (i))

#define HEAD		0
#define TAIL		1
#define OVERFLOW	2
#define WORDS		3
#define CONS		0
#define PROCS		1

#include "tso.pml"

#ifdef NO_E
#define BARRIER_E	skip
#else
#define BARRIER_E	full_barrier(CONS)
#endif
#ifdef NO_H
#define BARRIER_H	skip
#else
#define BARRIER_H	full_barrier(CONS)
#endif

byte slot[SIZE];
chan list = [LIMIT] of { byte };
byte mark;		/* the head at which the list begins */
bool list_lock;
bool tx;		/* the producer role's mutex */
bool leased;		/* to producer 0 */

bool on_rq, reader_up;
bool on_wq[2], writer_up[2];

#define LIVE	(mem[HEAD] - mem[TAIL])

inline take_lock(what)
{
	atomic { !what -> what = true }
}

inline wake_readers()
{
	atomic {
		if
		:: on_rq -> reader_up = true
		:: else
		fi
	}
}

inline wake_writers()
{
	atomic {
		writer_up[0] = writer_up[0] || on_wq[0];
		writer_up[1] = writer_up[1] || on_wq[1]
	}
}

/* One step of a publication in the ring. */
inline publish(p)
{
	slot[mem[HEAD] % SIZE] = TAG(p, sent);
	mem[HEAD] = mem[HEAD] + 1;
	sent++
}

/* With the role's mutex and the list's lock. */
inline append(p)
{
	reached(1);
	if
	:: len(list) == 0 -> mark = mem[HEAD]
	:: else
	fi;
	list!TAG(p, sent);
	mem[OVERFLOW] = 1;
	sent++
}

#ifdef PUBLISH_OVER
#define RING_OPEN	(LIVE < SIZE)
#else
#define RING_OPEN	(LIVE < SIZE && len(list) == 0)
#endif
#define FULL		(LIVE + len(list) >= LIMIT)

inline sleep_writer(p)
{
	writer_up[p] = false;
	on_wq[p] = true;
	if
	:: !FULL
	:: else -> reached(2); writer_up[p]
	fi;
	on_wq[p] = false
}

/* A send in the kernel, after which the lease is gone. */
inline kernel_send(p)
{
	take_lock(tx);
	leased = false;
	take_lock(list_lock);
	if
	:: atomic { RING_OPEN -> publish(p) };
	   list_lock = false;
	   wake_readers();
	   tx = false
	:: atomic { !RING_OPEN && !FULL -> append(p) };
	   list_lock = false;
	   wake_readers();
	   tx = false
	:: atomic { !RING_OPEN && FULL -> list_lock = false; tx = false };
	   sleep_writer(p)
	fi
}

inline grant()
{
	take_lock(tx);
#ifdef UNGUARDED
	leased = true;
#else
	atomic {
		if
		:: len(list) == 0 -> leased = true
		:: else -> reached(3)
		fi
	}
#endif
	tx = false
}

/* A send through the mapping: it counts while the lease is in force. */
inline mapped_send(p)
{
	flag = mem[OVERFLOW];
#ifdef UNGUARDED
	flag = 0;
#endif
	if
	:: flag || !leased || LIVE >= SIZE -> kernel_send(p)
	:: atomic { !flag && leased && LIVE < SIZE -> reached(4); publish(p) };
	   wake_readers()
	fi;
	flag = 0
}

proctype producer(byte p)
{
	byte sent;
	byte flag;

	do
	:: sent == ITEMS -> break
	:: sent < ITEMS -> kernel_send(p)
	:: sent < ITEMS && p == 0 && !leased -> grant()
	:: sent < ITEMS && p == 0 && leased -> mapped_send(p)
	od
}

inline got_one()
{
	assert(tag == TAG(0, got[0]) || tag == TAG(1, got[1]));
	got[tag > ITEMS]++;
	tag = 0
}

inline take_ring()
{
	atomic { tag = slot[t % SIZE]; got_one(); t++ }
}

/* From the list, with its lock. */
inline take_list()
{
	reached(5);
	atomic {
		list?tag;
		got_one();
#ifndef CLEAR_UNLOCKED
		if
		:: len(list) == 0 -> mem[OVERFLOW] = 0
		:: else
		fi;
#else
		flag = (len(list) == 0);
#endif
		list_lock = false
	};
#ifdef CLEAR_UNLOCKED
	if
	:: flag -> mem[OVERFLOW] = 0; flag = 0
	:: else
	fi;
#endif
#ifndef NO_LIST_WAKE
	wake_writers();
#endif
	skip
}

#ifdef SEEN
/*
 * Instead of by the mark: a list that was seen not to be empty, and then a ring
 * that was seen to be. The ring stays shut from the first look on, until the
 * list has been emptied.
 */
inline kernel_recv()
{
	seen = (len(list) > 0);
	if
	:: mem[HEAD] != t ->
		take_ring();
		mem[TAIL] = t;
		wake_writers()
	:: mem[HEAD] == t && seen ->
		take_lock(list_lock);
		assert(len(list) > 0);
		take_list();
#ifdef RUN_ON
		/* Another one, without another look at the ring. */
		take_lock(list_lock);
		if
		:: len(list) > 0 -> take_list()
		:: len(list) == 0 -> list_lock = false
		fi
#endif
	:: mem[HEAD] == t && !seen -> reached(6)
	fi;
	seen = false
}
#else
inline kernel_recv()
{
	if
	:: mem[HEAD] != t ->
		take_ring();
		mem[TAIL] = t;
		wake_writers()
	:: mem[HEAD] == t ->
		take_lock(list_lock);
		if
#ifdef NO_MARK
		:: len(list) > 0 -> take_list()
		:: len(list) == 0 -> list_lock = false
#else
		:: len(list) > 0 && mark == t -> take_list()
		:: len(list) > 0 && mark != t -> reached(6); list_lock = false
		:: len(list) == 0 -> list_lock = false
#endif
		fi
	fi
}
#endif

#define SOMETHING	(mem[HEAD] != t || mem[OVERFLOW])

/*
 * No barrier (F) and none in kernel_recv(): the queue's membership is not late here,
 * which wake.pml has, and no store of the mapping's is late any more, after E or H.
 */
inline sleep_reader()
{
	reader_up = false;
	on_rq = true;
	if
	:: SOMETHING
	:: else -> reached(7); reader_up
	fi;
	on_rq = false
}

/* The kernel goes on at what was stored, and wakes: the holder may not have. */
inline taken_back()
{
	BARRIER_H;
	t = mem[TAIL];
	wake_writers()
}

inline mapped_recv()
{
	if
	:: mem[HEAD] != t ->
		take_ring();
		store(CONS, TAIL, t);
		if
		:: BARRIER_E; wake_writers()
		:: reached(9); taken_back()
		fi
	:: mem[HEAD] == t ->
		flag = mem[OVERFLOW];
		if
		:: flag -> kernel_recv()
		:: else -> sleep_reader()
		fi;
		flag = 0
	fi
}

proctype consumer()
{
	byte t, tag, flag;
	bool seen;
	byte got[2];

	do
	:: got[0] + got[1] == 2 * ITEMS -> break
	:: got[0] + got[1] < 2 * ITEMS -> mapped_recv()
	:: got[0] + got[1] < 2 * ITEMS -> kernel_recv()
	od;
	assert(mem[HEAD] == t && !len(list) && !mem[OVERFLOW]);
	reached(8)
}

init {
	atomic {
		run drain(0);
		run consumer();
		run producer(0);
		run producer(1)
	}
}
