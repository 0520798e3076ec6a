// SPDX-License-Identifier: GPL-2.0
/*
 * A program that is held up in a call, by a page that userfaultfd does not give, holds up
 * nobody at the other end of its connection.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "shim_held.h"
#include "slow_page.h"
#include "stress.h"
#include "tcp_pair.h"
#include "tls.h"

#define SOON_MS	10000	/* nobody waits for this long */

static long closes(void *fd)
{
	return close(*(int *)fd);
}

/* One has left the shim, and holds its socket's lock; the other has the last of the pair. */
static void close_of_other(const struct transport *t)
{
	struct shim_held before;
	struct task call, closing;
	struct slow h;
	long until;
	int fd[2];

	(void)t;
	tcp_own_net();
	tcp_need_tls();
	tcp_shim_set(1);
	shim_held_begin(&before);
	slow_page_open(&h.page);
	tcp_fused_pair(fd);
	WANT_OK(tcp_set_ulp(fd[0], "tls"), "one end leaves");
	until = now_ms() + SOON_MS;
	while (held_references() > before.references + 1 && now_ms() < until)
		sleep_ms(50);
	WANT(held_references() - before.references, 1, 0, "it has left");
	h.fd = fd[0];
	WANT_TRUE(tcp_put(fd[1], SLOW_BYTES, 0), "put, by TCP");
	task_start(&call, slow_recv, &h);
	WANT_TRUE(task_sleeps(&call), "the call is held up");
	task_start(&closing, closes, &fd[1]);
	WANT_TRUE(task_ends(&closing, SOON_MS), "the other end closes");
	slow_page_give(&h.page, "");
	WANT(task_join(&call), SLOW_BYTES, 0, "the call");
	WANT_OK(task_join(&closing), "close");
	close(fd[0]);
	slow_page_close(&h.page);
	shim_held_end(&before);
}

/* The other end is in the middle of a copy into the ring that is to be emptied. */
static void another_ulp(const struct transport *t)
{
	struct task call, leaving;
	struct slow h;
	char got[SLOW_BYTES];
	int fd[2];

	(void)t;
	tcp_shim_net();
	tcp_need_tls();
	slow_page_open(&h.page);
	tcp_fused_pair(fd);
	h.fd = fd[1];
	task_start(&call, slow_send, &h);
	WANT_TRUE(task_sleeps(&call), "the call is held up");
	task_start(&leaving, tcp_takes_tls, &fd[0]);
	WANT_TRUE(task_ends(&leaving, SOON_MS), "it is told, and does not wait");
	slow_page_give(&h.page, "late");
	WANT(task_join(&call), SLOW_BYTES, 0, "the call");
	WANT_ERR(task_join(&leaving), EBUSY, "TCP_ULP tls");
	WANT(recv(fd[0], got, SLOW_BYTES, MSG_WAITALL), SLOW_BYTES, 0, "recv");
	WANT_TRUE(!strcmp(got, "late"), "the bytes");
	WANT_TRUE(tcp_fuses(fd), "fused again, reason %u", tcp_reason(fd[0]));
	WANT_OK(tcp_set_ulp(fd[0], "tls"), "TCP_ULP tls, later");
	tcp_close(fd);
	slow_page_close(&h.page);
}

static const struct test_case cases[] = {
	{ "close_of_other", close_of_other, CASE_STREAM | CASE_SPEED },
	{ "another_ulp", another_ulp, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
