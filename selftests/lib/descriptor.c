// SPDX-License-Identifier: GPL-2.0
/* What is asked of a descriptor, whatever it is: see transport.h. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "task.h"
#include "trace.h"
#include "transport.h"

#define SOON_MS	10000

unsigned int poll_wait(int fd, short events, int ms)
{
	struct pollfd p = { .fd = fd, .events = events };

	MUST(poll(&p, 1, ms) >= 0);
	return p.revents;
}

unsigned int poll_now(int fd, short events)
{
	return poll_wait(fd, events, 0);
}

void *bad_pointer(void)
{
	void *at = mmap(NULL, 16 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(at != MAP_FAILED);
	return at;
}

int set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	return fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
}

int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

static int option(bool set, int fd, int level, int name, void *value, socklen_t len)
{
	if (set)
		return setsockopt(fd, level, name, value, len);
	return getsockopt(fd, level, name, value, &len);
}

/* EBUSY: the other end sends just now, and moves on where it stood still. */
static int option_soon(bool set, int fd, int level, int name, void *value, socklen_t len)
{
	long until = now_ms() + SOON_MS;
	int err;

	do {
		err = option(set, fd, level, name, value, len);
	} while (err && errno == EBUSY && now_ms() < until);
	return err;
}

int set_int_soon(int fd, int level, int name, int value)
{
	return option_soon(true, fd, level, name, &value, sizeof(value));
}

int get_soon(int fd, int level, int name, void *value, socklen_t len)
{
	return option_soon(false, fd, level, name, value, len);
}

int get_int(int fd, int level, int name)
{
	socklen_t len = sizeof(int);
	int value = 0;

	return getsockopt(fd, level, name, &value, &len) ? -1 : value;
}

int set_timeout(int fd, int name, int ms)
{
	struct timeval tv = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	return setsockopt(fd, SOL_SOCKET, name, &tv, sizeof(tv));
}
