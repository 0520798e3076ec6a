/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Leases of one role, shared by lease_tx.pml and lease_rx.pml.
 *
 * Two address spaces, 0 and 1, exercise the role: by plain system call, or
 * through a mapping once they have leased it, as the checker likes. Each plain
 * call and each lease takes the role back from whoever holds it, so that a
 * revocation comes at every step of the holder's operation. With DEATH,
 * address space 0 dies at any step and the kernel takes its lease back.
 *
 * What a holder stores through its mapping is late (tso.pml), and the page
 * under it is looked up only when the store lands: once the mapping is gone it
 * falls on a scratch page. That is weaker than any processor is with the
 * flush that a revocation makes. The kernel's own stores land at once; it
 * works under the role's mutex and fences.
 */
#define SIZE	2
#ifndef EPOCHS
#define EPOCHS	3	/* leases given in all */
#endif

/* Shared words: the role's own index, the other role's, the epoch, the data. */
#define OWN	0
#define OTHER	1
#define EPOCH	2
#define SLOT	3
#define WORDS	(SLOT + SIZE)
#define PROCS	2
#define DRAIN(p, word, value)						\
	if								\
	:: mapped[p] -> mem[word] = value				\
	:: else -> reached(1)						\
	fi

bool mapped[2];		/* the page-table entries of each address space */

#include "tso.pml"

#ifdef NO_G
#define BARRIER_G(p)	skip
#else
#define BARRIER_G(p)	full_barrier(p)
#endif

bool mutex;		/* the role's, in the kernel; guards what follows */
byte leased;		/* 0, or the holder's address space + 1 */
byte epoch;		/* the last that was given */
byte index;		/* the role's own index while it is not leased */
byte final[2];		/* the index at which each address space lost its lease */

bool dead;		/* address space 0 */
bool buried;		/* and its lease has been taken back */
bool done[2];
bool inside[2];		/* in the kernel, where a killed process does not die */

inline lock(p)
{
	atomic { !mutex -> mutex = true; inside[p] = true }
}

inline unlock(p)
{
	atomic { mutex = false; inside[p] = false }
}

/* In the kernel, with the mutex. */
inline revoke()
{
	if
	:: leased ->
		mem[EPOCH] = 0;
#ifdef NO_H
		index = mem[OWN];
		mapped[leased - 1] = false;
#else
		mapped[leased - 1] = false;
		index = mem[OWN];
#endif
#ifdef ONE_FINAL
		final[0] = index;
		final[1] = index;
#else
		final[leased - 1] = index;
#endif
		leased = 0
	:: else
	fi
}

/* SPEED_LEASE: epochs are few here, to keep the model small. */
inline grant(p, own, mine)
{
	lock(p);
	if
	:: epoch < EPOCHS ->
		revoke();
		/* No one has a mapping now: one step is as good as many. */
		atomic {
			epoch++;
			mem[EPOCH] = epoch;
			mapped[p] = true;
			leased = p + 1;
			own = index;
			mine = epoch
		}
	:: else
	fi;
	unlock(p)
}

/* SPEED_SETTLE */
inline settle(p, into)
{
	atomic { !mutex -> into = final[p] }
}

/* What the holder sees through a mapping that may be gone. */
inline look(p, word, scratch, into)
{
	if
	:: mapped[p] -> into = mem[word]
	:: !mapped[p] -> into = scratch
	fi
}

/* Death at any step; what the dead had stored lands or not, then the lease ends. */
proctype reaper()
{
#ifdef DEATH
	if
	:: dead = true;
	   !inside[0];
	   lock(0);
	   if
	   :: leased == 1 -> reached(2); revoke()
	   :: else
	   fi;
	   unlock(0);
	   buried = true
	:: true
	fi
#else
	skip
#endif
}

#define gone(p)	(done[p] || (p == 0 && buried))
#define killed(p)	(p == 0 && dead && !inside[0])
