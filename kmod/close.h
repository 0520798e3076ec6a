/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shutdown and close.
 */
#ifndef SPEED_CLOSE_H
#define SPEED_CLOSE_H

#include <net/sock.h>

#include "family.h"

int speed_shutdown_how(struct sock *sk, int how);
void speed_tell_closed(struct speed_pair *pair, int end, bool lost);
void speed_disconnect_pair(struct sock *sk, bool embryo);

/*
 * sock_error(): who is told that the peer was closed finds the end when it looks next.
 * Return: 0, or the error, which is told once.
 */
static inline int speed_sock_error(struct sock *sk)
{
	int err = sock_error(sk);

	if (unlikely(err)) {
		/* Both are set under it: speed_tell_closed() */
		spin_lock(&speed_sk(sk)->queue_lock);
		spin_unlock(&speed_sk(sk)->queue_lock);
	}
	return err;
}

#endif
