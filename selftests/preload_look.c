// SPDX-License-Identifier: GPL-2.0
/*
 * epoll_wait() under the library reads the indices of mapped rings without entering
 * anything: who unmaps meanwhile takes care of it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <unistd.h>

#include "preload/under.h"
#include "tcp_pair.h"

#define IDLE	6	/* connections that nothing comes on */
#define ROUNDS	40
#define JUMPS	24
#define LATE	20	/* answers */
#define LATE_MS	20
#define LOOK_US	(LATE_MS * 1000 / 2)	/* of who looks at all */

static void add(int ep, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	MUST(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e) == 0);
}

/* Bytes there and back, of which the set tells. */
static void talk(int ep, const int fd[2], int times)
{
	struct epoll_event e;
	char byte;
	int i;

	for (i = 0; i < times; i++) {
		MUST(send(fd[1], "x", 1, MSG_NOSIGNAL) == 1);
		WANT(epoll_wait(ep, &e, 1, 20000), 1, 0, "%d: told", i);
		WANT(e.data.fd, fd[0], 0, "%d: of the right one", i);
		WANT(recv(fd[0], &byte, 1, MSG_DONTWAIT), 1, 0, "%d: the byte", i);
	}
}

static int idle_set(const struct transport *t, int idle[IDLE][2])
{
	int ep = epoll_create1(EPOLL_CLOEXEC), i;

	MUST(ep >= 0);
	for (i = 0; i < IDLE; i++) {
		under_mapped_pair(t, idle[i]);
		add(ep, idle[i][0]);
		talk(ep, idle[i], 20);
	}
	return ep;
}

static bool over;
static unsigned long looks;	/* that have ended */

