/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A function of the kernel made slow for one thread, by a BPF program on a kprobe: what
 * others do meanwhile falls between two looks of a call, of which one is before it. Others
 * need another processor for that.
 */
#ifndef SPEED_SELFTESTS_DELAY_H
#define SPEED_SELFTESTS_DELAY_H

#include <stdatomic.h>
#include <stdbool.h>

#define DELAY_MS	20

/**
 * struct delay_turn - a thread that is ready for its slow call, whose turn is yet to come
 * @ready: it waits
 * @go: it may
 */
struct delay_turn {
	atomic_bool ready, go;
};

/*
 * From now on the calling thread's calls of @function, of the kernel or a module, begin
 * with a pause of DELAY_MS, or a little less where the processor is fast. A descriptor,
 * which ends it when it is closed. Ends the body where there are no kprobes.
 */
int delay_begin(const char *function);
/* Has a thread of this process been held up since the last delay_begin()? */
bool delay_met(void);
/* The same, and waits for its turn: what delay_begin() does takes longer than the pause. */
int delay_begin_in_turn(struct delay_turn *turn, const char *function);
/* Until a thread waits for its turn. */
void delay_await(struct delay_turn *turn);

#endif
