// SPDX-License-Identifier: GPL-2.0
/*
 * An accepted socket is asked for its pair while the client's first send makes it: it
 * is told of its own end, never of the other, and leases no role of the other's.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "stress.h"
#include "tcp_pair.h"

#define TIME_MS		3000
#define SIDE_ACCEPTED	1

/**
 * struct asker - who asks, beside who connects
 * @fd: the accepted socket, or -1 between two connections
 * @idle: the asker has left @fd alone
 * @stop: no more
 * @asked: questions
 * @right: answers of the right side
 * @wrong: of the other
 * @leased: leases of the sending role
 */
struct asker {
	atomic_int fd;
	atomic_bool idle, stop;
	atomic_long asked;
	long right, wrong, leased;
};

/* A lease of the other end's role would be shown at the other end alone. */
static void lease(struct asker *a, int fd)
{
	struct speed_info i = { 0 };
	struct speed_lease l;

	if (lease_role(fd, SPEED_ROLE_TX, &l) || get_exact(fd, SPEED_INFO, &i, sizeof(i)))
		return;
	a->leased++;
	/* One that is taken back meanwhile shows nothing. */
	a->wrong += i.leased[SPEED_ROLE_TX] && i.leased[SPEED_ROLE_TX] != l.epoch;
}

static bool told(struct asker *a, int fd)
{
	struct speed_info i = { 0 };

	atomic_fetch_add(&a->asked, 1);
	if (get_exact(fd, SPEED_INFO, &i, sizeof(i)) || !i.pair)
		return false;
	if (i.side == SIDE_ACCEPTED)
		a->right++;
	else
		a->wrong++;
	lease(a, fd);
	return true;
}

static long asks(void *arg)
{
	struct asker *a = arg;
	int fd, last = -1;

	while (!atomic_load(&a->stop)) {
		fd = atomic_load(&a->fd);
		atomic_store(&a->idle, fd < 0);
		if (fd < 0 || fd == last) {
			last = fd;
			continue;
		}
		while (atomic_load(&a->fd) == fd && !told(a, fd))
			;
		last = fd;
	}
	return 0;
}

static void wait_asked(struct asker *a)
{
	long before = atomic_load(&a->asked);

	while (atomic_load(&a->asked) < before + 2)
		;
}

static void connect_once(struct asker *a, struct chance *c, int listener, const struct address *to)
{
	struct linger reset = { 1, 0 };
	unsigned int pause;
	char byte;
	int fd[2];

	tcp_join(listener, to, tcp_socket(to), fd);
	atomic_store(&a->fd, fd[1]);
	wait_asked(a);
	for (pause = chance_below(c, 300); pause > 0; pause--)
		atomic_signal_fence(memory_order_seq_cst);
	MUST(send(fd[0], "x", 1, 0) == 1 && recv(fd[1], &byte, 1, 0) == 1);
	atomic_store(&a->fd, -1);
	while (!atomic_load(&a->idle))
		;
	MUST(!setsockopt(fd[0], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)));
	tcp_close(fd);
}

static void the_side(const struct transport *t)
{
	long until = now_ms() + soak_times(1, 20) * TIME_MS;
	struct chance c = chance_of(1);
	struct asker a = { .fd = -1 };
	struct address to;
	struct task k;
	int listener;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		trace_skip("needs two processors");
	listener = tcp_listen_at(LOCAL4, 0, &to);
	task_start(&k, asks, &a);
	while (now_ms() < until && !a.wrong)
		connect_once(&a, &c, listener, &to);
	atomic_store(&a.stop, true);
	task_join(&k);
	WANT(a.wrong, 0, 0, "answers about the other end");
	WANT_TRUE(a.right > 0, "answers: %ld of %ld questions, %ld leases", a.right, a.asked,
		  a.leased);
	close(listener);
}

static const struct test_case cases[] = {
	{ "the_side", the_side, CASE_STREAM | CASE_FUSED_ONLY },
};

RUN_CASES(cases)
