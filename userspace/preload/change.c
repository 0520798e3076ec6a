// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Interposed: epoll_ctl(), which is the kernel's; what it did is remembered. What would
 * change nothing of a mapped connection need not be done.
 */
#include "change.h"
#include "crew_set.h"
#include "export.h"
#include "real.h"
#include "table.h"
#include "transfer.h"

/*
 * The usual case of watch_begin(), quickly: the number is known to be this set's, or nobody's.
 * Return: false: it is another case.
 */
static inline bool change_usual(struct change *c)
{
	struct watch *w = &watches.at[c->fd];
	__u64 state = __atomic_load_n(&w->state, __ATOMIC_RELAXED);

	c->before = (__u32)state;
	if ((c->before && (c->before != c->set || c->before < WATCH_SETS)) ||
	    (unsigned int)c->fd >= __atomic_load_n(&watches.top, __ATOMIC_RELAXED))
		return false;
	c->ticket = watch_next(state) | WATCH_OPEN;
	return watch_move(w, state, c->ticket);
}

static inline __attribute__((always_inline)) bool
change_begins(struct change *c, int epfd, int op, int fd, const struct epoll_event *event)
{
	bool adds = op == EPOLL_CTL_ADD || op == EPOLL_CTL_MOD;

	if (!watches.at || !table_has(fd) || !table_has(epfd) ||
	    (!adds && op != EPOLL_CTL_DEL))
		return false;
	c->crew = crew_find(epfd);
	c->set = c->crew ? crew_id(c->crew) : crew_identity(epfd, adds);
	if (c->set < WATCH_SETS) {
		c->set = WATCH_UNKNOWN;
		if (!watch_known(fd))
			return false;
	}
	c->op = op;
	c->fd = fd;
	c->event = event;
	if (change_usual(c))
		return true;
	if (adds && watch_set(&watches.at[fd]) == WATCH_SET)
		crew_nests(fd);
	c->ticket = watch_begin(fd, &c->before);
	if (c->before && !crew_lives(c->before))
		c->before = WATCH_UNKNOWN;
	return true;
}

static inline __attribute__((always_inline)) void change_ends(const struct change *c, int ret)
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
	if (!(event && c->crew && crew_remind(c->crew, c->set, c->fd)) && watch_known(c->fd))
		crew_join(c->fd);
}

/*
 * Does a set that nobody else changes watch a mapped connection for just that,
 * level-triggered, already?
 */
static inline bool change_none(int epfd, int op, int fd, const struct epoll_event *event)
{
	struct crew *c;
	struct watch w;

	if (op != EPOLL_CTL_MOD || !watches.at || !table_has(fd) || !transfer_address(event) ||
	    (unsigned int)fd >= __atomic_load_n(&watches.top, __ATOMIC_RELAXED))
		return false;
	c = crew_find(epfd);
	return c && __atomic_load_n(&c->own, __ATOMIC_RELAXED) && watch_read(fd, &w) &&
	       watch_set(&w) == crew_id(c) && crew_can(&w) &&
	       w.events == event->events && w.data == event->data.u64 &&
	       pool_word_is_handle(__atomic_load_n(&table.at[fd].word, __ATOMIC_RELAXED)) &&
	       crew_surely_has(c, fd);
}

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
	return change_begins(c, epfd, op, fd, event);
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
	change_ends(c, ret);
}

PRE_CALL(int, epoll_ctl, int epfd, int op, int fd, struct epoll_event *event)
{
	struct change c;
	int ret;

	if (change_none(epfd, op, fd, event))
		return 0;
	if (!change_begins(&c, epfd, op, fd, event))
		return REAL(epoll_ctl)(epfd, op, fd, event);
	ret = REAL(epoll_ctl)(epfd, op, fd, event);
	change_ends(&c, ret);
	return ret;
}
