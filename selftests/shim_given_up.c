// SPDX-License-Identifier: GPL-2.0
/*
 * connect(AF_UNSPEC), and the socket's next connection, while calls of the last one are
 * under way: these are told, and what they work on does not become the next one's.
 */
#define _GNU_SOURCE
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "slow_page.h"
#include "stress.h"
#include "tcp_pair.h"

#define UNREAD	1000
#define SHORT	100
#define TRIES	50
#define QUEUE_MS	200	/* until a thread waits for a lock, which does not show as sleep */

/* A connection whose end fd[0] may be given up and connected to @at again. */
static void fused_to(int listener, const struct address *at, int fd[2])
{
	fd[0] = tcp_socket(at);
	tcp_join(listener, at, fd[0], fd);
	MUST(tcp_fuses(fd));
}

/* Who sleeps while the connection is given up, and the socket connected anew. */
static void asleep(const struct transport *t)
{
	int listener, fd[2], old;
	struct address a;
	char got[8];
	struct end e;
	struct task k;
	struct call c = { &e, got, 8, 0 };

	(void)t;
	tcp_shim_net();
	on_one_processor();	/* the sleeper looks when all is over */
	listener = tcp_listen_at(LOCAL4, 0, &a);
	fused_to(listener, &a, fd);
	old = fd[1];
	e = (struct end){ .fd = fd[0] };
	task_start(&k, call_recv, &c);
	WANT_TRUE(task_sleeps(&k), "recv waits");
	WANT_OK(tcp_give_up(fd[0]), "give it up");
	tcp_join(listener, &a, fd[0], fd);
	WANT_TRUE(task_ends(&k, 5000), "it is told");
	if (!task_ends(&k, 0))
		send(fd[1], "x", 1, 0);
	WANT(task_join(&k), -1, EPIPE, "recv");
	close(old);
	tcp_close(fd);
	close(listener);
}

/* The same of who waits for another reader, whom a page holds up, and then finds nothing. */
static void queued(const struct transport *t)
{
	int listener, fd[2], old;
	struct task first, second;
	struct address a;
	struct slow h;
	char got[8];
	struct end e;
	struct call c = { &e, got, 8, 0 };

	(void)t;
	tcp_shim_net();
	slow_page_open(&h.page);
	listener = tcp_listen_at(LOCAL4, 0, &a);
	fused_to(listener, &a, fd);
	old = fd[1];
	e = (struct end){ .fd = fd[0] };
	h.fd = fd[0];
	WANT_TRUE(tcp_put(fd[1], SLOW_BYTES, 0), "what one reader takes");
	task_start(&first, slow_recv, &h);
	WANT_TRUE(task_sleeps(&first), "it is held up");
	task_start(&second, call_recv, &c);
	sleep_ms(QUEUE_MS);
	WANT_OK(tcp_give_up(fd[0]), "give it up");
	tcp_join(listener, &a, fd[0], fd);
	slow_page_give(&h.page, "");
	task_join(&first);
	WANT(send(fd[1], "x", 1, 0), 1, 0, "by the next connection");
	WANT_TRUE(task_ends(&second, 5000), "it is told");
	if (!task_ends(&second, 0))
		shutdown(fd[1], SHUT_WR);
	WANT(task_join(&second), -1, EPIPE, "recv");
	WANT(recv(fd[0], got, 8, 0), 1, 0, "what came by the next");
	close(old);
	tcp_close(fd);
	close(listener);
	slow_page_close(&h.page);
}

/* A sender that waits for another's, whom a page holds up. */
static void queued_sender(const struct transport *t)
{
	int listener, fd[2], old;
	struct task first, second;
	struct address a;
	struct slow h;
	char got[8];
	struct end e;
	struct call c = { &e, "late", 4, MSG_NOSIGNAL };

	(void)t;
	tcp_shim_net();
	slow_page_open(&h.page);
	listener = tcp_listen_at(LOCAL4, 0, &a);
	fused_to(listener, &a, fd);
	old = fd[1];
	e = (struct end){ .fd = fd[0] };
	h.fd = fd[0];
	task_start(&first, slow_send, &h);
	WANT_TRUE(task_sleeps(&first), "it is held up");
	task_start(&second, call_send, &c);
	sleep_ms(QUEUE_MS);
	WANT_OK(tcp_give_up(fd[0]), "give it up");
	tcp_join(listener, &a, fd[0], fd);
	slow_page_give(&h.page, "");
	task_join(&first);
	WANT(task_join(&second), -1, EPIPE, "send");
	WANT_ERR(recv(fd[1], got, 8, MSG_DONTWAIT), EAGAIN, "nothing of it by the next");
	WANT_TRUE(tcp_exchange(fd), "the next one");
	close(old);
	tcp_close(fd);
	close(listener);
	slow_page_close(&h.page);
}