/* Looks, and is not told of anything. */
static void *looker(void *arg)
{
	struct epoll_event e = { 0 };

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		if (epoll_wait(*(int *)arg, &e, 1, 1) > 0)
			WANT_TRUE(false, "told %x of %d", e.events, e.data.fd);
		__atomic_fetch_add(&looks, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

/*
 * Whoever looks now has looked. Since Linux 6.9 a set holds a file while it asks it: what is
 * closed meanwhile lives until then, and so is told when its peer is closed, too.
 */
static void looked(void)
{
	unsigned long now = __atomic_load_n(&looks, __ATOMIC_SEQ_CST);

	while (__atomic_load_n(&looks, __ATOMIC_SEQ_CST) - now < 2)
		sleep_ms(1);
}

/* Others' connections come and go in a set that somebody looks at. */
static void closing(const struct transport *t, const struct under_case *c)
{
	int idle[IDLE][2], fd[2], ep = idle_set(t, idle), i, before;
	pthread_t thread;

	before = under_regions();
	WANT_TRUE(!under_library() || before > 0, "some are mapped");
	MUST(pthread_create(&thread, NULL, looker, &ep) == 0);
	for (i = 0; i < ROUNDS; i++) {
		under_mapped_pair(t, fd);
		add(ep, fd[0]);
		sleep_ms(i & 3);
		close(fd[0]);
		looked();
		close(fd[1]);
	}
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	/* What somebody looked at when it was closed goes when others come and go. */
	for (i = 0; i < ROUNDS && (!i || under_regions() > before); i++) {
		under_mapped_pair(t, fd);
		tcp_close(fd);
	}
	WANT_TRUE(under_regions() <= before, "what was closed is not mapped any more");
	for (i = 0; i < IDLE; i++) {
		talk(ep, idle[i], 5);
		tcp_close(idle[i]);
	}
	close(ep);
}

enum { GONE, PAUSED, STAYS };	/* how a member is none any more */

/* Nothing is there: the kernel and the library take turns, so ask both. */
static void in_vain(int ep)
{
	struct epoll_event e[4];
	int i;

	for (i = 0; i < 3; i++)
		WANT(epoll_wait(ep, e, 4, 0), 0, 0, "nothing");
}

/*
 * One who was a member goes while the look has its hand behind it, and who takes its place
 * was looked at before: no event is told twice, and all are.
 */
static void twice(const struct transport *t, const struct under_case *c)
{
	struct epoll_event e[4], none = { 0 };
	int fd[STAYS + 2][2], round, i, n, ep;
	char byte;

	for (i = 0; i < STAYS + 2; i++)
		under_mapped_pair(t, fd[i]);
	for (round = 0; round < 2 * ROUNDS; round++) {
		bool paused = round & 1;
		int last = STAYS + 1;

		ep = epoll_create1(EPOLL_CLOEXEC);
		MUST(ep >= 0);
		if (round)
			under_mapped_pair(t, fd[GONE]);
		for (i = 0; i < last; i++)
			add(ep, fd[i][0]);
		in_vain(ep);
		add(ep, fd[last][0]);
		in_vain(ep);
		none.data.fd = fd[GONE][0];
		if (paused)
			MUST(epoll_ctl(ep, EPOLL_CTL_MOD, fd[GONE][0], &none) == 0);
		else
			close(fd[GONE][0]);
		MUST(send(fd[last][1], "x", 1, MSG_NOSIGNAL) == 1);
		n = epoll_wait(ep, e, 4, 20000);
		WANT(n, 1, 0, "%d: events", round);
		WANT(e[0].data.fd, fd[last][0], 0, "%d: of the right one", round);
		WANT(recv(fd[last][0], &byte, 1, MSG_DONTWAIT), 1, 0, "%d: the byte", round);
		if (paused)
			close(fd[GONE][0]);
		close(fd[GONE][1]);
		close(ep);
	}
	for (i = PAUSED; i < STAYS + 2; i++)
		tcp_close(fd[i]);
}

static sigjmp_buf out;

static void jump(int sig)
{
	siglongjmp(out, 1);
}

static void alarm_in(long us)
{
	struct itimerval when = { .it_value.tv_usec = us };

	MUST(setitimer(ITIMER_REAL, &when, NULL) == 0);
}

/* A handler leaves looks for good: what is closed later is unmapped all the same. */
static void jumped(const struct transport *t, const struct under_case *c)
{
	int idle[IDLE][2], fd[2], ep = idle_set(t, idle), i;
	static volatile int set, jumps;
	struct epoll_event e;

	signal(SIGALRM, jump);
	for (jumps = 0; jumps < JUMPS; jumps++) {
		/* One that was left is not looked at any more. */
		set = epoll_create1(EPOLL_CLOEXEC);
		MUST(set >= 0);
		for (i = 0; i < IDLE; i++)
			add(set, idle[i][0]);
		if (!sigsetjmp(out, 1)) {
			alarm_in(500 + 137 * jumps);
			for (;;)
				MUST(epoll_wait(set, &e, 1, 5) == 0);
		}
		close(set);
	}
	signal(SIGALRM, SIG_IGN);
	for (i = 0; i < IDLE; i++) {
		talk(ep, idle[i], 5);
		tcp_close(idle[i]);
	}
	WANT(under_regions(), 0, 0, "nothing is mapped");
	under_mapped_pair(t, fd);
	WANT_TRUE(!under_library() || under_regions(), "another is");
	tcp_close(fd);
	WANT(under_regions(), 0, 0, "nothing is mapped");
	close(ep);
}

/* Answers late, so long as it is asked. */
static void *late(void *arg)
{
	const int *fd = arg;
	char byte;

	while (recv(*fd, &byte, 1, 0) == 1) {
		sleep_ms(LATE_MS);
		if (send(*fd, "y", 1, MSG_NOSIGNAL) != 1)
			break;
	}
	return NULL;
}

/* Asks, and waits for the answer: how long it looked, as sleep takes no time of the thread's. */
static long ask_us(int fd, int i)
{
	long us = cpu_us();
	char byte;

	NOTE(send(fd, "x", 1, 0), "%d: asked", i);
	NOTE(recv(fd, &byte, 1, 0), "%d: answered", i);
	return cpu_us() - us;
}

/* It looks as long as SPEED_SPIN says; a machine that stands still makes one look long. */
static void spinning(const struct transport *t, const struct under_case *c)
{
	bool looks = strcmp(c->env, "SPEED_SPIN=0") && sysconf(_SC_NPROCESSORS_ONLN) > 1;
	int fd[2], i, looked = 0;
	pthread_t thread;

	under_mapped_pair(t, fd);
	MUST(pthread_create(&thread, NULL, late, &fd[1]) == 0);
	for (i = 0; i < LATE; i++)
		looked += ask_us(fd[0], i) > LOOK_US;
	shutdown(fd[0], SHUT_WR);
	pthread_join(thread, NULL);
	WANT_TRUE(!under_library() || (looks ? looked > LATE / 4 : looked < LATE / 2),
		  "it looks as long as it was told");
	if (under_library())
		fprintf(stderr, "# %s: looked %d times\n", c->env, looked);
	tcp_close(fd);
}

static const struct under_case cases[] = {
	{ "spins", spinning, UNDER_BOTH, 20, 20, "SPEED_SPIN=1000000" },
	{ "spins_not", spinning, UNDER_BOTH, 20, 20, "SPEED_SPIN=0" },
	{ "twice", twice, UNDER_BOTH, 20, 20 },
	{ "closing", closing, UNDER_BOTH, 20, 20, "SPEED_SPIN=1000" },
	{ "jumped", jumped, UNDER_BOTH, 20, 20, "SPEED_SPIN=1000" },
};

UNDER_CASES(cases)
