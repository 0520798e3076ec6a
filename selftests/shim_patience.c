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

#define BYTES	64	/* of what is sent and received there */
#define SOON_MS	10000	/* nobody waits for this long */

struct held_call {
	struct slow_page page;
	int fd;
};

static long sends(void *arg)
{
	struct held_call *h = arg;

	return send(h->fd, h->page.at, BYTES, MSG_NOSIGNAL);
}

static long receives(void *arg)
{
	struct held_call *h = arg;

	return recv(h->fd, h->page.at, BYTES, 0);
}

static long closes(void *fd)
{
	return close(*(int *)fd);
}

static long takes_tls(void *fd)
{
	return tcp_set_ulp(*(int *)fd, "tls");
}

static bool ends_soon(const struct task *k)
{
	long until = now_ms() + SOON_MS;

	while (!__atomic_load_n(&k->done, __ATOMIC_ACQUIRE) && now_ms() < until)
		sleep_ms(10);
	return __atomic_load_n(&k->done, __ATOMIC_ACQUIRE);
}

static void need_tls(void)
{
	int fd[2];

	tcp_pair(fd);
	if (tcp_set_ulp(fd[0], "tls") && errno == ENOENT)
		trace_skip("needs CONFIG_TLS (modprobe tls)");
	tcp_close(fd);
}

/* One has left the shim, and holds its socket's lock; the other has the last of the pair. */
static void close_of_other(const struct transport *t)
{
	struct shim_held before;
	struct task call, closing;
	struct held_call h;
	long until;
	int fd[2];

	(void)t;
	tcp_shim_net();
	need_tls();
	shim_held_begin(&before);
	slow_page_open(&h.page);
	tcp_fused_pair(fd);
	WANT_OK(tcp_set_ulp(fd[0], "tls"), "one end leaves");
	until = now_ms() + SOON_MS;
	while (shim_references() > before.references + 1 && now_ms() < until)
		sleep_ms(50);
	WANT(shim_references() - before.references, 1, 0, "it has left");
	h.fd = fd[0];
	WANT_TRUE(tcp_put(fd[1], BYTES, 0), "put, by TCP");
	task_start(&call, receives, &h);
	WANT_TRUE(task_sleeps(&call), "the call is held up");
	task_start(&closing, closes, &fd[1]);
	WANT_TRUE(ends_soon(&closing), "the other end closes");
	slow_page_give(&h.page, "");
	WANT(task_join(&call), BYTES, 0, "the call");
	WANT_OK(task_join(&closing), "close");
	close(fd[0]);
	slow_page_close(&h.page);
	shim_held_end(&before);
}

/* The other end is in the middle of a copy into the ring that is to be emptied. */
static void another_ulp(const struct transport *t)
{
	struct task call, leaving;
	struct held_call h;
	char got[BYTES];
	int fd[2];

	(void)t;
	tcp_shim_net();
	need_tls();
	slow_page_open(&h.page);
	tcp_fused_pair(fd);
	h.fd = fd[1];
	task_start(&call, sends, &h);
	WANT_TRUE(task_sleeps(&call), "the call is held up");
	task_start(&leaving, takes_tls, &fd[0]);
	WANT_TRUE(ends_soon(&leaving), "it is told, and does not wait");
	slow_page_give(&h.page, "late");
	WANT(task_join(&call), BYTES, 0, "the call");
	WANT_ERR(task_join(&leaving), EBUSY, "TCP_ULP tls");
	WANT(recv(fd[0], got, BYTES, MSG_WAITALL), BYTES, 0, "recv");
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
