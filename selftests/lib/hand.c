// SPDX-License-Identifier: GPL-2.0
/* Roles that are worked by hand: see hand.h. */
#define _GNU_SOURCE
#include <sys/ioctl.h>

#include "epolling.h"
#include "hand.h"

static void hand_take(struct hand *h, int fd, int role)
{
	h->fd = fd;
	MUST(lease_role(fd, role, &h->l) == 0);
	map_all(fd, &h->l, &h->r);
}

static bool flagged(const struct hand *h)
{
	return __atomic_load_n(&((struct speed_kern *)h->r.peer)->flags, __ATOMIC_ACQUIRE) &
	       SPEED_NEED_DATA;
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

void hand_both(const struct transport *t, struct end e[2], struct hand *tx, struct hand *rx)
{
	tp_pair(t, e);
	hand_take(tx, e[0].fd, SPEED_ROLE_TX);
	hand_take(rx, e[1].fd, SPEED_ROLE_RX);
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
