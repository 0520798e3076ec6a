// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Looking at a number that has proved busy: is it a connection that can be mapped?
 */
#include <netinet/in.h>
#include <signal.h>
#include "call.h"
#include "crew.h"
#include "ops.h"
#include "options.h"
#include "ports.h"
#include "stats.h"
#include "sys.h"

#define LOOK_AGAIN_SOON	16		/* transfers until there may be one */
#define LOOK_NEXT	1		/* who held the lock did so for an instant */
#define LOOK_AGAIN	1024		/* a TCP socket may become one: twice as many */
#define LOOK_DOUBLES	10		/* each time, so often */
#define LOOK_NEVER	(1 << 30)	/* no such socket */
#define LOOK_WORDS	(POOL_WORD_MIN / 2)	/* from here on: a handle is about to be given */

__thread struct call *call_now;

int call_fd(void)
{
	return call_now->fd;
}

bool call_still(const struct speed *s)
{
	const struct call *c = call_now;

	return __atomic_load_n(&c->e->word, __ATOMIC_RELAXED) == c->word && !call_gone(c) &&
	       pool_word_lives((const struct slot *)s, c->word);
}

static bool look_ask(int fd, int level, int name, void *val, socklen_t size)
{
	socklen_t len = size;

	return !spd_sys_getsockopt(fd, level, name, val, &len) && len == size;
}

/* Who wants connections mapped early has them looked at as often. */
static __s32 look_soon(void)
{
	return table.after < LOOK_AGAIN_SOON ? table.after : LOOK_AGAIN_SOON;
}

/* Look again after @wait transfers. */
static struct slot *look_later(struct call *c, __u64 next, __s32 wait)
{
	if (next)
		table_reach(c->fd);
	table_bare(c->e, c->word, next, wait - table.after);
	return NULL;
}

/* Not one of ours, for the reason that errno tells. */
static struct slot *look_refused(struct call *c)
{
	__u64 times = c->word < LOOK_DOUBLES ? c->word : LOOK_DOUBLES;

	switch (errno) {
	case ENOTCONN:
		return look_later(c, 0, look_soon());
	case ENOPROTOOPT:
	case EOPNOTSUPP:
		return look_later(c, times + 1, LOOK_AGAIN << times);
	default:
		return look_later(c, LOOK_DOUBLES, LOOK_NEVER);
	}
}

static void look_signals(int how, const __u64 *set, __u64 *old)
{
	raw_call(SYS_rt_sigprocmask, how, (long)set, (long)old, sizeof(*set), 0, 0);
}

/*
 * The handle that another number of the same socket has, or a new one. A signal handler
 * that leaves by siglongjmp() must not leave the pool locked. Return: whether the pool
 * could be asked; @word is 0 where it has none.
 */
static bool look_handle(const struct call *c, const struct speed_info *info, bool inet,
			__u64 *word)
{
	__u64 key = info->pair << 1 | (info->side & 1);
	bool locked, nonblock = ops_nonblock(c->fd);
	__u64 all = ~(__u64)0, old;

	look_signals(SIG_BLOCK, &all, &old);
	locked = pool_trylock();
	if (locked) {
		*word = pool_find(key);
		if (!*word)
			*word = pool_make(c->fd, (int)info->type, inet, nonblock, key);
		pool_unlock();
	}
	look_signals(SIG_SETMASK, &old, NULL);
	return locked;
}

static bool look_swap(struct entry *e, __u64 from, __u64 to)
{
	return __atomic_compare_exchange_n(&e->word, &from, to, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* Another's, who looks at what the number is after it was closed, is another word. */
static __u64 look_word(const struct call *c)
{
	return LOOK_WORDS + c->closed % LOOK_WORDS;
}

/*
 * Give the number its handle, unless it was closed meanwhile. Who gives it to another
 * descriptor counts first and clears the word then, and may have done both before this:
 * so no other thread sees the handle before the count was looked at with a word of ours
 * in place.
 */
static struct slot *look_install(struct call *c, __u64 word)
{
	__u64 mine = look_word(c);

	table_reach(c->fd);
	if (!look_swap(c->e, c->word, mine)) {
		pool_put(word);
		return NULL;
	}
	if (__atomic_load_n(&c->e->closed, __ATOMIC_SEQ_CST) != c->closed ||
	    !look_swap(c->e, mine, word)) {
		table_bare(c->e, mine, 0, 0);
		pool_put(word);
		return NULL;
	}
	c->word = word;
	if (watch_known(c->fd))
		crew_join(c->fd);
	return pool_slot(word);
}

static struct slot *look(struct call *c)
{
	struct speed_info info;
	__u32 magic;
	__u64 word;
	bool inet;

	if (!look_ask(c->fd, SOL_SPEED, SPEED_MAGIC, &magic, sizeof(magic)) ||
	    magic != SPEED_MAGIC_VALUE ||
	    !look_ask(c->fd, SOL_SPEED, SPEED_INFO, &info, sizeof(info)))
		return look_refused(c);
	if (!(info.features & SPEED_FEATURE_MAP))
		return look_later(c, LOOK_DOUBLES, LOOK_NEVER);
	if (info.state != SPEED_STATE_CONNECTED || !info.pair)
		return look_later(c, 0, look_soon());
	if (!ports_allow(c->fd, &inet)) {
		stats_add(STATS_DENIED, 1);
		return look_later(c, LOOK_DOUBLES, LOOK_NEVER);
	}
	if (!look_handle(c, &info, inet, &word))
		return look_later(c, 0, LOOK_NEXT);
	if (!word)
		return look_later(c, 0, LOOK_AGAIN);
	return look_install(c, word);
}

/**
 * call_look() - a number without a handle has been used often enough
 * @c: the transfer
 *
 * Return: the handle that it has now, or NULL. errno is kept.
 */
SPD_COLD struct slot *call_look(struct call *c)
{
	int saved = errno;
	struct slot *h = NULL;

	/* Who gives the number to another descriptor afterwards sees that it is used. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (table_own_process()) {
		pool_sweep();
		h = look(c);
	}
	errno = saved;
	return h;
}
