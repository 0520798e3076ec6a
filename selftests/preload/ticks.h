/* SPDX-License-Identifier: GPL-2.0 */
/* A signal that comes again and again, to the main thread alone. */
#ifndef SPEED_SELFTESTS_TICKS_H
#define SPEED_SELFTESTS_TICKS_H

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "harness.h"

#define TICK_US		3000

static inline void tick(bool on, void (*handler)(int))
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct itimerval it = { .it_interval.tv_usec = on ? TICK_US : 0,
				.it_value.tv_usec = on ? TICK_US : 0 };

	MUST(sigaction(SIGALRM, &sa, NULL) == 0);
	MUST(setitimer(ITIMER_REAL, &it, NULL) == 0);
}

/* Ticks are the main thread's alone. */
static inline void start_apart(pthread_t *thread, void *(*fn)(void *), void *arg)
{
	sigset_t alarm, old;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, &old);
	MUST(pthread_create(thread, NULL, fn, arg) == 0);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

#endif
