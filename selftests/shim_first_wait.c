// SPDX-License-Identifier: GPL-2.0
/*
 * A server that waits for the first bytes of a connection, of which there is no pair yet:
 * it leaves the processor to others once, and says what plain TCP says to whatever comes
 * meanwhile; and a pair that comes before it sleeps does not leave it asleep.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "delay.h"
#include "hand.h"
#include "module.h"
#include "task.h"
#include "tcp_pair.h"
#include "trace.h"

#define TIMEOUT_MS	(3 * DELAY_MS)
#define WAITS		32	/* about as many as are left out after some in vain */
#define TRIES		40	/* after so many more than are ever left out, 1,024 */
#define DELAYS		10	/* one after the other */

enum what { DATA, END, RESET, SIGNAL, TIMEOUT, GIVEN_UP, NUMBER };

static const char * const names[] = { "data", "end", "reset", "signal", "timeout", "given up" };

/* The server's part: what its recv() is to go through, and how long that was held up. */
struct server {
	const int *fd;
	const char *held_at;
	int delays;
	atomic_bool waits;
	long held_ms;
};

static void on_signal(int sig)
{
	(void)sig;
}

static long first_recv(void *arg)
{
	struct server *s = arg;
	int delay[DELAYS], i, err;
	char byte;
	long n, begin;

	for (i = 0; i < s->delays; i++)
		delay[i] = delay_begin(s->held_at);
	begin = cpu_us();	/* a delay is time that is run */
	s->waits = true;
	n = recv(s->fd[1], &byte, 1, 0);
	err = errno;
	s->held_ms = (cpu_us() - begin) / 1000;
	while (i--)
		close(delay[i]);
	errno = err;
	return n;
}

/* Until the server is in its call: it sleeps there, or is held up on the way. */
static void in_call(const struct server *s, const struct task *k)
{
	while (!s->waits)
		sleep_ms(1);
	while (!(s->delays && delay_met()) && !task_asleep(k))
		sleep_ms(1);
}

static void happens(enum what what, int fd[2], struct task *k)
{
	const struct linger none = { .l_onoff = 1 };

	switch (what) {
	case DATA:
		MUST(send(fd[0], "x", 1, 0) == 1);
		break;
	case END:
		MUST(shutdown(fd[0], SHUT_WR) == 0);
		break;
	case RESET:
		MUST(setsockopt(fd[0], SOL_SOCKET, SO_LINGER, &none, sizeof(none)) == 0);
		MUST(close(fd[0]) == 0);
		break;
	case SIGNAL:
		MUST(pthread_kill(k->thread, SIGUSR1) == 0);
		break;
	case GIVEN_UP:
		MUST(tcp_give_up(fd[1]) == 0);
		break;
	default:
		break;
	}
}

/* What recv() comes to, with errno, and how long it was held up, which it is where it yields. */
static long wait_for(enum what what, int delays, long *held_ms)
{
	struct server s = { .held_at = "yield", .delays = delays };
	struct task k;
	int fd[2];
	long n;

	s.fd = fd;
	tcp_pair(fd);
	if (what == TIMEOUT)
		MUST(set_timeout(fd[1], SO_RCVTIMEO, TIMEOUT_MS) == 0);
	task_start(&k, first_recv, &s);
	if (what != TIMEOUT)
		in_call(&s, &k);
	happens(what, fd, &k);
	n = task_join(&k);
	if (what != RESET)
		close(fd[0]);
	close(fd[1]);
	*held_ms = s.held_ms;
	errno = k.err;
	return n;
}

