/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A pair serves two kinds of sockets: AF_SPEED's, and TCP's whose calls are ours. What
 * differs between them is asked of the door that the pair was opened by.
 */
#ifndef SPEED_DOOR_H
#define SPEED_DOOR_H

#include <linux/types.h>

struct speed_map;
struct speed_pair;
struct speed_ring;
struct speed_user;

/**
 * struct speed_door - what a pair's sockets do in their own way
 * @charge: make who pays for a ring pay for bytes of memory; 0 or -ENOBUFS; its
 *	producer's lock is held; may sleep
 * @uncharge: end it; may sleep, but waits for nobody
 * @user: an endpoint's account, or NULL where memory is short; may sleep, but not for an
 *	endpoint that has paid
 * @bound: bytes that all rings of the kind may take, or NULL where they have no bound of
 *	their own
 * @settle: all was uncharged and the pair goes: whether it may go at once, or goes later
 *	by speed_pair_end(); or NULL
 * @free: whose memory the pair is, or NULL for memory of its own
 * @data_ready: whether a reader that wants so many bytes has something to do,
 *	or NULL where the ring and its overflow say all
 * @too_few: whether who waits for SO_RCVLOWAT bytes, more than one, is not to take those
 *	that there are unless its socket tells of them, or NULL
 * @wait_data: speed_wait_data() with what else the door has to say, or NULL
 * @may_lease: 0, or why a role may not be leased now; both roles' locks are held;
 *	or NULL
 * @mapped: an endpoint got a mapping file, or is done with it, which may be said
 *	twice, or NULL; may sleep
 * @untold: whether there is anything to tell others of a ring that has data pages, or
 *	NULL; called with a spin lock held
 * @tell: tell it; may sleep
 * @ring_alone: nothing goes beyond the ring into its overflow
 * @callbacks_locked: the sockets' callbacks may be such as want them locked: see tell.c
 */
struct speed_door {
	int (*charge)(struct speed_ring *ring, size_t bytes);
	void (*uncharge)(struct speed_ring *ring, size_t bytes);
	struct speed_user *(*user)(struct speed_pair *pair, int end);
	unsigned long (*bound)(const struct speed_ring *ring);
	bool (*settle)(struct speed_pair *pair);
	void (*free)(struct speed_pair *pair);
	bool (*data_ready)(struct speed_ring *ring, u64 want);
	bool (*too_few)(struct speed_ring *ring);
	int (*wait_data)(struct speed_ring *ring, u64 want, long *timeo);
	int (*may_lease)(struct speed_ring *ring, int role);
	void (*mapped)(struct speed_map *map, bool on);
	bool (*untold)(struct speed_ring *ring);
	void (*tell)(struct speed_ring *ring);
	bool ring_alone;
	bool callbacks_locked;
};

#endif
