/* SPDX-License-Identifier: GPL-2.0 */
/* What moves a fused connection to TCP while it lives, and how it is undone. */
#ifndef SPEED_SELFTESTS_MOVERS_H
#define SPEED_SELFTESTS_MOVERS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct mover - a reason
 * @name: for messages
 * @off: gives the reason; false where the machine cannot
 * @on: takes it back
 * @reason: SPEED_TCP_* that is told of the bytes that the first end sends
 * @refused: errno of the calls meanwhile, or 0
 */
struct mover {
	const char *name;
	bool (*off)(const int fd[2]);
	void (*on)(const int fd[2]);
	unsigned int reason;
	int refused;
};

extern const struct mover movers[];
/* Those that this kernel has: all, or all but the last, which needs CONFIG_NET_SCHED. */
size_t movers_here(void);
bool movers_all(void);
extern const struct mover *const mover_queueing;

#endif
