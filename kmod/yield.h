/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Yielding before sleeping.
 *
 * On one processor, the peer that will answer is next in line as often as not:
 * leave the processor to it once, which costs less than to sleep and be woken.
 * It was here last, is not known to sleep in a call of ours, and others than we
 * want to run. Where that was in vain, or somebody else ran instead (a tick
 * passed), it is not tried again for a number of waits that doubles; so a
 * processor with other work on it is waited for in the queue, as anywhere.
 *
 * Since Linux 6.6 who yields gives up the rest of a slice, which is the longer
 * the nicer the task is: a nice one sleeps at once.
 */
#ifndef SPEED_YIELD_H
#define SPEED_YIELD_H

#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>

#include "compat/compat.h"
#include "pair.h"

/* Waits that are left out after one in vain; of a connection's first there are fewer. */
#define SPEED_SHY_MIN	8
#define SPEED_SHY_FIRST	1024
#define SPEED_SHY_MAX	32768

/* Has what was yielded for last time come? If not, now is a time to sleep. */
static inline bool speed_yield_may(struct speed_shy *shy)
{
	u16 left = READ_ONCE(shy->left);

	if (left) {
		WRITE_ONCE(shy->left, left - 1);
		return false;
	}
	return current->policy == SCHED_NORMAL && task_nice(current) <= 0 &&
	       !single_task_running();
}

/* Ticks that passed, which are off the time that is left. */
static inline unsigned long speed_yield(long *timeo)
{
	unsigned long then = jiffies, ticks;

	speed_compat_yield();
	ticks = jiffies - then;
	if (*timeo != MAX_SCHEDULE_TIMEOUT)
		*timeo -= min_t(unsigned long, ticks, *timeo);
	return ticks;
}

/* @came: and before a tick passed. @most: waits to leave out */
static inline void speed_yield_learn(struct speed_shy *shy, bool came, u16 most)
{
	u16 span = READ_ONCE(shy->span);

	if (likely(came)) {
		WRITE_ONCE(shy->span, span / 2);
		return;
	}
	span = clamp_t(u16, 2 * span, SPEED_SHY_MIN, most);
	WRITE_ONCE(shy->span, span);
	WRITE_ONCE(shy->left, span);
}

#endif
