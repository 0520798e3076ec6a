/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Telling those who wait on a socket's queue.
 */
#ifndef SPEED_TELL_H
#define SPEED_TELL_H

#include <linux/sched.h>
#include <linux/wait.h>

struct sock;
struct speed_pair;

/**
 * struct speed_sleeper - who waits in a call of ours
 * @entry: its place in the socket's queue
 * @told: the socket woke it itself, not we, since it asked last; at first that is taken
 *	for true, since it was not in the queue before
 */
struct speed_sleeper {
	struct wait_queue_entry entry;
	bool told;
};

int speed_woken(struct wait_queue_entry *entry, unsigned int mode, int sync, void *key);
bool speed_told(struct speed_sleeper *sleeper, struct sock *sk);

static inline void speed_sleeper_init(struct speed_sleeper *sleeper)
{
	init_waitqueue_func_entry(&sleeper->entry, speed_woken);
	sleeper->entry.private = current;
	sleeper->told = true;
}

void speed_tell_data(const struct speed_pair *pair, struct sock *sk);
void speed_tell_again(struct sock *sk);
void speed_tell_space(const struct speed_pair *pair, struct sock *sk);
void speed_tell_all(const struct speed_pair *pair, struct sock *sk);

#endif
