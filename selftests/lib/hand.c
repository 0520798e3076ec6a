// SPDX-License-Identifier: GPL-2.0
/* Roles that are worked by hand: see hand.h. */
#define _GNU_SOURCE
#include <sys/ioctl.h>

#include "epolling.h"
#include "hand.h"

#define TRIES	10

bool hand_try(struct hand *h, int fd, int role)
{
	h->fd = fd;
	return !lease_role(fd, role, &h->l) && map_try(fd, &h->l, &h->r);
}

void hand_drop(const struct hand *h)
{
	unmap_all(&h->l, &h->r);
}

static bool flagged(const struct hand *h)
{
	return regions_flags(&h->r) & SPEED_NEED_DATA;
}

bool hand_put(const struct hand *tx)
{
	__atomic_store_n(hand_own(tx), *hand_own(tx) + 1, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!flagged(tx))
		return false;
	MUST(ioctl(tx->fd, SPEED_IOC_WAKE, SPEED_WAKE_READER) == 0);
	return true;
}

uint64_t hand_take_all(const struct hand *rx)
{
	uint64_t head = hand_other(rx), n = head - *hand_own(rx);

	__atomic_store_n(hand_own(rx), head, __ATOMIC_RELEASE);
	return n;
}

static bool try_both(const struct end e[2], struct hand *tx, struct hand *rx)
{
	if (!hand_try(tx, e[0].fd, SPEED_ROLE_TX))
		return false;
	if (hand_try(rx, e[1].fd, SPEED_ROLE_RX))
		return true;
	hand_drop(tx);
	return false;
}

/*
 * A ring of fused TCP that was idle for a second has no pages until somebody sends again, and
 * a lease that is not mapped soon is none: then another connection.
 */
void hand_both(const struct transport *t, struct end e[2], struct hand *tx, struct hand *rx)
{
	int tries;

	tp_pair(t, e);
	for (tries = 1; !try_both(e, tx, rx); tries++) {
		MUST((errno == EAGAIN || errno == EPERM) && tries < TRIES);
		pair_close(e);
		tp_pair(t, e);
	}
}

int hand_claim(const struct hand *rx)
{
	return ioctl(rx->fd, SPEED_IOC_EPOLL, (unsigned long)rx->l.pair);
}

int hand_claimed(const struct transport *t, struct end e[2], struct hand *tx,
		 struct hand *rx, unsigned int events)
{
	int ep;

	hand_both(t, e, tx, rx);
	ep = epoll_on(rx->fd, events);
	WANT_OK(hand_claim(rx), "claim");
	return ep;
}
