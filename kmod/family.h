/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The socket of family AF_SPEED.
 */
#ifndef SPEED_FAMILY_H
#define SPEED_FAMILY_H

#include <net/sock.h>
#include "pair.h"

struct speed_addr;
struct speed_user;

/**
 * struct speed_sock - an AF_SPEED socket
 * @sk: the kernel's part; first
 * @pair: set once, when the socket is connected; until release
 * @end: which endpoint of the pair it is
 * @addr: bound address, set once; an accepted socket shows its listener's
 * @bound: whether the address is this socket's own
 * @user: who pays for its rings, apart from the control group
 * @charge_lock: serialises the accounting in @sk
 * @debt: bytes given back that the accounting in @sk does not know of yet
 * @queue_lock: a listener's: covers what follows, and leaving the state; of a connection,
 *	being told of the peer's close
 * @queue: connected and not yet accepted
 * @queued: how many
 * @told: of a connection: bytes that it sent will never be read, and it knows
 * @queue_node: membership in a listener's queue
 * @room: who waits for a place in the queue
 * @node: in the namespace's list
 */
struct speed_sock {
	struct sock sk;
	struct speed_pair *pair;
	u8 end;
	bool bound;
	struct speed_addr *addr;
	struct speed_user *user;
	struct mutex charge_lock;	/* sk_forward_alloc */
	atomic_long_t debt;
	spinlock_t queue_lock;		/* queue, queued, told */
	struct list_head queue;
	u32 queued;
	bool told;
	struct list_head queue_node;
	wait_queue_head_t room;
	struct hlist_node node;
};

static inline struct speed_sock *speed_sk(const struct sock *sk)
{
	return (struct speed_sock *)sk;
}

/* The pair, for an operation on an open socket. */
static inline struct speed_pair *speed_sk_pair(const struct sock *sk)
{
	/* Matches join(): whoever sees the pointer sees the pair. */
	return smp_load_acquire(&speed_sk(sk)->pair);
}

/* The bound address, or NULL. */
static inline struct speed_addr *speed_sk_addr(const struct sock *sk)
{
	/* Matches speed_addr_bind(): whoever sees the pointer sees the address. */
	return smp_load_acquire(&speed_sk(sk)->addr);
}

extern int speed_family;

struct sock *speed_sock_new(struct net *net, struct socket *sock, int type, int kern,
			    const struct sock *listener);
void speed_sock_close(struct sock *sk, bool embryo);
int speed_family_init(void);
void speed_family_exit(void);

#endif
