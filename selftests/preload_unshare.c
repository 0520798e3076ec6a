// SPDX-License-Identifier: GPL-2.0
/* A thread under the library gets a table of descriptors of its own. */
#define _GNU_SOURCE
#include <linux/close_range.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/under.h"
#include "tcp_pair.h"

/**
 * struct owner - a thread that gets numbers of its own
 * @unshares: how
 * @fd: a number
 * @other: what it is to be there
 * @turn: 2: it has them; 3: it may send
 */
struct owner {
	long (*unshares)(void);
	int fd;
	int other;
	int turn;
};

static long by_unshare(void)
{
	return unshare(CLONE_FILES);
}

static long by_syscall(void)
{
	return syscall(SYS_unshare, CLONE_FILES);
}

static long by_range(void)
{
	return close_range(1 << 20, 1 << 20, CLOSE_RANGE_UNSHARE);
}

static long by_range_syscall(void)
{
	return syscall(SYS_close_range, 1 << 20, 1 << 20, CLOSE_RANGE_UNSHARE);
}

static void await_turn(struct owner *o, int turn)
{
	while (__atomic_load_n(&o->turn, __ATOMIC_ACQUIRE) != turn)
		sleep_ms(1);
}

static long has_own(void *arg)
{
	struct owner *o = arg;

	MUST(!o->unshares() && dup2(o->other, o->fd) == o->fd);
	__atomic_store_n(&o->turn, 2, __ATOMIC_RELEASE);
	await_turn(o, 3);
	return send(o->fd, "own", 3, MSG_NOSIGNAL);
}

/* The same number is one connection here and another there. */
static void own_numbers(const struct transport *t, long (*unshares)(void))
{
	struct owner o = { .unshares = unshares };
	int mapped[2], other[2], i;
	char buf[8];
	struct task k;

	under_mapped_pair(t, mapped);
	under_pair(t, other);
	o.fd = mapped[0];
	o.other = other[0];
	task_start(&k, has_own, &o);
	await_turn(&o, 2);
	for (i = 0; i < 8; i++)
		MUST(send(mapped[0], "x", 1, 0) == 1 && recv(mapped[1], buf, 8, 0) == 1);
	__atomic_store_n(&o.turn, 3, __ATOMIC_RELEASE);
	NOTE(task_join(&k), "by the number of its own");
	NOTE(recv(other[1], buf, 8, MSG_DONTWAIT), "came by that connection");
	NOTE(recv(mapped[1], buf, 8, MSG_DONTWAIT), "and not by this");
	tcp_close(mapped);
	tcp_close(other);
}

#define WAY(way)									\
	static void way##_unshares(const struct transport *t, const struct under_case *c)	\
	{										\
		own_numbers(t, by_##way);						\
	}

WAY(unshare)
WAY(range)
WAY(syscall)
WAY(range_syscall)

static const struct under_case cases[] = {
	{ "unshare", unshare_unshares, UNDER_BOTH, 4, 4 },
	{ "range", range_unshares, UNDER_BOTH, 4, 4 },
	{ "syscall", syscall_unshares, UNDER_BOTH, 4, 4 },
	{ "range_syscall", range_syscall_unshares, UNDER_BOTH, 4, 4 },
	{ "no_table", unshare_unshares, UNDER_BOTH, UNDER_IDLE, UNDER_IDLE, "SPEED_MAPPINGS=0" },
};

UNDER_CASES(cases)
