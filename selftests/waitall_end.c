// SPDX-License-Identifier: GPL-2.0
/* recv() of more than there is: what comes before the end belongs to it, however late. */
#define _GNU_SOURCE
#include <unistd.h>

#include "delay.h"
#include "harness.h"
#include "task.h"

#define ROUNDS	12
#define PART	5

struct rest {
	struct end *e;
	int after_ms;
};

/* The second part, and the end. */
static long rest(void *arg)
{
	const struct rest *r = arg;
	static char part[PART];

	sleep_ms(r->after_ms);
	MUST(end_send(r->e, part, PART, 0) == PART);
	end_close(r->e);
	return 0;
}

static void whole(const struct transport *t, int flags)
{
	char part[PART] = "", buf[2 * PART];
	/* After each part that it took. */
	int delay = delay_begin("mutex_unlock");
	struct end e[2];
	struct task k;
	int i;

	for (i = 0; i < soak_times(ROUNDS, 10); i++) {
		struct rest r = { &e[1], i % 4 * DELAY_MS / 2 };

		tp_pair(t, e);
		WANT(end_send(&e[1], part, PART, 0), PART, 0, "send");
		task_start(&k, rest, &r);
		WANT(recv(e[0].fd, buf, sizeof(buf), MSG_WAITALL | flags), sizeof(buf), 0,
		     "%d: all of it", i);
		WANT(task_join(&k), 0, 0, "close");
		end_close(&e[0]);
	}
	close(delay);
}

static void waits(const struct transport *t)
{
	whole(t, 0);
}

static void peeks(const struct transport *t)
{
	whole(t, MSG_PEEK);
}

static const struct test_case cases[] = {
	{ "waits", waits, CASE_STREAM | CASE_TCP | CASE_FUSED },
	/* AF_UNIX does not wait for what it peeks at, see speed.7. */
	{ "peeks", peeks, CASE_STREAM | CASE_LIKE_TCP | CASE_FUSED },
};

RUN_CASES(cases)
