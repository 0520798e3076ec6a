/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receiving by system call.
 */
#ifndef SPEED_RX_H
#define SPEED_RX_H

#include <linux/types.h>

struct iov_iter;
struct msghdr;
struct sock;
struct speed_ring;
struct speed_side;

ssize_t speed_rx_stream(struct sock *sk, struct iov_iter *to, size_t len, int flags);
ssize_t speed_rx_record(struct sock *sk, struct msghdr *msg, size_t len, int flags);
s64 speed_rx_ready(struct speed_ring *ring, u64 want);
void speed_rx_release(struct speed_ring *ring, u64 bytes);
int speed_rx_payload(struct sock *sk);
int speed_rx_pause(struct speed_ring *ring, u64 want, long *timeo);
bool speed_rx_hopeless(struct speed_ring *ring, long timeo);

#endif
