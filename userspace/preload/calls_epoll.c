// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Interposed: epoll_wait().
 *
 * It looks at the rings of the set's mapped connections first. With an event there the
 * kernel would return at once, too, and would not take a signal, whatever the mask.
 */
#include <pthread.h>
#include <time.h>
#include "crew.h"
#include "export.h"
#include "real.h"
#include "role.h"
#include "table.h"
#include "transfer.h"

static bool epoll_room(const struct epoll_event *events, int max)
{
	return max > 0 && transfer_address(events);
}

/* Nanoseconds. */
static __u64 epoll_patience(int timeout)
{
	return timeout < 0 ? CREW_PATIENT : (__u64)timeout * 1000000;
}

static int epoll_look(int epfd, struct epoll_event *events, int max, __u64 patience,
		      struct crew_nap *nap)
{
	*nap = (struct crew_nap){ 0 };
	if (!__atomic_load_n(&watches.top, __ATOMIC_RELAXED) || !epoll_room(events, max))
		return 0;
	if (!spd_one_thread())
		pthread_testcancel();
	return crew_wait(epfd, events, max, patience, nap);
}

/* After the kernel was asked. */
static int epoll_asked(int epfd, const struct crew_nap *nap, int ret)
{
	if (nap->since && ret > 0)
		crew_slept(epfd, nap);
	return ret;
}

/* What is left of a time limit, milliseconds. */
static int epoll_left(int timeout, const struct crew_nap *nap)
{
	__u64 looked = nap->looked / 1000000;

	if (timeout <= 0)
		return timeout;
	return (__u64)timeout > looked ? timeout - (int)looked : 0;
}

PRE_CALL(int, epoll_wait, int epfd, struct epoll_event *events, int max, int timeout)
{
	struct crew_nap nap;

	return epoll_look(epfd, events, max, epoll_patience(timeout), &nap) ?:
	       epoll_asked(epfd, &nap, REAL(epoll_wait)(epfd, events, max,
							epoll_left(timeout, &nap)));
}

PRE_CALL(int, epoll_pwait, int epfd, struct epoll_event *events, int max, int timeout,
	 const void *mask)
{
	struct crew_nap nap;

	return epoll_look(epfd, events, max, epoll_patience(timeout), &nap) ?:
	       epoll_asked(epfd, &nap, REAL(epoll_pwait)(epfd, events, max,
							 epoll_left(timeout, &nap), mask));
}

/* Looked for only once: it is exact, and may be short. */
PRE_CALL(int, epoll_pwait2, int epfd, struct epoll_event *events, int max,
	 const struct timespec *timeout, const void *mask)
{
	struct crew_nap nap;

	/* A time limit that is none is the kernel's to refuse. */
	if (timeout && (!transfer_address(timeout) || timeout->tv_sec < 0 ||
			timeout->tv_nsec < 0 || timeout->tv_nsec >= 1000000000))
		return REAL(epoll_pwait2)(epfd, events, max, timeout, mask);
	return epoll_look(epfd, events, max, timeout ? 0 : CREW_PATIENT, &nap) ?:
	       epoll_asked(epfd, &nap, REAL(epoll_pwait2)(epfd, events, max, timeout, mask));
}
