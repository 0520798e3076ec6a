// SPDX-License-Identifier: GPL-2.0
/*
 * SPEED_IOC_EPOLL: who may claim that an epoll set alone waits, and that no claim, and
 * no set that fails to join, takes a wake-up from somebody else.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "epolling.h"
#include "faults.h"
#include "hand.h"
#include "task.h"
#include "uring.h"

#define MOST	100	/* allocations of an epoll_ctl() */

static void refused(const struct transport *t)
{
	struct hand tx, rx;
	struct end e[2];
	int fd = tp_socket(t, 0), a, b;

	WANT_ERR(ioctl(fd, SPEED_IOC_EPOLL, 1), t->fused ? ENOTTY : ENOTCONN, "unconnected");
	close(fd);
	hand_both(t, e, &tx, &rx);
	WANT_ERR(ioctl(tx.fd, SPEED_IOC_EPOLL, (unsigned long)rx.l.pair), ESTALE,
		 "who has another role");
	WANT_ERR(ioctl(rx.fd, SPEED_IOC_EPOLL, (unsigned long)rx.l.pair + 1), ESTALE,
		 "another pair");
	WANT_ERR(ioctl(rx.fd, SPEED_IOC_EPOLL, 0), ESTALE, "none");
	WANT_ERR(hand_claim(&rx), EBUSY, "nobody waits");
	a = epoll_on(rx.fd, EPOLLIN);
	WANT_OK(hand_claim(&rx), "one set");
	WANT_OK(hand_claim(&rx), "again");
	b = epoll_on(rx.fd, EPOLLIN);
	WANT_ERR(hand_claim(&rx), EBUSY, "two sets");
	close(a);
	WANT_OK(hand_claim(&rx), "the other is left");
	WANT_OK(set_int(rx.fd, SOL_SPEED, SPEED_UNLEASE, SPEED_ROLE_RX), "give it back");
	WANT_ERR(hand_claim(&rx), ESTALE, "without a lease");
	close(b);
	pair_close(e);
}

/* Who waits is no set: he would be told that there is something when he asks again. */
static void no_set(const struct transport *t)
{
	struct hand tx, rx;
	struct end e[2];
	struct task k;

	hand_both(t, e, &tx, &rx);
	task_start(&k, sleeps_in_poll, &rx.fd);
	MUST(task_sleeps(&k));
	WANT_ERR(hand_claim(&rx), EBUSY, "poll() alone waits");
	WANT_TRUE(hand_put(&tx), "it is to be woken");
	WANT(task_join(&k), 1, 0, "poll()");
	WANT(hand_take_all(&rx), 1, 0, "the byte");
	WANT(poll_wait(rx.fd, POLLIN, 10), 0, 0, "there is nothing");
	pair_close(e);
}

/* One who is told once, and does not look: not before there is something. */
static void by_uring(const struct transport *t)
{
	struct io_uring_cqe cqe;
	struct hand tx, rx;
	struct end e[2];
	struct uring u;
	int ep, i;

	need_uring(&u);
	ep = hand_claimed(t, e, &tx, &rx, EPOLLIN);
	for (i = 0; i < 4; i++) {
		/* Beside the set, and alone. */
		if (i == 2)
			close(ep);
		uring_prepare(&u, IORING_OP_POLL_ADD, rx.fd, NULL, 0, 7)->poll32_events = POLLIN;
		uring_submit(&u);
		WANT_TRUE(!uring_wait(&u, &cqe, 50), "%d: nothing yet", i);
		WANT_TRUE(hand_put(&tx), "%d: it is to be woken", i);
		WANT_TRUE(uring_wait(&u, &cqe, URING_SOON_MS), "%d: a completion", i);
		WANT(cqe.res & POLLIN, POLLIN, 0, "%d: readable", i);
		WANT(hand_take_all(&rx), 1, 0, "%d: the byte", i);
	}
	uring_close(&u);
	pair_close(e);
}

/*
 * One set sleeps; another has no memory to join, or its caller's words cannot be read.
 * Return: whether an allocation has failed.
 */
static bool joins_in_vain(const struct hand *rx, int other, int n)
{
	struct epoll_event on = { .events = EPOLLIN };
	bool failed;
	int ret, err;

	faults_nth(n);
	ret = epoll_ctl(other, EPOLL_CTL_ADD, rx->fd, &on);
	err = errno;
	failed = faults_happened();
	WANT_TRUE(ret == 0 || err == ENOMEM || err == EFAULT, "%d: errno %d", n, err);
	if (ret == 0)
		MUST(epoll_ctl(other, EPOLL_CTL_DEL, rx->fd, &on) == 0);
	return failed;
}

static void without_memory(const struct transport *t)
{
	int ep, other, n = 0;
	bool failed;
	struct hand tx, rx;
	struct end e[2];
	struct task k;

	faults_need();
	ep = hand_claimed(t, e, &tx, &rx, EPOLLIN);
	other = epoll_create1(EPOLL_CLOEXEC);
	do {
		WANT(epoll_next(ep, 0), 0, 0, "%d: nothing yet", ++n);
		task_start(&k, sleeps_in_poll, &ep);
		MUST(task_sleeps(&k));
		failed = joins_in_vain(&rx, other, n);
		hand_put(&tx);
		WANT(task_join(&k), 1, 0, "%d: who slept is woken", n);
		WANT(epoll_next(ep, 0), EPOLLIN, 0, "%d: an event", n);
		WANT(hand_take_all(&rx), 1, 0, "%d: the byte", n);
	} while (failed && n < MOST);
	WANT_TRUE(!failed && n > 3, "some failed, and then none: %d", n);
	close(other);
	close(ep);
	pair_close(e);
}

#define BY_HAND	(CASE_STREAM | CASE_SPEED | CASE_FUSED)

static const struct test_case cases[] = {
	{ "refused", refused, BY_HAND },
	{ "no_set", no_set, BY_HAND },
	{ "by_uring", by_uring, BY_HAND },
	{ "without_memory", without_memory, BY_HAND },
};

RUN_CASES(cases)
