/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The consumer role leased, revoked and settled: each item is given to one
 * receive and to one only, in order, and is what was sent. What a receive had
 * copied beyond the final index is thrown away and read again.
 */
#include "lease.pml"

#ifndef ITEMS
#define ITEMS	4	/* sent in all */
#endif
#define GARBAGE	255

byte next[2];		/* the least item that an address space may be given */
byte given[ITEMS];	/* how often each item was given */

inline give(p, item)
{
	atomic {
		assert(item != GARBAGE && item >= next[p]);
		given[item]++;
		assert(given[item] == 1);
		next[p] = item + 1
	}
}

/* A plain recv() in the kernel. */
inline plain_recv(p)
{
	lock(p);
	revoke();
	if
	:: mem[OTHER] != index -> atomic {
		assert(mem[SLOT + index % SIZE] == index);
		give(p, index);
		index++;
		mem[OWN] = index }
	:: else -> reached(3)
	fi;
	unlock(p)
}

#define SANE	(other >= own && other - own <= SIZE)

/* A receive through the mapping, with the lease "mine" and the own index "own". */
inline mapped_recv(p)
{
	look(p, OTHER, 0, other);
	if
	:: SANE && other != own ->
		look(p, SLOT + own % SIZE, GARBAGE, copy);
		store(p, OWN, own + 1);
		BARRIER_G(p);
		look(p, EPOCH, 0, seen);
#ifdef NO_EPOCH
		seen = mine;
#endif
		if
		:: seen == mine ->
			assert(copy == own);
			give(p, copy);
			own++
		:: else ->
			mine = 0;
			settle(p, counted);
			if
#if !defined(NONE_COUNTS) && !defined(ALL_COUNTS)
			:: counted > own ->
				reached(4);
				assert(copy == own);
				give(p, copy)
			:: else -> reached(5)
#elif defined(ALL_COUNTS)
			:: give(p, copy)
#else
			:: skip
#endif
			fi
		fi
	:: else ->
		/* Empty, or a lie; which of them, only a lease in force can say. */
#ifndef TRUST_LIE
		look(p, EPOCH, 0, seen);
		if
		:: seen != mine -> mine = 0
		:: else -> assert(SANE)
		fi
#else
		assert(SANE)
#endif
	fi;
	d_step { other = 0; seen = 0; counted = 0; copy = 0 }
}

#define ENOUGH	(index == ITEMS && !leased)

/* Each stops on end-of-file, which a plain call tells once all was taken. */
proctype space(byte p)
{
	byte own, other, seen, counted, copy;
	byte mine;		/* the epoch of this address space's lease */

	{
		do
		:: ENOUGH -> break
		:: !ENOUGH && mine -> mapped_recv(p)
		:: !ENOUGH && !mine && epoch < EPOCHS -> grant(p, own, mine)
		:: !ENOUGH -> mine = 0; plain_recv(p)
		od;
		done[p] = true
	} unless { killed(p) }
}

proctype peer()
{
	byte i, lost;

	do
	:: i == ITEMS -> break
	:: atomic { i < ITEMS && i - mem[OWN] < SIZE ->
		mem[SLOT + i % SIZE] = i;
		i++;
		mem[OTHER] = i }
	od;
	gone(0) && gone(1);
	/* The item that the dead was about to be given is lost with it, no other. */
	i = 0;
	do
	:: i == ITEMS -> break
	:: else -> d_step {
		lost = lost + 1 - given[i];
		i++ }
	od;
	assert(lost <= dead);
	reached(6)
}

init {
	atomic {
		run drain(0);
		run drain(1);
		run peer();
		run space(0);
		run space(1);
		run reaper()
	}
}
