/* SPDX-License-Identifier: GPL-2.0 */
/* The tracepoints speed:*, recorded, and counted by the pair that they tell of. */
#ifndef SPEED_SELFTESTS_TRACING_H
#define SPEED_SELFTESTS_TRACING_H

#include <stdint.h>

#define TRACING		"/sys/kernel/tracing"

/**
 * struct tracing - a recording
 * @dir: its instance
 * @log: what fired, from tracing_end() on
 */
struct tracing {
	char dir[128];
	char *log;
};

/* Ends the body where nothing can be traced. */
void tracing_need(void);
void tracing_begin(struct tracing *g);
void tracing_end(struct tracing *g);
/* How often an event of that pair fired; with end >= 0: of that end of it. */
int tracing_fired(const struct tracing *g, const char *event, uint64_t pair, int end);

/* The number of a connected socket's pair. */
uint64_t pair_of(int fd);

#endif
