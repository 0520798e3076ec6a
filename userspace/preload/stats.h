/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the library did in this process, told at its end if SPEED_STATS asks for it.
 */
#ifndef PRE_STATS_H
#define PRE_STATS_H

#include "handle.h"

enum {
	STATS_HANDLES,	/* connections that got a handle */
	STATS_EVICTED,	/* handles taken away because idle */
	STATS_DENIED,	/* connections that the ports ruled out */
	STATS_TOLD,	/* epoll events that were told without the kernel */
	STATS_COUNT
};

void stats_start(void);
void stats_add(int what, __u64 n);
void stats_take(struct speed *s);

#endif /* PRE_STATS_H */
