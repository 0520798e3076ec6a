// SPDX-License-Identifier: GPL-2.0
/* connect() by each name: see calls.h. */
#define _GNU_SOURCE
#include <sys/syscall.h>

#include "calls.h"

int call_join_plain(void *f, int fd, const void *to, socklen_t len)
{
	return ((int (*)(int, const void *, socklen_t))f)(fd, to, len);
}

int call_join_syscall(void *f, int fd, const void *to, socklen_t len)
{
	return ((long (*)(long, ...))f)(SYS_connect, fd, to, len);
}
