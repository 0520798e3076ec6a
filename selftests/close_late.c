// SPDX-License-Identifier: GPL-2.0
/*
 * The reader closes while a sender is in the middle of a copy, held up by a page that
 * userfaultfd does not give: what a call has accepted does not vanish without an error.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "harness.h"
#include "slow_page.h"

static void held_sender(const struct transport *t)
{
	struct slow_page page;
	struct end e[2];
	struct call c = { &e[0], NULL, SLOW_BYTES, MSG_NOSIGNAL };
	struct task k;
	bool told;
	char got;
	int i;

	slow_page_open(&page);
	c.buf = page.at;
	tp_pair(t, e);
	/* Pages, mapped and not, are there. */
	for (i = 0; i < 40; i++) {
		WANT(end_send(&e[0], "abc", 3, 0), 3, 0, "send");
		WANT(end_recv(&e[1], (char [8]){ 0 }, 8, 0), 3, 0, "recv");
	}
	task_start(&k, call_send, &c);
	WANT_TRUE(task_sleeps(&k), "the sender is held up");
	end_close(&e[1]);
	slow_page_give(&page, "");
	if (task_join(&k) < 0)
		told = k.err == EPIPE || k.err == ECONNRESET;
	else
		told = end_recv(&e[0], &got, 1, MSG_DONTWAIT) < 0 && errno == ECONNRESET;
	WANT_TRUE(told, "the sender is told");
	WANT(end_recv(&e[0], &got, 1, MSG_DONTWAIT), 0, 0, "recv, the end");
	end_close(&e[0]);
	slow_page_close(&page);
}

static const struct test_case cases[] = {
	{ "held_sender", held_sender, CASE_BOTH | CASE_PATHS | CASE_UNMAPPED },
};

RUN_CASES(cases)
