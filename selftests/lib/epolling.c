// SPDX-License-Identifier: GPL-2.0
/* What tests with epoll share: see epolling.h. */
#include <poll.h>

#include "epolling.h"
#include "trace.h"
#include "transport.h"

#define SOON_MS	20000	/* what must come comes, however slow the machine */

int epoll_on(int fd, unsigned int events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	MUST(ep >= 0);
	MUST(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) == 0);
	return ep;
}

unsigned int epoll_next(int ep, int ms)
{
	struct epoll_event ev = { 0 };
	int n = epoll_wait(ep, &ev, 1, ms);

	MUST(n >= 0);
	return n ? ev.events : 0;
}

long sleeps_in_poll(void *fd)
{
	return poll_wait(*(int *)fd, POLLIN, SOON_MS) != 0;
}
