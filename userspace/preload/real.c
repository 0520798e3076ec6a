// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finding the functions behind the interposed ones.
 *
 * The constructor finds them all. Others' constructors may call one before, so each
 * is also found when it is first wanted; and what dlsym() calls (a malloc() that reads
 * its settings from a file, say) may come back here while it is being looked for: it
 * gets the system call itself.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include "real.h"

union real_table real;

#define REAL_NAME(ret, name, args)	#name,
static const char *const real_names[REAL_COUNT] = {
	REAL_LIST(REAL_NAME)
};

static bool real_looking;	/* a thread is inside dlsym() */

static ssize_t raw_read(int fd, void *buf, size_t len)
{
	return raw_syscall(SYS_read, fd, buf, len);
}

static ssize_t raw_write(int fd, const void *buf, size_t len)
{
	return raw_syscall(SYS_write, fd, buf, len);
}

static int raw_close(int fd)
{
	return (int)raw_syscall(SYS_close, fd);
}

static int raw_open(const char *path, int flags, mode_t mode)
{
	return (int)raw_syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static int raw_openat(int dir, const char *path, int flags, mode_t mode)
{
	return (int)raw_syscall(SYS_openat, dir, path, flags, mode);
}

static int raw_fcntl(int fd, int cmd, long arg)
{
	return (int)raw_syscall(SYS_fcntl, fd, cmd, arg);
}

static long real_missing(void)
{
	errno = ENOSYS;
	return -1;
}

typedef void (*real_fn)(void);

static real_fn real_raw(int index)
{
	switch (index) {
	case REAL_read:
		return (real_fn)raw_read;
	case REAL_write:
		return (real_fn)raw_write;
	case REAL_close:
		return (real_fn)raw_close;
	case REAL_open:
	case REAL_open64:
		return (real_fn)raw_open;
	case REAL_openat:
	case REAL_openat64:
		return (real_fn)raw_openat;
	case REAL_fcntl:
	case REAL_fcntl64:
		return (real_fn)raw_fcntl;
	case REAL_syscall:
		return (real_fn)raw_errno;
	default:
		return NULL;
	}
}

/* One that is not known yet, or a function that fails with ENOSYS. errno is kept. */
SPD_COLD real_fn real_find(int index)
{
	bool again = __atomic_exchange_n(&real_looking, true, __ATOMIC_ACQUIRE);
	int saved = errno;
	real_fn got = again ? real_raw(index) : NULL;

	if (got)
		return got;
	got = (real_fn)dlsym(RTLD_NEXT, real_names[index]);
	if (!again)
		__atomic_store_n(&real_looking, false, __ATOMIC_RELEASE);
	if (got)
		__atomic_store_n(&real.by_index[index], got, __ATOMIC_RELAXED);
	errno = saved;
	return got ? got : (real_fn)real_missing;
}

void real_find_all(void)
{
	for (int i = 0; i < REAL_COUNT; i++)
		if (!real.by_index[i])
			real_find(i);
}
