// SPDX-License-Identifier: GPL-2.0
/*
 * A socket that asked for the shim by name keeps it over several connections, and nothing
 * of the last one; and one whose other end takes no part.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "stress.h"
#include "tcp_pair.h"

static void sleeper_gets(const int fd[2], const char *when)
{
	struct end e = { .fd = fd[0] };
	struct task k;
	char got[8];
	struct call c = { &e, got, 8, 0 };

	task_start(&k, call_recv, &c);
	WANT_TRUE(task_sleeps(&k), "%s: recv waits", when);
	WANT(send(fd[1], "later", 5, 0), 5, 0, "send");
	WANT(task_join(&k), 5, 0, "%s: recv", when);
}

/* Who sleeps in recv() is told of this connection's end alone. */
static void sleeps(const struct transport *t)
{
	struct address a, nobody;
	int listener, fd[2];

	(void)t;
	tcp_shim_net();
	close(tcp_listen_at(LOCAL4, 0, &nobody));
	listener = tcp_listen_at(LOCAL4, 0, &a);
	fd[0] = tcp_socket(&a);
	WANT_OK(tcp_set_ulp(fd[0], "speed"), "ask");
	WANT_ERR(connect_to(fd[0], &nobody), ECONNREFUSED, "refused");
	tcp_join(listener, &a, fd[0], fd);
	sleeper_gets(fd, "after a refusal");
	WANT_OK(tcp_give_up(fd[0]), "give it up");
	close(fd[1]);
	tcp_join(listener, &a, fd[0], fd);
	sleeper_gets(fd, "connected again");
	tcp_close(fd);
	close(listener);
}

/* The other end of a connection that was given up without a byte sends one yet. */
static void old_greeting(const struct transport *t)
{
	int listener, fd[2], old;
	struct address a;

	(void)t;
	tcp_shim_net();
	listener = tcp_listen_at(LOCAL4, 0, &a);
	fd[0] = tcp_socket(&a);
	WANT_OK(tcp_set_ulp(fd[0], "speed"), "ask");
	tcp_join(listener, &a, fd[0], fd);
	old = fd[1];
	WANT_OK(tcp_give_up(fd[0]), "give it up");
	WANT_TRUE(send(old, "greeting", 8, MSG_NOSIGNAL) <= 8, "a greeting");
	tcp_join(listener, &a, fd[0], fd);
	send(old, "greeting", 8, MSG_NOSIGNAL);
	WANT_TRUE(tcp_exchange(fd), "exchange, connected again");
	WANT_TRUE(tcp_fuses(fd), "fused, reason %u", tcp_reason(fd[0]));
	close(old);
	WANT_TRUE(tcp_exchange(fd), "exchange, the old one closed");
	tcp_close(fd);
	close(listener);
}

/* An urgent byte alone is nothing to read, and is waited beyond. */
static void peek_at_urgent(const struct transport *t)
{
	int fd[2], ask;
	char c;

	(void)t;
	tcp_own_net();
	for (ask = 0; ask < 2; ask++) {
		tcp_pair(fd);
		if (ask)
			WANT_OK(tcp_set_ulp(fd[0], "speed"), "one end asks");
		WANT_OK(set_timeout(fd[0], SO_RCVTIMEO, 300), "SO_RCVTIMEO");
		WANT(send(fd[1], "!", 1, MSG_OOB), 1, 0, "send, urgent");
		tp_settle(t);
		WANT_ERR(recv(fd[0], &c, 1, MSG_PEEK), EAGAIN, "%d: peek", ask);
		WANT(send(fd[1], "n", 1, 0), 1, 0, "send");
		WANT(recv(fd[0], &c, 1, MSG_PEEK), 1, 0, "%d: peek again", ask);
		WANT(c, 'n', 0, "the byte");
		tcp_close(fd);
	}
}

static const struct test_case cases[] = {
	{ "sleeps", sleeps, CASE_STREAM | CASE_SPEED },
	{ "old_greeting", old_greeting, CASE_STREAM | CASE_SPEED },
	{ "peek_at_urgent", peek_at_urgent, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
