// SPDX-License-Identifier: GPL-2.0
/* What a body calls past the preloaded library, and its connections: see under.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tcp_pair.h"
#include "under.h"

bool under_library(void)
{
	return getenv("LD_PRELOAD") != NULL;
}

void *under_plain(const char *name)
{
	static void *libc;
	void *at;

	if (!libc)
		libc = dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY);
	MUST(libc);
	at = dlsym(libc, name);
	MUST(at);
	return at;
}

ssize_t plain_send(int fd, const void *buf, size_t len, int flags)
{
	static ssize_t (*f)(int, const void *, size_t, int);

	if (!f)
		f = under_plain("send");
	return f(fd, buf, len, flags);
}

ssize_t plain_recv(int fd, void *buf, size_t len, int flags)
{
	static ssize_t (*f)(int, void *, size_t, int);

	if (!f)
		f = under_plain("recv");
	return f(fd, buf, len, flags);
}

int plain_close(int fd)
{
	static int (*f)(int);

	if (!f)
		f = under_plain("close");
	return f(fd);
}

/* The first bytes fuse it; the library is to see a number of which it knows nothing. */
static void fuse(int fd[2])
{
	char byte;
	int i;

	tcp_pair(fd);
	for (i = 0; i < 2; i++)
		MUST(plain_send(fd[i], "f", 1, 0) == 1 && plain_recv(fd[!i], &byte, 1, 0) == 1);
	MUST(tcp_fused(fd));
}

void under_pair(const struct transport *t, int fd[2])
{
	if (t->fused)
		fuse(fd);
	else
		MUST(socketpair(speed_family_number(), SOCK_STREAM | SOCK_CLOEXEC, 0, fd) == 0);
}

void under_mapped_pair(const struct transport *t, int fd[2])
{
	char byte;
	int i;

	under_pair(t, fd);
	for (i = 0; i < 2 * UNDER_WARM; i++)
		MUST(send(fd[i & 1], "w", 1, 0) == 1 && recv(fd[!(i & 1)], &byte, 1, 0) == 1);
}

ssize_t under_fill(int fd)
{
	tcp_fill(fd);
	return send(fd, "more", 4, MSG_NOSIGNAL);
}

int under_regions(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	int n = 0;

	MUST(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "/[speed]") != NULL;
	fclose(f);
	return n;
}
