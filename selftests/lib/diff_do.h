/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of operations share: see diff_work.h. */
#ifndef SPEED_SELFTESTS_DIFF_DO_H
#define SPEED_SELFTESTS_DIFF_DO_H

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "diff_work.h"

static inline long diff_fail(int err)
{
	errno = err;
	return -1;
}

/* Where the client connects to. */
socklen_t diff_address(enum diff_net net, struct sockaddr_storage *to);
/* The step's option and value. */
long diff_set_option(struct diff_call *c, int fd);
/* A pipe for splice, empty. */
int *diff_pipe(struct diff_call *c);
/* Cuts a buffer into three, the middle one empty; returns 3. */
int diff_cut(struct iovec *iov, void *buf, size_t len);
/* Reads the error queue of MSG_ZEROCOPY. */
long diff_zerocopy_done(struct diff_call *c);

#endif
