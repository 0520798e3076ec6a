// SPDX-License-Identifier: GPL-2.0
/* A descriptor used by other means: see use.h. */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "trace.h"
#include "uring.h"
#include "use.h"

long use_by_uring(int fd, bool receive, void *buf, size_t len)
{
	struct io_uring_cqe c;
	struct uring u;

	MUST(uring_open(&u, 4));
	uring_prepare(&u, receive ? IORING_OP_RECV : IORING_OP_SEND, fd, buf, len, 1)->msg_flags = 0;
	MUST(uring_submit(&u) == 1 && uring_wait(&u, &c, URING_SOON_MS));
	uring_close(&u);
	return c.res;
}

long use_by_stdio(int fd, bool receive, void *buf, size_t len)
{
	FILE *f = fdopen(dup(fd), receive ? "r" : "w");
	long n;

	MUST(f);
	setvbuf(f, NULL, receive ? _IONBF : _IOFBF, 64);
	n = receive ? fread(buf, 1, len, f) : fwrite(buf, 1, len, f);
	fclose(f);
	return n;
}
