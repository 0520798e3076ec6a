/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much of what rings may take can be mapped.
 */
#ifndef SPEED_SHARE_H
#define SPEED_SHARE_H

#include <linux/types.h>

struct speed_ring;

bool speed_share_left(struct speed_ring *ring, int role);
bool speed_share_take(struct speed_ring *ring, int role);
void speed_share_drop(struct speed_ring *ring, int role);
void speed_share_exit(void);

#endif
