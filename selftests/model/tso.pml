/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared memory in which stores may be late: a FIFO of stores a process, which
 * empties itself at any time, and which a full barrier waits for. Loads see
 * memory, never another process's FIFO. Including files define WORDS and
 * PROCS, and DRAIN(p, word, value) where a store must do more than land.
 *
 * A load of a word that the same process has a store to under way waits for
 * it, which stands for the forwarding of a store to a load.
 */
#define DEPTH	3

byte mem[WORDS];
chan fifo[PROCS] = [DEPTH] of { byte, byte };

#define full_barrier(p)	empty(fifo[p])

inline store(p, word, value) { fifo[p]!word, value }

#define pending(p, word) \
	(fifo[p]??[word, 0] || fifo[p]??[word, 1] || fifo[p]??[word, 2])

inline load_flag(p, word, into)
{
	atomic { !pending(p, word) -> into = mem[word] }
}

/* With REACH=n the model must fail here: what it proves is not proved of nothing. */
#ifndef REACH
#define REACH		0
#endif
#define reached(n)	assert(REACH != n)

#ifndef DRAIN
#define DRAIN(p, word, value)	mem[word] = value
#endif

proctype drain(byte p)
{
	byte word, value;
end:
	do
	:: atomic { fifo[p]?word, value -> DRAIN(p, word, value); word = 0; value = 0 }
	od
}
