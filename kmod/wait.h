/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sleeping for bytes and for space, and waking who sleeps.
 */
#ifndef SPEED_WAIT_H
#define SPEED_WAIT_H

#include "pair.h"

void speed_wake_data(struct speed_ring *ring);
void speed_wake_space(struct speed_ring *ring);
void speed_wake_mapped_data(struct speed_ring *ring);
void speed_wake_all(struct speed_pair *pair);
bool speed_data_ready(struct speed_ring *ring, u64 want);
bool speed_space_ready(struct speed_ring *ring, u64 want);
int speed_wait_data(struct speed_ring *ring, u64 want, long *timeo);
int speed_wait_space(struct speed_ring *ring, u64 want, long *timeo);
void speed_need_data(struct speed_ring *ring);
void speed_need_space(struct speed_ring *ring);

#endif
