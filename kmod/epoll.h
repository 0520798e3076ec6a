/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An epoll set that alone waits for data.
 */
#ifndef SPEED_EPOLL_H
#define SPEED_EPOLL_H

#include <linux/poll.h>

#include "ring.h"

/* poll(): does who asks join the queue? Since 7.x the kernel has no word of its own for it. */
static inline bool speed_poll_joins(const poll_table *wait)
{
	return wait && wait->_qproc;
}

int speed_epoll_claim(struct speed_ring *ring, const struct file *file);
bool speed_epoll_alone(struct speed_ring *ring);
u64 speed_poll_begin(struct speed_ring *ring, const poll_table *wait);
__poll_t speed_poll_flag(struct speed_ring *ring, const struct file *file,
			 const poll_table *wait, u64 ticket);

#endif
