/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An epoll set that alone waits for data.
 */
#ifndef SPEED_EPOLL_H
#define SPEED_EPOLL_H

#include <linux/poll.h>

#include "ring.h"

int speed_epoll_claim(struct speed_ring *ring);
bool speed_epoll_alone(struct speed_ring *ring);

/* Does poll() set NEED_DATA, whatever there is? See poll.c and epoll.c. */
static inline bool speed_poll_needs_flag(const struct speed_ring *ring, const poll_table *wait)
{
	return (wait && wait->_qproc) || unlikely(READ_ONCE(ring->epoll));
}

#endif
