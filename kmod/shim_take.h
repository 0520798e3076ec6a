/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a call that receives works with, and calls that read where there is no pair.
 */
#ifndef SPEED_SHIM_TAKE_H
#define SPEED_SHIM_TAKE_H

#include "shim.h"

/**
 * struct take - one call
 * @shim: the reader's
 * @sk: its socket
 * @msg: where to
 * @len: bytes wanted in all
 * @done: bytes copied so far
 * @flags: MSG_*
 * @begun: shim_begun()
 * @control: room for control messages, where time stamps are wanted
 * @controllen: its size in bytes
 * @stamps: whether they are
 * @over: urgent bytes that a peek has passed over: one, or none
 * @over_at: TCP's number of the byte that was next then
 * @stop: it has come to one before which it ends
 * @told: TCP has told what there is to tell beside the bytes, and of the last of them
 */
struct take {
	struct shim *shim;
	struct sock *sk;
	struct msghdr *msg;
	size_t len;
	size_t done;
	int flags;
	u32 begun;
	void *control;
	size_t controllen;
	u32 over;
	u32 over_at;
	bool stop;
	bool stamps;
	bool told;
};

ssize_t shim_take(struct take *t);
ssize_t shim_peek(struct take *t, struct speed_ring *ring);
ssize_t shim_ask_end(struct sock *sk);

/* Places in the stream that a peek has behind it; 0 where the call takes the bytes. */
static inline u64 take_peeked(const struct take *t)
{
	int off = sk_peek_offset(t->sk, t->flags);

	return (off >= 0 ? off : t->done) + t->over;
}

/* How often the connection had been given up when a call began, before it sees a pair. */
static inline u32 shim_begun(const struct shim *shim)
{
	u32 begun = READ_ONCE(shim->given_up);

	smp_rmb();	/* a pair that is seen is of what is given up after this */
	return begun;
}

/**
 * shim_alone_begin() - a call is going to read TCP's bytes alone, if there is no pair
 * @shim: the reader's
 *
 * No ring is used while such a call is under way: what it finds, and the end, come before
 * all bytes of a ring.
 *
 * Return: the pair, or NULL: shim_alone_end() has to follow.
 */
static inline struct speed_pair *shim_alone_begin(struct shim *shim)
{
	struct speed_pair *pair = shim_pair(shim);

	if (likely(pair))
		return pair;
	atomic_inc(&shim->alone);
	smp_mb__after_atomic();	/* who fuses has made the pair, and looks at the count after */
	pair = shim_pair(shim);
	if (unlikely(pair))
		atomic_dec(&shim->alone);
	return pair;
}

static inline void shim_alone_end(struct shim *shim)
{
	atomic_dec(&shim->alone);
}

#endif
