// SPDX-License-Identifier: GPL-2.0
/*
 * SO_BUSY_POLL on a fused connection: a reader looks at the ring for that long before it
 * sleeps, and what comes soon is read without sleeping. With net.core.busy_poll set,
 * poll() and select() look, too.
 *
 * A call that slept is known by the switches of its thread that were its own wish. On a
 * busy machine some calls do: it is enough that the most do not in one of many rounds,
 * while without the option nearly all do in each.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <unistd.h>

#include "stress.h"
#include "tcp_pair.h"

#define BALLS		40	/* of a round */
#define AWAKE		(BALLS / 2)	/* sleeps of a round that shows that they look */
#define ASLEEP		(BALLS - BALLS / 4)	/* of one that shows that they do not */
#define LOOK_US		2000000	/* longer than another processor is ever held up */
#define TIME_MS		15000
#define BUSY_POLL	"/proc/sys/net/core/busy_poll"

enum how { BY_RECV, BY_POLL, BY_SELECT };

static const char * const names[] = { "recv()", "poll()", "select()" };

/* For as long as it takes: whether there is something to read. */
static bool wait_for(int fd, enum how how)
{
	struct timeval long_time = { .tv_sec = 20 };
	fd_set set;

	if (how == BY_POLL)
		return poll_wait(fd, POLLIN, 20000) & POLLIN;
	FD_ZERO(&set);
	FD_SET(fd, &set);
	return how == BY_RECV || select(fd + 1, &set, NULL, NULL, &long_time) == 1;
}

static long own_switches(void)
{
	struct rusage u;

	MUST(getrusage(RUSAGE_THREAD, &u) == 0);
	return u.ru_nvcsw;
}

/**
 * struct player - who sends each ball back
 * @fd: its end
 * @how: as it waits
 * @wrong: balls that were
 */
struct player {
	int fd;
	enum how how;
	int wrong;
};

static long play(void *arg)
{
	struct player *p = arg;
	char ball;

	on_processor(1);
	while (wait_for(p->fd, p->how) && recv(p->fd, &ball, 1, 0) == 1)
		p->wrong += send(p->fd, &ball, 1, MSG_NOSIGNAL) != 1;
	return 0;
}

/* How often this end slept. */
static int one_round(int fd, enum how how, int *wrong)
{
	long before = own_switches();
	char ball;
	int i;

	for (i = 0; i < BALLS; i++) {
		*wrong += send(fd, &(char){ i }, 1, 0) != 1;
		*wrong += !wait_for(fd, how) || recv(fd, &ball, 1, 0) != 1 || ball != (char)i;
	}
	return own_switches() - before;
}

/*
 * The rounds come to an end when one shows what is wanted. Return: the fewest sleeps of a
 * round where @look, the most otherwise.
 */
static int sleeps_of(const int fd[2], enum how how, bool look)
{
	long until = now_ms() + TIME_MS;
	int best = look ? BALLS : 0, wrong = 0, now;
	struct player p = { fd[1], how };
	struct task k;

	task_start(&k, play, &p);
	do {
		now = one_round(fd[0], how, &wrong);
		best = look ? (now < best ? now : best) : (now > best ? now : best);
	} while (now_ms() < until && (look ? best > AWAKE : best < ASLEEP));
	MUST(shutdown(fd[0], SHUT_WR) == 0);
	task_join(&k);
	WANT(wrong + p.wrong, 0, 0, "%s: wrong", names[how]);
	return best;
}

/* The option at both ends, or at none. */
static void rounds(enum how how, bool look)
{
	int fd[2], i, sleeps;

	tcp_fused_pair(fd);
	for (i = 0; look && i < 2; i++)
		WANT_OK(set_int(fd[i], SOL_SOCKET, SO_BUSY_POLL, LOOK_US), "SO_BUSY_POLL");
	sleeps = sleeps_of(fd, how, look);
	trace_num(sleeps, "%s: sleeps, looking %d", names[how], look);
	if (look)
		WANT_TRUE(sleeps <= AWAKE, "%s: it does not sleep: %d times of %d", names[how],
			  sleeps, BALLS);
	else
		WANT_TRUE(sleeps >= ASLEEP, "%s: without, it sleeps: %d times of %d", names[how],
			  sleeps, BALLS);
	WANT(tcp_flags(fd[1]) & SPEED_FUSION_RX, SPEED_FUSION_RX, 0, "by the ring");
	tcp_close(fd);
}

static void need_two(void)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		trace_skip("needs two processors: nobody looks where its peer could not run");
}

static void receiving(const struct transport *t)
{
	need_two();
	tcp_shim_net();
	on_processor(0);
	rounds(BY_RECV, false);
	rounds(BY_RECV, true);
}

/* The sysctl is the machine's, and not to be seen from other namespaces. */
static void polling(const struct transport *t)
{
	char before[32] = "", look[32];
	int sysctl;

	need_two();
	if (file_read(BUSY_POLL, before, sizeof(before)))
		trace_skip("needs CONFIG_NET_RX_BUSY_POLL");
	sysctl = open(BUSY_POLL, O_WRONLY | O_CLOEXEC);
	MUST(sysctl >= 0);
	tcp_shim_net();
	on_processor(0);
	rounds(BY_POLL, false);
	snprintf(look, sizeof(look), "%d", LOOK_US);
	MUST(pwrite(sysctl, look, strlen(look), 0) > 0);
	rounds(BY_POLL, true);
	rounds(BY_SELECT, true);
	MUST(pwrite(sysctl, before, strlen(before), 0) > 0);
	close(sysctl);
}

/* An answer that does not come soon is slept for, and comes. */
static void late(const struct transport *t)
{
	struct end e;
	struct call c;
	struct task k;
	char byte = 0;
	int fd[2];

	tcp_shim_net();
	tcp_fused_pair(fd);
	WANT_OK(set_int(fd[1], SOL_SOCKET, SO_BUSY_POLL, 1000), "SO_BUSY_POLL");
	e = (struct end){ .fd = fd[1] };
	c = (struct call){ &e, &byte, 1, 0 };
	task_start(&k, call_recv, &c);
	WANT(task_sleeps(&k), 1, 0, "it sleeps after all");
	WANT(send(fd[0], "x", 1, 0), 1, 0, "send");
	WANT(task_join(&k), 1, 0, "recv");
	WANT(byte, 'x', 0, "the byte");
	WANT_TRUE(tcp_exchange(fd) && tcp_fused(fd), "fused");
	tcp_close(fd);
}

static const struct test_case cases[] = {
	{ "receiving", receiving, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "polling", polling, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "late", late, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
