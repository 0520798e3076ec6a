/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Idle rings give their data pages back.
 */
#ifndef SPEED_REAP_H
#define SPEED_REAP_H

#include <linux/types.h>

struct speed_ring;

void speed_reap_add(struct speed_ring *ring);
void speed_reap_del(struct speed_ring *ring);
void speed_reap_sort(struct speed_ring *ring);
void speed_reap_stray(struct speed_ring *ring, int role, unsigned long age);
bool speed_reap_now(struct speed_ring *ring, size_t bytes);
void speed_reap_exit(void);

#endif
