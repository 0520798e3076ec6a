// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Interposed: syscall(). Numbers that come and go by it are followed; transfers by it
 * are what they say, system calls.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <stdarg.h>
#include "change.h"
#include "crew.h"
#include "export.h"
#include "real.h"
#include "table.h"

/* Before a call that closes, or replaces. */
static void syscall_before(long n, const long arg[6])
{
	switch (n) {
	case SYS_close:
		table_forget((int)arg[0]);
		break;
	case SYS_unshare:
		if (arg[0] & CLONE_FILES)
			table_unshare();
		break;
	case SYS_close_range:
		if (arg[2] & CLOSE_RANGE_UNSHARE)
			table_unshare();
		if (!((unsigned int)arg[2] & ~CLOSE_RANGE_UNSHARE))
			table_forget_range((unsigned int)arg[0], (unsigned int)arg[1]);
		break;
#ifdef SYS_dup2
	case SYS_dup2:
		table_replace((int)arg[0], (int)arg[1], 0);
		break;
#endif
	case SYS_dup3:
		table_replace((int)arg[0], (int)arg[1], (int)arg[2]);
		break;
#ifdef SYS_fork
	case SYS_fork:
#endif
	case SYS_clone:
#ifdef SYS_clone3
	case SYS_clone3:
#endif
	case SYS_sendmsg:
	case SYS_sendmmsg:
		/* A thread, or a message without descriptors: a set is taken for shared in vain. */
		crew_shared();
		break;
	}
}

/* Does the call return a new number? */
static bool syscall_makes(long n, const long arg[6])
{
	switch (n) {
#ifdef SYS_dup2
	case SYS_dup2:
		return arg[0] != arg[1];
#endif
#ifdef SYS_open
	case SYS_open:
	case SYS_creat:
#endif
	case SYS_dup:
	case SYS_dup3:
	case SYS_openat:
#ifdef SYS_openat2
	case SYS_openat2:
#endif
	case SYS_socket:
	case SYS_accept:
	case SYS_accept4:
	case SYS_epoll_create1:
	case SYS_eventfd2:
	case SYS_memfd_create:
	case SYS_timerfd_create:
	case SYS_inotify_init1:
#ifdef SYS_pidfd_open
	case SYS_pidfd_open:
	case SYS_pidfd_getfd:
#endif
	case SYS_io_uring_setup:
	case SYS_perf_event_open:
	case SYS_userfaultfd:
		return true;
	case SYS_fcntl:
		return arg[1] == F_DUPFD || arg[1] == F_DUPFD_CLOEXEC;
	default:
		return false;
	}
}

static void syscall_after(long n, const long arg[6], long ret)
{
	const int *two = NULL;

	if (n == SYS_connect)
		table_connected((int)arg[0], (int)ret);
	if (ret < 0)
		return;
	if (n == SYS_pipe2)
		two = (const int *)arg[0];
	else if (n == SYS_socketpair)
		two = (const int *)arg[3];
	else if (syscall_makes(n, arg))
		table_new((int)ret);
	if (!two)
		return;
	table_new(two[0]);
	table_new(two[1]);
}

PRE_CALL(long, syscall, long n, ...)
{
	struct change change;
	long arg[6], ret;
	va_list list;
	bool changes;

	va_start(list, n);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(list, long);
	va_end(list);
	syscall_before(n, arg);
	changes = n == SYS_epoll_ctl && change_begin(&change, (int)arg[0], (int)arg[1],
						     (int)arg[2], (void *)arg[3]);
	ret = REAL(syscall)(n, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	if (changes)
		change_end(&change, (int)ret);
	syscall_after(n, arg, ret);
	return ret;
}
