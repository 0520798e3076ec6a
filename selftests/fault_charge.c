// SPDX-License-Identifier: GPL-2.0
/*
 * A send beyond the ring pays before it has memory: where there is none, what it paid
 * comes back. A chunk of less than a page is tried once, a larger one twice (kvmalloc()).
 */
#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>

#include "faults.h"
#include "stress.h"

#define RING		8192
#define BUFFER		(1 << 20)
#define MEMORY		"131072"	/* of the namespace: less than the buffers */
#define SMALL		300
#define TIMES		50

static char buf[SMALL];

/* Small sends until there is no memory: bytes. */
static long fill(int fd)
{
	long sent = 0;
	ssize_t n;
	int err;

	while ((n = send(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		sent += n;
	err = errno;
	WANT(err, ENOBUFS, 0, "the namespace's memory is used up, after %ld bytes", sent);
	return sent;
}

static void small(const struct transport *t)
{
	int i, none = 0, failed = 0;
	struct end e[2];
	long before;

	faults_need();
	MUST(unshare(CLONE_NEWNET) == 0);
	MUST(sysctl_set("mem_max", MEMORY) == 0);
	tp_pair_sized(t, e, RING / 2);
	MUST(set_int(e[0].fd, SOL_SOCKET, SO_SNDBUF, BUFFER) == 0);
	MUST(set_int(e[1].fd, SOL_SOCKET, SO_RCVBUF, BUFFER) == 0);
	before = fill(e[0].fd);
	WANT_TRUE(before > 4 * RING, "most of it beyond the ring");
	end_discard(&e[1]);
	for (i = 0; i < 2 * RING; i += SMALL)
		MUST(send(e[0].fd, buf, SMALL, MSG_DONTWAIT) == SMALL);
	for (i = 0; i < TIMES; i++) {
		faults_nth(1);
		none += send(e[0].fd, buf, SMALL, MSG_DONTWAIT) < 0 && errno == ENOBUFS;
		failed += faults_happened();
	}
	WANT(failed, TIMES, 0, "allocations that failed");
	WANT(none, TIMES, 0, "ENOBUFS");
	end_discard(&e[1]);
	WANT(fill(e[0].fd) - before, 0, 0, "as much memory as before");
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "small", small, CASE_BOTH | CASE_SPEED },
};

RUN_CASES(cases)
