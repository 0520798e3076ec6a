// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Interposed: what closes numbers, and what makes one refer to something else, be it
 * another connection of the same socket.
 *
 * A number is forgotten before it is closed: afterwards it may be anything. One that is
 * replaced is forgotten before and after: a transfer in between may have learnt of what
 * it was. Standard I/O closes its descriptors inside the C library.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <stdarg.h>
#include "export.h"
#include "real.h"
#include "role.h"
#include "table.h"

PRE_CALL(int, close, int fd)
{
	table_forget(fd);
	return REAL(close)(fd);
}

PRE_ALIAS(__close, close);

PRE_CALL(int, close_range, unsigned int first, unsigned int last, int flags)
{
	if (flags & CLOSE_RANGE_UNSHARE)
		table_unshare();
	if (!(flags & ~CLOSE_RANGE_UNSHARE))
		table_forget_range(first, last);
	return REAL(close_range)(first, last, flags);
}

PRE_CALL(void, closefrom, int first)
{
	table_forget_range(first < 0 ? 0 : (unsigned int)first, UINT_MAX);
	REAL(closefrom)(first);
}

PRE_CALL(int, connect, int fd, const void *addr, socklen_t len)
{
	return table_connected(fd, REAL(connect)(fd, addr, len));
}

PRE_ALIAS(__connect, connect);

PRE_CALL(int, dup, int fd)
{
	return table_new(REAL(dup)(fd));
}

PRE_CALL(int, dup2, int fd, int to)
{
	table_replace(fd, to, 0);
	return fd == to ? REAL(dup2)(fd, to) : table_new(REAL(dup2)(fd, to));
}

PRE_ALIAS(__dup2, dup2);

PRE_CALL(int, dup3, int fd, int to, int flags)
{
	table_replace(fd, to, flags);
	return table_new(REAL(dup3)(fd, to, flags));
}

static int fcntl_done(int cmd, int ret)
{
	return cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC ? table_new(ret) : ret;
}

/* The third argument of a call that may have none: as the C library takes it. */
#define FCNTL_ARGUMENT(arg, last)						\
	do {									\
		va_list list;							\
										\
		va_start(list, last);						\
		arg = va_arg(list, void *);					\
		va_end(list);							\
	} while (0)

PRE_CALL(int, fcntl, int fd, int cmd, ...)
{
	void *arg;

	FCNTL_ARGUMENT(arg, cmd);
	return fcntl_done(cmd, REAL(fcntl)(fd, cmd, arg));
}

PRE_ALIAS(__fcntl, fcntl);

PRE_CALL(int, fcntl64, int fd, int cmd, ...)
{
	void *arg;

	FCNTL_ARGUMENT(arg, cmd);
	return fcntl_done(cmd, REAL(fcntl64)(fd, cmd, arg));
}

/* The number of a stream, or -1. errno is kept. */
static int stream_number(FILE *stream)
{
	int saved = errno;
	int fd = stream ? fileno_unlocked(stream) : -1;

	errno = saved;
	return fd;
}

PRE_CALL(int, fclose, FILE *stream)
{
	table_forget(stream_number(stream));
	return REAL(fclose)(stream);
}

static FILE *stream_new(FILE *stream)
{
	table_new(stream_number(stream));
	return stream;
}

PRE_CALL(FILE *, freopen, const char *path, const char *mode, FILE *stream)
{
	table_forget(stream_number(stream));
	return stream_new(REAL(freopen)(path, mode, stream));
}

PRE_CALL(FILE *, freopen64, const char *path, const char *mode, FILE *stream)
{
	table_forget(stream_number(stream));
	return stream_new(REAL(freopen64)(path, mode, stream));
}

PRE_CALL(int, unshare, int flags)
{
	if (flags & CLONE_FILES)
		table_unshare();
	return REAL(unshare)(flags);
}
