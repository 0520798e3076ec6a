// SPDX-License-Identifier: GPL-2.0
/*
 * The module stays while a socket or a mapping is there, goes when the last one
 * has gone, and works when it is loaded again.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "module.h"
#include "stress.h"

static void refused(const struct transport *t)
{
	struct transport u = by_hand_0(t);
	struct address a;
	struct end e[2];
	struct raw w;
	int fd;
	char c;

	module_need();
	fd = tp_socket(t, 0);
	WANT_ERR(module_unload(), EAGAIN, "with a fresh socket");
	close(fd);
	fd = tp_listen(t, 4, &a);
	WANT_ERR(module_unload(), EAGAIN, "with a listener");
	close(fd);
	tp_pair_sized(&u, e, 8192);
	WANT_ERR(module_unload(), EAGAIN, "with a connection");
	WANT(send(e[0].fd, "x", 1, 0), 1, 0, "which works");
	raw_open(&w, e[0].fd, SPEED_ROLE_TX);
	pair_close(e);
	WANT_ERR(module_unload(), EAGAIN, "with a mapping alone");
	c = *(volatile char *)w.r.data;
	WANT(c, 0, 0, "which reads as zero");
	raw_unmap(&w);
	WANT_OK(module_unload_soon(), "with nothing");
	WANT_ERR(socket(t->family, t->type, 0), EAFNOSUPPORT, "socket without the module");
	WANT_OK(module_load(""), "load it again");
	tp_pair_sized(t, e, 8192);
	WANT(end_send(&e[0], "abc", 3, 0), 3, 0, "send");
	WANT(end_recv(&e[1], &c, 1, 0), 1, 0, "recv");
	pair_close(e);
}

/* Idle rings wait for the reaper; the pool is full: neither holds the module. */
static void again(const struct transport *t)
{
	struct end e[2];
	int i;

	module_need();
	for (i = 0; i < soak_times(3, 20); i++) {
		char buf[2000] = "";

		tp_pair_sized(t, e, 8192);
		WANT(end_send(&e[0], buf, sizeof(buf), 0), sizeof(buf), 0, "send");
		WANT(end_send(&e[1], buf, sizeof(buf), 0), sizeof(buf), 0, "send back");
		pair_close(e);
		WANT_OK(module_unload_soon(), "unload");
		WANT_OK(module_load(""), "load");
	}
}

static const struct test_case cases[] = {
	{ "refused", refused, CASE_STREAM | CASE_SPEED },
	{ "again", again, CASE_STREAM | CASE_SPEED | CASE_PATHS | CASE_UNMAPPED },
};

RUN_CASES(cases)
