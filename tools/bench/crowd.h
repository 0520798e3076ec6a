/* SPDX-License-Identifier: GPL-2.0 */
/* A crowd: many connections, both ends of each in this process. */
#ifndef CROWD_H
#define CROWD_H

#include <stdint.h>

#include "bench.h"
#include "transport.h"

#define CROWD_REGIONS	6	/* of memory that an end has mapped: three each way */

struct crowd {
	unsigned int count;
	unsigned int opened;
	unsigned int closed;
	uint64_t used;	/* for who uses them in turn: how often so far */
	int *client;
	int *server;
	struct door door;
};

/* What opening and closing took, of a connection, one value a run. */
struct crowd_times {
	double open[RUNS_MAX];
	double shut[RUNS_MAX];
};

/* Makes room first, so that what crowd_open() adds to memory is the connections'. */
void crowd_prepare(struct crowd *c, unsigned int count);
/*
 * Opens all; each carries bytes both ways. Returns what that took: asking whether a
 * connection is fused, which only some are asked, is left out.
 */
uint64_t crowd_open(struct crowd *c, const struct transport *t);
/*
 * Carries so much again over each connection that the library maps those that it may, and
 * over so many that they are more than it maps once. Returns how often.
 */
unsigned int crowd_warm(struct crowd *c);
/* How many ends the library, or libspeed, has mapped in this process. */
unsigned int crowd_mapped(void);
/* By a reset, which leaves nothing in TIME_WAIT for the next one to find. */
void crowd_close(struct crowd *c);
/*
 * Opens and closes --connections in each run, and lets the last ones be used before.
 * So many that it would take long are opened once: each run is a part of them.
 */
void crowd_measure(struct series *s, void (*use)(struct series *s, struct crowd *c),
		   struct crowd_times *times);

#endif /* CROWD_H */
