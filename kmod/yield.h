/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Yielding before sleeping.
 *
 * On one processor, the peer that will answer is next in line as often as not:
 * leave the processor to it once, which costs less than to sleep and be woken.
 * It was here last, did not go to sleep in a call of ours, and others than we
 * want to run. Where that was in vain, or somebody else ran instead (a tick
 * passed), it is not tried again for a number of waits that doubles; so a
 * processor with other work on it is waited for in the queue, as anywhere.
 */
#ifndef SPEED_YIELD_H
#define SPEED_YIELD_H

#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>
#include <linux/smp.h>

#include "pair.h"

/* Waits that are left out after one in vain. */
#define SPEED_SHY_MIN	8
#define SPEED_SHY_MAX	32768

static inline bool speed_yield_worthwhile(struct speed_pair *pair, int end)
{
	u16 shy = READ_ONCE(pair->shy[end]);

	if (READ_ONCE(pair->cpu[!end]) != raw_smp_processor_id() + 1)
		return false;
	if (shy) {
		WRITE_ONCE(pair->shy[end], shy - 1);
		return false;
	}
	return current->policy == SCHED_NORMAL && !single_task_running();
}

static inline void speed_yield_in_vain(struct speed_pair *pair, int end)
{
	pair->shyness[end] = clamp(2 * pair->shyness[end], SPEED_SHY_MIN, SPEED_SHY_MAX);
	pair->shy[end] = pair->shyness[end];
}

#endif
