/* SPDX-License-Identifier: GPL-2.0 */
/* Roles that are worked by hand, and an epoll set that alone waits for them. */
#ifndef SPEED_SELFTESTS_HAND_H
#define SPEED_SELFTESTS_HAND_H

#include "harness.h"
#include "regions.h"

/**
 * struct hand - a role that is worked by hand
 * @fd: the socket
 * @l: the lease
 * @r: the regions
 */
struct hand {
	int fd;
	struct speed_lease l;
	struct regions r;
};

static inline __u64 *hand_own(const struct hand *h)
{
	return &((struct speed_index *)h->r.own)->index;
}

static inline uint64_t hand_other(const struct hand *h)
{
	return regions_other(&h->r);
}

/* Leases and maps it; false, with errno, where there is no lease to be had, or it is gone. */
bool hand_try(struct hand *h, int fd, int role);
void hand_drop(const struct hand *h);
/* A byte. Return: whether somebody had to be woken. */
bool hand_put(const struct hand *tx);
/* All that is there. Return: bytes. */
uint64_t hand_take_all(const struct hand *rx);
/* A connection: who sends, and who receives. */
void hand_both(const struct transport *t, struct end e[2], struct hand *tx, struct hand *rx);
/* SPEED_IOC_EPOLL. */
int hand_claim(const struct hand *rx);
/* Both roles, and a set that alone waits and has said so. Return: the set. */
int hand_claimed(const struct transport *t, struct end e[2], struct hand *tx,
		 struct hand *rx, unsigned int events);

#endif