static long ask_zerocopy(void *arg)
{
	struct tcp_zerocopy_receive z = { 0 };
	socklen_t len = sizeof(z);

	getsockopt(*(int *)arg, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &z, &len);
	return 0;
}

/* What is brought home for an option, when the one before is read, has lost its home. */
static void brought_home(const struct transport *t)
{
	int listener, fd[2], old, again;
	struct task reader, asks;
	struct address a;
	char got[UNREAD];
	struct slow h;

	(void)t;
	tcp_shim_net();
	listener = tcp_listen_at(LOCAL4, 0, &a);
	for (again = 0; again < 2; again++) {
		slow_page_open(&h.page);
		fused_to(listener, &a, fd);
		old = fd[1];
		h.fd = fd[0];
		WANT_TRUE(tcp_put(fd[1], UNREAD, 0), "%d: unread", again);
		task_start(&reader, slow_recv, &h);
		WANT_TRUE(task_sleeps(&reader), "%d: a reader is held up", again);
		task_start(&asks, ask_zerocopy, &fd[0]);
		sleep_ms(QUEUE_MS);
		WANT_OK(tcp_give_up(fd[0]), "%d: give it up", again);
		if (again)
			tcp_join(listener, &a, fd[0], fd);
		slow_page_give(&h.page, "");
		task_join(&reader);
		task_join(&asks);
		WANT_ERR(recv(fd[0], got, UNREAD, MSG_DONTWAIT), again ? EAGAIN : ENOTCONN,
			 "%d: nothing of the old one", again);
		if (!again)
			tcp_join(listener, &a, fd[0], fd);
		WANT_TRUE(tcp_exchange(fd) && tcp_exchange(fd), "%d: the next one", again);
		close(old);
		tcp_close(fd);
		slow_page_close(&h.page);
	}
	close(listener);
}

/* Who waits for room in the ring says what TCP says, and sends nothing to another. */
static void full(const struct transport *t)
{
	int listener, fd[2], old, i;
	bool asleep, told = false;
	static char bytes[SHORT];
	struct address a;
	char got[SHORT];
	struct end e;
	struct task k;
	struct call c = { &e, bytes, SHORT, MSG_NOSIGNAL };
	long n;

	(void)t;
	tcp_shim_net();
	on_one_processor();
	listener = tcp_listen_at(LOCAL4, 0, &a);
	/* It waits for 20 ms, which may have passed before it is given up. */
	for (i = 0; i < TRIES && !told; i++) {
		fused_to(listener, &a, fd);
		old = fd[1];
		e = (struct end){ .fd = fd[0] };
		MUST(tcp_put(fd[0], tcp_fusion(fd[0]).ring_bytes[SPEED_ROLE_TX], 0));
		task_start(&k, call_send, &c);
		sleep_ms(1);
		asleep = task_asleep(&k);
		if (asleep) {
			MUST(tcp_give_up(fd[0]) == 0);
			tcp_join(listener, &a, fd[0], fd);
		}
		n = task_join(&k);
		/* The latter between giving up and connecting. */
		told = asleep && n < 0 && (errno == EPIPE || errno == ECONNRESET);
		MUST(told || n == SHORT);
		if (asleep) {
			MUST(recv(fd[1], got, SHORT, MSG_DONTWAIT) < 0 && errno == EAGAIN);
			MUST(tcp_exchange(fd));
			close(old);
		}
		tcp_close(fd);
	}
	WANT_TRUE(told, "it is told");
	close(listener);
}

static const struct test_case cases[] = {
	{ "asleep", asleep, CASE_STREAM | CASE_SPEED },
	{ "queued", queued, CASE_STREAM | CASE_SPEED },
	{ "queued_sender", queued_sender, CASE_STREAM | CASE_SPEED },
	{ "brought_home", brought_home, CASE_STREAM | CASE_SPEED },
	{ "full", full, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
