// SPDX-License-Identifier: GPL-2.0
/*
 * Connection tracking forgets a connection of which it sees nothing for long, and with
 * it the translation of what TCP has to say in the end. The ring's bytes are no
 * packets. So of a connection into whose ring bytes went, and of which TCP has heard
 * nothing for QUIET, both ends send an empty acknowledgment: of one end's alone, several
 * that are alike would be taken for a sign of trouble. This is done for what is not
 * translated, too: a firewall may want to know the connection.
 */
#include <net/tcp.h>

#include "compat/compat.h"
#include "ring.h"
#include "shim.h"

#define QUIET	(5 * HZ)

/**
 * shim_unheard() - may a connection in use soon be forgotten?
 * @ring: one of its rings, which has data pages
 *
 * Context: any; waits for nobody.
 */
bool shim_unheard(struct speed_ring *ring)
{
	return shim_tracked() && speed_ring_index(ring, SPEED_ROLE_TX) != READ_ONCE(ring->heard) &&
	       keepalive_time_elapsed(tcp_sk(speed_ring_reader(ring))) > QUIET;
}

static bool acknowledge(struct sock *sk)
{
	bool can;

	local_bh_disable();
	bh_lock_sock(sk);
	can = !sock_owned_by_user(sk) &&
	      ((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT));
	if (can)
		speed_compat_send_ack(sk);
	bh_unlock_sock(sk);
	local_bh_enable();
	return can;
}

/**
 * shim_be_heard() - let those who track connections see one
 * @ring: one of its rings
 *
 * Where somebody has a socket just now, it is for the next time.
 *
 * Context: process.
 */
void shim_be_heard(struct speed_ring *ring)
{
	u64 tail = speed_ring_index(ring, SPEED_ROLE_TX);

	if (acknowledge(speed_ring_writer(ring)) && acknowledge(speed_ring_reader(ring)))
		WRITE_ONCE(ring->heard, tail);
}
