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
#define SOON_MS	60000

/* A connection whose end fd[0] is given up and connected again to where it was. */
struct again {
	int listener, fd[2], old;
	struct address at;
	struct end e;
	struct slow slow;
};

static void again_begin(struct again *a)
{
	a->fd[0] = tcp_socket(&a->at);
	tcp_join(a->listener, &a->at, a->fd[0], a->fd);
	MUST(tcp_fuses(a->fd));
	a->old = a->fd[1];
	a->e = (struct end){ .fd = a->fd[0] };
	slow_page_open(&a->slow.page);
	a->slow.fd = a->fd[0];
}

static void again_open(struct again *a)
{
	tcp_shim_net();
	a->listener = tcp_listen_at(LOCAL4, 0, &a->at);
	again_begin(a);
}

static void again_connect(struct again *a)
{
	tcp_join(a->listener, &a->at, a->fd[0], a->fd);
}

static void again_end(struct again *a)
{
	if (a->old != a->fd[1])
		close(a->old);
	tcp_close(a->fd);
	slow_page_close(&a->slow.page);
}

static void again_close(struct again *a)
{
	again_end(a);
	close(a->listener);
}

/* Who sleeps while the connection is given up, and the socket connected anew. */
static void asleep(const struct transport *t)
{
	struct again a;
	struct task k;
	char got[8];
	struct call c = { &a.e, got, 8, 0 };

	(void)t;
	on_one_processor();	/* the sleeper looks when all is over */
	again_open(&a);
	task_start(&k, call_recv, &c);
	WANT_TRUE(task_sleeps(&k), "recv waits");
	WANT_OK(tcp_give_up(a.fd[0]), "give it up");
	again_connect(&a);
	WANT_TRUE(task_ends(&k, SOON_MS), "it is told");
	if (!task_ends(&k, 0))
		send(a.fd[1], "x", 1, 0);
	WANT(task_join(&k), -1, EPIPE, "recv");
	again_close(&a);
}

/*
 * @call waits for the role's lock behind @slow, whom a page holds up; meanwhile the
 * connection is given up and, with @anew, made anew.
 */
static void queue(struct again *a, long (*slow)(void *), long (*call)(void *), void *arg,
		  struct task *second, bool anew)
{
	struct task first;

	task_start(&first, slow, &a->slow);
	WANT_TRUE(task_sleeps(&first), "%d: it is held up", anew);
	task_start(second, call, arg);
	WANT_TRUE(task_queues(second), "%d: it waits for the lock", anew);
	WANT_OK(tcp_give_up(a->fd[0]), "%d: give it up", anew);
	if (anew)
		again_connect(a);
	slow_page_give(&a->slow.page, "");
	task_join(&first);
}

/* A reader that waits for another, and then finds nothing. */
static void queued(const struct transport *t)
{
	struct task second;
	struct again a;
	char got[8];
	struct call c = { &a.e, got, 8, 0 };

	(void)t;
	again_open(&a);
	WANT_TRUE(tcp_put(a.fd[1], SLOW_BYTES, 0), "what one reader takes");
	queue(&a, slow_recv, call_recv, &c, &second, true);
	WANT(send(a.fd[1], "x", 1, 0), 1, 0, "by the next connection");
	WANT_TRUE(task_ends(&second, SOON_MS), "it is told");
	if (!task_ends(&second, 0))
		shutdown(a.fd[1], SHUT_WR);
	WANT(task_join(&second), -1, EPIPE, "recv");
	WANT(recv(a.fd[0], got, 8, 0), 1, 0, "what came by the next");
	again_close(&a);
}

/* A sender that waits for another. */
static void queued_sender(const struct transport *t)
{
	struct task second;
	struct again a;
	char got[8];
	struct call c = { &a.e, "late", 4, MSG_NOSIGNAL };

	(void)t;
	again_open(&a);
	queue(&a, slow_send, call_send, &c, &second, true);
	WANT(task_join(&second), -1, EPIPE, "send");
	WANT_ERR(recv(a.fd[1], got, 8, MSG_DONTWAIT), EAGAIN, "nothing of it by the next");
	WANT_TRUE(tcp_exchange(a.fd), "the next one");
	again_close(&a);
}

static long ask_zerocopy(void *arg)
{
	struct tcp_zerocopy_receive z = { 0 };
	socklen_t len = sizeof(z);

	getsockopt(*(int *)arg, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &z, &len);
	return 0;
}

/* What is brought home for an option, when the one before is read, has lost its home. */
static void brought_home_of(struct again *a, bool anew)
{
	struct task asks;
	char got[UNREAD];

	WANT_TRUE(tcp_put(a->fd[1], UNREAD, 0), "%d: unread", anew);
	queue(a, slow_recv, ask_zerocopy, &a->fd[0], &asks, anew);
	task_join(&asks);
	WANT_ERR(recv(a->fd[0], got, UNREAD, MSG_DONTWAIT), anew ? EAGAIN : ENOTCONN,
		 "%d: nothing of the old one", anew);
	if (!anew)
		again_connect(a);
	WANT_TRUE(tcp_exchange(a->fd) && tcp_exchange(a->fd), "%d: the next one", anew);
}

static void brought_home(const struct transport *t)
{
	struct again a;

	(void)t;
	again_open(&a);
	brought_home_of(&a, false);
	again_end(&a);
	again_begin(&a);
	brought_home_of(&a, true);
	again_close(&a);
}

/* Return: whether a sender that waits for room was told, where it still waited. */
static bool full_once(struct again *a)
{
	static char bytes[SHORT];
	char got[SHORT];
	struct task k;
	struct call c = { &a->e, bytes, SHORT, MSG_NOSIGNAL };
	bool asleep, told;
	long n;

	MUST(tcp_put(a->fd[0], tcp_fusion(a->fd[0]).ring_bytes[SPEED_ROLE_TX], 0));
	task_start(&k, call_send, &c);
	sleep_ms(1);
	asleep = task_asleep(&k);
	if (asleep) {
		MUST(tcp_give_up(a->fd[0]) == 0);
		again_connect(a);
	}
	n = task_join(&k);
	/* The latter between giving up and connecting. */
	told = asleep && n < 0 && (errno == EPIPE || errno == ECONNRESET);
	MUST(told || n == SHORT);
	if (asleep) {
		MUST(recv(a->fd[1], got, SHORT, MSG_DONTWAIT) < 0 && errno == EAGAIN);
		MUST(tcp_exchange(a->fd));
	}
	return told;
}

/* Who waits for room in the ring says what TCP says, and sends nothing to another. */
static void full(const struct transport *t)
{
	struct again a;
	bool told;
	int i;

	(void)t;
	on_one_processor();
	again_open(&a);
	told = full_once(&a);
	/* It waits for 20 ms, which may have passed before it is given up. */
	for (i = 1; i < TRIES && !told; i++) {
		again_end(&a);
		again_begin(&a);
		told = full_once(&a);
	}
	WANT_TRUE(told, "it is told");
	again_close(&a);
}

static const struct test_case cases[] = {
	{ "asleep", asleep, CASE_STREAM | CASE_SPEED },
	{ "queued", queued, CASE_STREAM | CASE_SPEED },
	{ "queued_sender", queued_sender, CASE_STREAM | CASE_SPEED },
	{ "brought_home", brought_home, CASE_STREAM | CASE_SPEED },
	{ "full", full, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
