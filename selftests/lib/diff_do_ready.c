// SPDX-License-Identifier: GPL-2.0
/* Readiness, by an actor: see diff_work.h. */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#include "diff_do.h"

static long do_poll(struct diff_call *c)
{
	struct pollfd p = { .fd = c->fd, .events = diff_poll_events(c->s->words) };
	long ret = poll(&p, 1, c->s->words & DW_WAIT ? -1 : 0);

	c->r->mask = diff_poll_words(p.revents);
	c->r->has |= DR_MASK;
	return ret;
}

static long do_select(struct diff_call *c)
{
	static const uint32_t of[3] = { DW_IN, DW_OUT, DW_PRI };
	struct timeval now = { 0 };
	fd_set sets[3];
	long ret;
	int i;

	if (c->fd < 0)
		return diff_fail(EBADF);
	for (i = 0; i < 3; i++) {
		FD_ZERO(&sets[i]);
		if (c->s->words & of[i])
			FD_SET(c->fd, &sets[i]);
	}
	ret = select(c->fd + 1, &sets[0], &sets[1], &sets[2], c->s->words & DW_WAIT ? NULL : &now);
	c->r->has |= DR_MASK;
	for (i = 0; ret > 0 && i < 3; i++) {
		if (FD_ISSET(c->fd, &sets[i]))
			c->r->mask |= of[i];
	}
	return ret;
}

static long do_epctl(struct diff_call *c, int op)
{
	struct epoll_event e = {
		.events = diff_poll_events(c->s->words), .data.u32 = c->s->fd,
	};

	if (c->p->epoll < 0) {
		c->p->epoll = epoll_create1(EPOLL_CLOEXEC);
		DIFF_MUST(c->p->epoll >= 0);
	}
	return epoll_ctl(c->p->epoll, op, c->fd, &e);
}

/* In the order of the descriptors: the order of the list is chance. */
static long do_epwait(struct diff_call *c)
{
	struct epoll_event e[DIFF_FDS];
	long ret = epoll_wait(c->p->epoll, e, DIFF_FDS, c->s->words & DW_WAIT ? -1 : 0);
	int i;

	c->r->has |= DR_MASK;
	for (i = 0; i < ret; i++)
		*(e[i].data.u32 ? &c->r->mask2 : &c->r->mask) |= diff_poll_words(e[i].events);
	return ret;
}

void diff_do_ready(struct diff_call *c)
{
	switch (c->s->code) {
	case DO_POLL:
		c->r->ret = do_poll(c);
		break;
	case DO_SELECT:
		c->r->ret = do_select(c);
		break;
	case DO_EPADD:
		c->r->ret = do_epctl(c, EPOLL_CTL_ADD);
		break;
	case DO_EPMOD:
		c->r->ret = do_epctl(c, EPOLL_CTL_MOD);
		break;
	case DO_EPDEL:
		c->r->ret = do_epctl(c, EPOLL_CTL_DEL);
		break;
	default:
		c->r->ret = do_epwait(c);
	}
}
