// SPDX-License-Identifier: GPL-2.0
/*
 * splice() while the other end sends and closes: the end comes after the last byte. Half
 * of the time the reader waits, and half of the time it looks again and again.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "harness.h"
#include "task.h"

#define ROUNDS	300
#define SENDS	20
#define BYTES	100

struct reads {
	int fd;
	bool ready;
	size_t got;
	int how;
};

/* All there is: how it ended, as errno, and the bytes until then. */
static long reads(void *arg)
{
	struct reads *r = arg;
	char buf[4096];
	int pipes[2];
	ssize_t n;

	MUST(pipe2(pipes, O_NONBLOCK | O_CLOEXEC) == 0);
	__atomic_store_n(&r->ready, true, __ATOMIC_RELEASE);
	while (1) {
		n = splice(r->fd, NULL, pipes[1], NULL, sizeof(buf), 0);
		if (n < 0 && errno == EAGAIN)
			continue;
		if (n <= 0)
			break;
		r->got += n;
		MUST(read(pipes[0], buf, sizeof(buf)) == n);
	}
	r->how = n < 0 ? errno : 0;
	close(pipes[0]);
	close(pipes[1]);
	return 0;
}

static void to_the_last(const struct transport *t)
{
	static char buf[BYTES];
	struct end e[2];
	struct task k;
	int i, n;

	for (i = 0; i < soak_times(ROUNDS, 10); i++) {
		struct reads r = { 0 };

		tp_pair(t, e);
		r.fd = e[0].fd;
		MUST(set_nonblock(e[0].fd, i % 2) == 0);
		task_start(&k, reads, &r);
		while (!__atomic_load_n(&r.ready, __ATOMIC_ACQUIRE))
			;
		for (n = 0; n < SENDS; n++)
			WANT(end_send(&e[1], buf, BYTES, 0), BYTES, 0, "send");
		end_close(&e[1]);
		task_join(&k);
		WANT(r.how, 0, 0, "how it ended");
		WANT(r.got, SENDS * BYTES, 0, "%d: bytes until the end", i);
		end_close(&e[0]);
	}
}

static const struct test_case cases[] = {
	{ "to_the_last", to_the_last, CASE_STREAM | CASE_SPEED | CASE_FUSED | CASE_LONG },
};

RUN_CASES(cases)
