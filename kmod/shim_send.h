/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sending on a TCP socket whose calls are ours, beyond the plain case.
 */
#ifndef SPEED_SHIM_SEND_H
#define SPEED_SHIM_SEND_H

#include "shim.h"

/* What a ring does not carry. */
#define SHIM_ODD_FLAGS	(MSG_OOB | MSG_FASTOPEN | MSG_ZEROCOPY)

ssize_t shim_send_slow(struct sock *sk, struct shim *shim, struct msghdr *msg);
void shim_nobody_reads(struct shim *shim, struct speed_ring *ring, size_t bytes);

#endif
