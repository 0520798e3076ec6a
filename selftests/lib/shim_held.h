/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the loopback shim holds, so that a test can ask for it back: references to
 * the module, pairs, data pages, and TCP's own sockets and memory.
 */
#ifndef SPEED_SELFTESTS_SHIM_HELD_H
#define SPEED_SELFTESTS_SHIM_HELD_H

#include "held.h"

/**
 * struct shim_held - a count
 * @references: to the module; each socket that takes part has one
 * @orphans: TCP sockets that no file holds
 * @conns: of the shim's slab
 * @held: of the rest of the module's memory
 * @counted: whether @conns and @held could be counted
 */
struct shim_held {
	long references;
	long orphans;
	long conns;
	struct held held;
	bool counted;
};

/* In this namespace: an end that was closed alone stays for a second, by default for a minute. */
void shim_orphans_brief(void);
/* TCP's pages in use, of the machine. */
long tcp_mem_pages(void);
void shim_held_begin(struct shim_held *h);
/* Writes down whether all came back, waiting for it a while. */
void shim_held_end(const struct shim_held *before);

#endif
