// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Interposed: what makes new numbers. Whatever was known of one is of another
 * descriptor, whose close was not seen.
 */
#include <fcntl.h>
#include <stdarg.h>
#include "crew.h"
#include "export.h"
#include "real.h"
#include "table.h"

PRE_CALL(int, socket, int family, int type, int protocol)
{
	return table_new(REAL(socket)(family, type, protocol));
}

PRE_CALL(int, accept, int fd, void *addr, socklen_t *len)
{
	return table_new(REAL(accept)(fd, addr, len));
}

PRE_CALL(int, accept4, int fd, void *addr, socklen_t *len, int flags)
{
	return table_new(REAL(accept4)(fd, addr, len, flags));
}

static int new_two(int ret, const int *fds)
{
	if (!ret) {
		table_new(fds[0]);
		table_new(fds[1]);
	}
	return ret;
}

PRE_CALL(int, socketpair, int family, int type, int protocol, int *fds)
{
	return new_two(REAL(socketpair)(family, type, protocol, fds), fds);
}

PRE_CALL(int, pipe, int *fds)
{
	return new_two(REAL(pipe)(fds), fds);
}

PRE_ALIAS(__pipe, pipe);

PRE_CALL(int, pipe2, int *fds, int flags)
{
	return new_two(REAL(pipe2)(fds, flags), fds);
}

/* A mode comes only with a file that may be made. */
#define NEW_MODE(mode, flags)							\
	do {									\
		va_list list;							\
										\
		mode = 0;							\
		if (!((flags) & O_CREAT) && ((flags) & O_TMPFILE) != O_TMPFILE)	\
			break;							\
		va_start(list, flags);						\
		mode = va_arg(list, mode_t);					\
		va_end(list);							\
	} while (0)

#define NEW_OPEN(name)								\
	PRE_CALL(int, name, const char *path, int flags, ...)			\
	{									\
		mode_t mode;							\
										\
		NEW_MODE(mode, flags);						\
		return table_new(REAL(name)(path, flags, mode));		\
	}

#define NEW_OPENAT(name)							\
	PRE_CALL(int, name, int dir, const char *path, int flags, ...)		\
	{									\
		mode_t mode;							\
										\
		NEW_MODE(mode, flags);						\
		return table_new(REAL(name)(dir, path, flags, mode));		\
	}

NEW_OPEN(open)
NEW_OPEN(open64)
NEW_OPENAT(openat)
NEW_OPENAT(openat64)

PRE_ALIAS(__open, open);
PRE_ALIAS(__open64, open64);

#define NEW_CALL(name, params, args)						\
	PRE_CALL(int, name, NEW_UNPACK params)					\
	{									\
		return table_new(REAL(name) args);				\
	}
#define NEW_UNPACK(...)	__VA_ARGS__

NEW_CALL(__open_2, (const char *path, int flags), (path, flags))
NEW_CALL(__open64_2, (const char *path, int flags), (path, flags))
NEW_CALL(__openat_2, (int dir, const char *path, int flags), (dir, path, flags))
NEW_CALL(__openat64_2, (int dir, const char *path, int flags), (dir, path, flags))
NEW_CALL(creat, (const char *path, mode_t mode), (path, mode))
NEW_CALL(creat64, (const char *path, mode_t mode), (path, mode))
NEW_CALL(eventfd, (unsigned int value, int flags), (value, flags))
NEW_CALL(signalfd, (int fd, const void *mask, int flags), (fd, mask, flags))
NEW_CALL(timerfd_create, (int clock, int flags), (clock, flags))
NEW_CALL(memfd_create, (const char *name, unsigned int flags), (name, flags))
NEW_CALL(inotify_init, (void), ())
NEW_CALL(inotify_init1, (int flags), (flags))
NEW_CALL(pidfd_open, (int pid, unsigned int flags), (pid, flags))
NEW_CALL(pidfd_getfd, (int pidfd, int fd, unsigned int flags), (pidfd, fd, flags))

PRE_CALL(int, epoll_create, int size)
{
	unsigned int shares = crew_shares();

	return crew_own(table_new(REAL(epoll_create)(size)), shares);
}

PRE_CALL(int, epoll_create1, int flags)
{
	unsigned int shares = crew_shares();

	return crew_own(table_new(REAL(epoll_create1)(flags)), shares);
}
