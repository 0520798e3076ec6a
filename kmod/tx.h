/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sending by system call.
 */
#ifndef SPEED_TX_H
#define SPEED_TX_H

#include <linux/types.h>

#include "ring.h"
#include "trace.h"

struct msghdr;
struct sock;

/* A large copy is published in pieces of this size: both sides work at once. */
#define SPEED_PIECE	(32u << 10)

ssize_t speed_tx_stream(struct sock *sk, struct msghdr *msg, size_t len);
ssize_t speed_tx_record(struct sock *sk, struct msghdr *msg, size_t len);
int speed_tx_error(struct sock *sk);
int speed_tx_fault(struct speed_ring *ring);
void speed_tx_tell(struct speed_ring *ring);
int speed_tx_pause(struct sock *sk, struct speed_ring *ring, u64 want, long *timeo);

/*
 * Let the other side see @bytes of the ring, a message of @len with its header or a piece
 * of a stream. It is traced first: what the other side does upon it comes after it there, too.
 */
static inline void speed_tx_publish(struct speed_ring *ring, u64 bytes, size_t len)
{
	trace_speed_publish(ring->pair->id, ring->end, len);
	speed_ring_publish(&ring->role[SPEED_ROLE_TX].side, bytes);
}

#endif