/* Stands still, and waits for no processor any more: with it nobody would be alone. */
static void stop(pid_t pid)
{
	int status;

	MUST(kill(pid, SIGSTOP) == 0);
	MUST(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
}

/* Somebody who is to run beside the two, and stands still for now. */
static pid_t spinner(void)
{
	pid_t pid = fork();

	MUST(pid >= 0);
	while (!pid)
		;
	stop(pid);
	return pid;
}

/* Waits of one who is alone, and yields to nobody: they count as such. */
static void wait_alone(int times)
{
	char byte;
	int fd[2];

	tcp_pair(fd);
	MUST(set_timeout(fd[1], SO_RCVTIMEO, 1) == 0);
	while (times--)
		MUST(recv(fd[1], &byte, 1, 0) < 0 && errno == EAGAIN);
	tcp_close(fd);
}

/*
 * A wait that ends so, until it began with a yield: whether it came to that. Each processor
 * learns of its own from those in vain, which these are: they take turns.
 */
static bool yields(enum what what, long ret, int err)
{
	long held_ms = 0;
	pid_t beside;
	int i;

	on_processor(what);
	beside = spinner();
	for (i = 0; i < TRIES && held_ms < DELAY_MS / 2; i++) {
		wait_alone(i ? WAITS : 0);
		MUST(kill(beside, SIGCONT) == 0);
		WANT(wait_for(what, 1, &held_ms), ret, err, "%s", names[what]);
		stop(beside);
	}
	kill(beside, SIGKILL);
	waitpid(beside, NULL, 0);
	return held_ms >= DELAY_MS / 2;
}

static void same_as_tcp(const struct transport *t)
{
	const struct sigaction interrupts = { .sa_handler = on_signal };
	/* Of TCP itself it depends on the kernel what a connection does that is given up. */
	long ret[NUMBER] = { [GIVEN_UP] = -1 }, held_ms;
	int err[NUMBER] = { [GIVEN_UP] = EPIPE };
	int i;

	(void)t;
	/* What the processors have learned from waits before goes with it. */
	module_need();
	MUST(module_unload_soon() == 0 && module_load("") == 0);
	tcp_shim_net();
	on_processor(0);
	sigaction(SIGUSR1, &interrupts, NULL);
	tcp_shim_set(0);
	for (i = 0; i < GIVEN_UP; i++) {
		ret[i] = wait_for(i, 0, &held_ms);
		err[i] = errno;
	}
	tcp_shim_set(1);
	for (i = 0; i < NUMBER && yields(i, ret[i], err[i]); i++)
		;
	WANT_TRUE(i == NUMBER, "%s: it yields", i < NUMBER ? names[i] : "each time");
}

/* A byte, if the server has not taken it. */
static bool take(const struct task *k, int fd)
{
	char byte;

	do {
		if (recv(fd, &byte, 1, MSG_DONTWAIT) == 1)
			return true;
	} while (!task_ends(k, 10));
	return false;
}

/* A pair comes, is mapped, and what it brings is read: did the server stand still for it all? */
static bool meanwhile(const int fd[2], const struct task *k, struct hand *tx)
{
	bool in_time;

	MUST(send(fd[0], "x", 1, 0) == 1);
	if (!take(k, fd[1]) || !hand_try(tx, fd[0], SPEED_ROLE_TX))
		return false;
	WANT_TRUE(hand_put(tx), "a lease is to wake whom it does not know");
	in_time = take(k, fd[1]) && delay_met() && !task_asleep(k);
	if (!in_time)
		hand_drop(tx);
	return in_time;
}

static void woken(const struct hand *tx, struct task *k)
{
	WANT_TRUE(task_sleeps(k), "the server still waits");
	WANT_TRUE(hand_put(tx), "it is to be woken");
	MUST(ioctl(tx->fd, SPEED_IOC_WAKE, SPEED_WAKE_READER) == 0);
	WANT(task_join(k), 1, 0, "recv");
}

/* Return: whether the server was held up for long enough. */
static bool pair_comes(void)
{
	struct server s = { .held_at = "add_wait_queue", .delays = DELAYS };
	bool in_time;
	struct hand tx;
	struct task k;
	int fd[2];

	s.fd = fd;
	tcp_pair(fd);
	task_start(&k, first_recv, &s);
	in_call(&s, &k);
	in_time = meanwhile(fd, &k, &tx);
	if (in_time) {
		woken(&tx, &k);
		hand_drop(&tx);
	} else {
		MUST(shutdown(fd[0], SHUT_WR) == 0);
		task_join(&k);
	}
	tcp_close(fd);
	return in_time;
}

/*
 * Between the look for a pair and the queue the pair comes, is mapped, and what is sent by
 * it is read by somebody else: nobody is told to wake anybody, unless who sleeps asks.
 */
static void pair_meanwhile(const struct transport *t)
{
	bool came = false;
	int i;

	(void)t;
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		trace_skip("needs two processors");
	tcp_shim_net();
	for (i = 0; i < TRIES && !came; i++)
		came = pair_comes();
	WANT_TRUE(came, "the server is held up while the pair comes");
}

static const struct test_case cases[] = {
	{ "same_as_tcp", same_as_tcp, CASE_STREAM | CASE_SPEED },
	{ "pair_meanwhile", pair_meanwhile, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
