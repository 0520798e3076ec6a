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

int set_int_soon(int fd, int level, int name, int value)
{
	long until = now_ms() + 10000;
	int err;

	do {
		err = set_int(fd, level, name, value);
	} while (err && errno == EBUSY && now_ms() < until);
	return err;
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
