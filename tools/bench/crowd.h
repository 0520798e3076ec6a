/* SPDX-License-Identifier: GPL-2.0 */
/* A crowd: many connections, both ends of each in this process. */
#ifndef CROWD_H
#define CROWD_H

#include <stdint.h>

struct transport;

struct crowd {
	unsigned int count;
	int *client;
	int *server;
};

/* Makes room first, so that what crowd_open() adds to memory is the connections'. */
void crowd_prepare(struct crowd *c, unsigned int count);
/*
 * Opens all; each carries bytes both ways. Returns what that took: asking whether a
 * connection is fused, which only some are asked, is left out.
 */
uint64_t crowd_open(struct crowd *c, const struct transport *t);
void crowd_close(struct crowd *c);

#endif /* CROWD_H */
