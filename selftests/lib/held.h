/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module holds of the machine's memory, counted exactly, so that a test
 * can ask for it back: objects of its slabs, and data pages outside its pool.
 */
#ifndef SPEED_SELFTESTS_HELD_H
#define SPEED_SELFTESTS_HELD_H

#include <stdbool.h>

/* How long what nobody uses may stay: an orphan in FIN_WAIT2, with all that it holds, a minute. */
#define HELD_SETTLE_MS	75000

/**
 * struct held - a count
 * @pairs: struct speed_pair
 * @socks: struct speed_sock
 * @data: bytes of data pages that are in use, as the module says
 * @mapped: bytes of rings that are mapped in the kernel: of one that has grown, twice
 */
struct held {
	long pairs, socks, data, mapped;
};

/* To the module, as its sockets have them: each that takes part has one until it is freed. */
long held_references(void);
/* Root alone may count, and the kernel must show its slabs. */
bool held_can_count(void);
void held_count(struct held *h);
/* So that who wants pages gets new ones; ends the body without root. */
void held_empty_pool(void);

/* Until nothing is held, of what others have closed before: it goes first. What is held then. */
void held_settle(struct held *h);

/*
 * For tests that have another subject, around it: writes down whether all came
 * back. Where it cannot be counted, that is printed.
 */
void held_begin(struct held *h);
void held_end(const struct held *before);

#endif
