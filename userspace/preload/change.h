/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * epoll_ctl(), before and after.
 */
#ifndef PRE_CHANGE_H
#define PRE_CHANGE_H

#include "watch.h"

/**
 * struct change - an epoll_ctl() under way
 * @op: EPOLL_CTL_*
 * @fd: the number that is watched
 * @crew: the set, or NULL: it was not known
 * @set: its identity
 * @before: who watched the number before
 * @ticket: from watch_begin()
 * @event: what for; the caller's
 */
struct change {
	int				op;
	int				fd;
	struct crew			*crew;
	__u32				set;
	__u32				before;
	__u64				ticket;
	const struct epoll_event	*event;
};

bool change_begin(struct change *c, int epfd, int op, int fd, const struct epoll_event *event);
void change_end(const struct change *c, int ret);

#endif /* PRE_CHANGE_H */
