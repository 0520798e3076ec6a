// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Learning from epoll_ctl().
 */
#include "change.h"
#include "crew.h"
#include "table.h"

/**
 * change_begin() - before the system call
 * @c: filled in
 * @epfd: the set's number
 * @op: any
 * @fd: any
 * @event: any
 *
 * Return: whether there is something to learn; change_end() follows.
 */
bool change_begin(struct change *c, int epfd, int op, int fd, const struct epoll_event *event)
{
	bool adds = op == EPOLL_CTL_ADD || op == EPOLL_CTL_MOD;

	if (!watches.at || !table_has(fd) || !table_has(epfd) ||
	    (!adds && op != EPOLL_CTL_DEL))
		return false;
	c->set = crew_identity(epfd, adds);
	if (!c->set && !watch_known(fd))
		return false;
	c->op = op;
	c->fd = fd;
	c->event = event;
	c->ticket = watch_begin(fd, &c->before);
	if (c->before && !crew_lives(c->before))
		c->before = WATCH_UNKNOWN;
	return true;
}

/**
 * change_end() - after it
 * @c: from change_begin()
 * @ret: its result
 *
 * Context: errno is kept.
 */
void change_end(const struct change *c, int ret)
{
	bool ours = !c->before || c->before == c->set;
	const struct epoll_event *event = NULL;
	__u32 set = WATCH_UNKNOWN;

	if (ret) {
		/* Nothing has changed, unless what was known was wrong. */
		if (errno != ENOENT || c->before != c->set)
			set = c->before;
	} else if (c->op == EPOLL_CTL_ADD && !ours) {
		set = c->before;
	} else if (c->op != EPOLL_CTL_DEL && ours) {
		set = c->set;
		event = c->event;	/* the kernel has read it */
	}
	/* Another set, or another number of the same one: that cannot be told apart. */
	watch_end(c->fd, c->ticket, set, event);
	if (watch_known(c->fd))
		crew_join(c->fd);
}
