/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The producer role leased, revoked and settled: what each address space sent
 * arrives once and in order, and all of it that a send reported.
 */
#include "lease.pml"

#ifndef ITEMS
#define ITEMS	2	/* that each address space sends */
#endif
#define TAG(p, i)	(1 + (p) * ITEMS + (i))

byte sent[2];		/* what the sends of each have reported */

/* A plain send() in the kernel. */
inline plain_send(p)
{
	lock(p);
	revoke();
	if
	:: index - mem[OTHER] < SIZE ->
		mem[SLOT + index % SIZE] = TAG(p, sent[p]);
		index++;
		mem[OWN] = index;
		sent[p]++
	:: else -> reached(3)
	fi;
	unlock(p)
}

#define SANE	(own >= other && own - other <= SIZE)

/* A send through the mapping, with the lease "mine" and the own index "own". */
inline mapped_send(p)
{
	look(p, OTHER, 0, other);
	if
	:: SANE && own - other < SIZE ->
		store(p, SLOT + own % SIZE, TAG(p, sent[p]));
		store(p, OWN, own + 1);
		BARRIER_G(p);
		look(p, EPOCH, 0, seen);
#ifdef NO_EPOCH
		seen = mine;
#endif
		if
		:: seen == mine -> own++; sent[p]++
		:: else ->
			mine = 0;
			settle(p, counted);
			if
#if !defined(NONE_COUNTS) && !defined(ALL_COUNTS)
			:: counted > own -> reached(4); sent[p]++
			:: else -> reached(5)
#elif defined(ALL_COUNTS)
			:: sent[p]++
#else
			:: skip
#endif
			fi
		fi
	:: else ->
		/* Full, or a lie; which of them, only a lease in force can say. */
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
	d_step { other = 0; seen = 0; counted = 0 }
}

proctype space(byte p)
{
	byte own, other, seen, counted;
	byte mine;		/* the epoch of this address space's lease */

	{
		do
		:: sent[p] >= ITEMS -> break
		:: sent[p] < ITEMS && mine -> mapped_send(p)
		:: sent[p] < ITEMS && !mine && epoch < EPOCHS -> grant(p, own, mine)
		:: sent[p] < ITEMS -> mine = 0; plain_send(p)
		od;
		done[p] = true
	} unless { killed(p) }
}

proctype peer()
{
	byte t, tag;
	byte got[2];

	do
	:: atomic { mem[OWN] != t ->
		tag = mem[SLOT + t % SIZE];
		assert(tag == TAG(0, got[0]) || tag == TAG(1, got[1]));
		got[tag > ITEMS]++;
		t++;
		mem[OTHER] = t;
		tag = 0 }
	:: gone(0) && gone(1) && mem[OWN] == t -> break
	od;
	assert(got[1] == ITEMS);
	assert(got[0] >= sent[0] && got[0] <= ITEMS);
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
