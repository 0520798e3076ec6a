// SPDX-License-Identifier: GPL-2.0
/* SIGIO, and the signal chosen in its place. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "caught.h"
#include "delay.h"
#include "harness.h"
#include "tcp_pair.h"

#define SENDER_BYTES	(4 << 20)

static char scrap[1 << 16];

/* Waits a while for a signal that was sent at once, or is a moment late. */
static int caught_soon(int want)
{
	int i;

	for (i = 0; i < 500 && caught < want; i++)
		sleep_ms(2);
	return caught >= want;
}

/* This process is told of a descriptor, whose other flags are @flags. */
static void tell_of(int fd, int flags)
{
	NOTE(fcntl(fd, F_SETOWN, getpid()), "F_SETOWN");
	NOTE(fcntl(fd, F_SETFL, O_ASYNC | flags), "O_ASYNC");
}

static void data(const struct transport *t)
{
	struct end e[2];
	char buf[16];
	int i;

	catch_signal(SIGIO, SA_RESTART);
	tp_pair(t, e);
	tell_of(e[1].fd, 0);
	for (i = 0; i < 4; i++) {
		caught = 0;
		NOTE(end_send(&e[0], "x", 1, 0), "send");
		trace_num(caught_soon(1), "SIGIO");
		NOTE(end_recv(&e[1], buf, 16, MSG_DONTWAIT), "recv");
	}
	caught = 0;
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	trace_num(caught_soon(1), "SIGIO");
	NOTE(fcntl(e[1].fd, F_SETFL, 0), "no O_ASYNC");
	end_close(&e[0]);
	end_close(&e[1]);
}

/* The signal that F_SETSIG chose tells which descriptor, and what. */
static volatile int told_fd, told_band;

static void on_info(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	told_fd = info->si_fd;
	told_band = info->si_band;
	caught++;
}

static void info(const struct transport *t)
{
	struct sigaction sa = { .sa_sigaction = on_info, .sa_flags = SA_SIGINFO | SA_RESTART };
	int sig = SIGRTMIN + 2;
	struct end e[2];

	MUST(sigaction(sig, &sa, NULL) == 0);
	tp_pair(t, e);
	NOTE(fcntl(e[1].fd, F_SETSIG, sig), "F_SETSIG");
	tell_of(e[1].fd, 0);
	caught = 0;
	NOTE(end_send(&e[0], "x", 1, 0), "send");
	trace_num(caught_soon(1), "the signal");
	trace_num(told_fd == e[1].fd, "its descriptor");
	trace_mask(told_band & POLLIN, "its band");
	pair_close(e);
}

static void accepting(const struct transport *t)
{
	struct address a;
	int listener = tp_listen(t, 4, &a), client;

	catch_signal(SIGIO, SA_RESTART);
	tell_of(listener, 0);
	caught = 0;
	client = tp_connect(t, &a);
	trace_num(caught_soon(1), "SIGIO");
	close(client);
	close(listener);
}

static void read_until_told(struct end *e)
{
	int i;

	for (i = 0; i < 2500 && !caught; i++) {
		end_discard(e);
		sleep_ms(2);
	}
}

/* Who found it full is told that there is room. */
static void space(const struct transport *t)
{
	struct end e[2];

	catch_signal(SIGIO, SA_RESTART);
	tp_pair(t, e);
	tell_of(e[0].fd, O_NONBLOCK);
	trace_num(end_fill(&e[0], 1000) > 0, "fill");
	/*
	 * What the first bytes' acknowledgement makes room for is no room for long. Whom it
	 * tells so while he finds it full again looks once more, or has been told already.
	 */
	do {
		sleep_ms(20);
		caught = 0;
	} while (end_fill(&e[0], 1000) || caught);
	/* TCP's bytes come as its window opens. */
	read_until_told(&e[1]);
	trace_num(caught > 0, "SIGIO");
	pair_close(e);
}

/* Who slept in send() until there was room is not told of it by a signal as well. */
static void sleeping_sender(const struct transport *t)
{
	static char bytes[SENDER_BYTES];
	struct end e[2];
	struct call c = { &e[0], bytes, sizeof(bytes), 0 };
	struct task k;
	size_t got = 0;

	on_one_processor();
	catch_signal(SIGIO, SA_RESTART);
	tp_pair(t, e);
	tell_of(e[0].fd, 0);
	caught = 0;
	task_start(&k, call_send, &c);
	WANT_TRUE(task_sleeps(&k), "it sleeps");
	while (got < sizeof(bytes)) {
		ssize_t n = end_recv(&e[1], scrap, sizeof(scrap), 0);

		MUST(n > 0);
		got += n;
	}
	NOTE(task_join(&k), "send");
	sleep_ms(20);
	trace_num(caught, "SIGIO");
	pair_close(e);
}

/* But who gave up waiting is. */
static void timed_sender(const struct transport *t)
{
	static char bytes[SENDER_BYTES];
	struct timeval limit = { 0, 50000 };
	struct end e[2];
	int i;

	catch_signal(SIGIO, SA_RESTART);
	tp_pair(t, e);
	NOTE(setsockopt(e[0].fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)), "SO_SNDTIMEO");
	tell_of(e[0].fd, 0);
	/* Some; and none, often enough that what comes late has come. */
	for (i = 0; i < 8; )
		i = end_send(&e[0], bytes, sizeof(bytes), 0) < 0 ? i + 1 : 0;
	trace_num(errno, "errno");
	caught = 0;
	read_until_told(&e[1]);
	trace_num(caught > 0, "SIGIO");
	pair_close(e);
}

/* Who sleeps in recv() is not told of a part of what he waits for. */
static void asleep(const struct transport *t)
{
	struct end e[2];
	char buf[16];
	struct call c = { &e[1], buf, 6, MSG_WAITALL };
	struct task k;
	sigset_t set;

	/* On another processor he may be awake before he is looked at for the signal. */
	on_one_processor();
	catch_signal(SIGIO, SA_RESTART);
	tp_pair(t, e);
	tell_of(e[1].fd, 0);
	task_start(&k, call_recv, &c);
	/* From here on he alone gets it. */
	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	MUST(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	trace_num(task_sleeps(&k), "recv with WAITALL waits");
	NOTE(end_send(&e[0], "abc", 3, 0), "send");
	trace_num(task_sleeps(&k), "recv waits on");
	NOTE(end_send(&e[0], "def", 3, 0), "send");
	NOTE(task_join(&k), "recv");
	pair_close(e);
}

/*
 * The same on another processor, where he is awake before the sender has looked whether
 * anybody wants a signal: TCP has looked by then.
 */
static void awake_first(const struct transport *t, bool fused)
{
	struct call c = { .len = 16 };
	struct task k;
	struct end e[2];
	char buf[16];
	sigset_t set;
	int delay;

	catch_signal(SIGIO, SA_RESTART);
	tp_pair(t, e);
	c.e = &e[1];
	c.buf = buf;
	if (!fused)
		MUST(!tcp_set_fuse(e[0].fd, 0) && tcp_unfuses((int [2]){ e[0].fd, e[1].fd }));
	MUST(!fcntl(e[1].fd, F_SETOWN, getpid()) && !fcntl(e[1].fd, F_SETFL, O_ASYNC));
	task_start(&k, call_recv, &c);
	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	MUST(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	WANT_TRUE(task_sleeps(&k), "recv waits");
	delay = delay_begin("sock_wake_async");
	WANT(end_send(&e[0], "abc", 3, 0), 3, 0, "send");
	WANT(task_join(&k), 3, 0, "recv");
	close(delay);
	WANT(sigpending(&set) || sigismember(&set, SIGIO) || caught, 0, 0, "no signal");
	pair_close(e);
}

static void awake_first_ring(const struct transport *t)
{
	awake_first(t, true);
}

static void awake_first_tcp(const struct transport *t)
{
	awake_first(t, false);
}

static const struct test_case cases[] = {
	{ "data", data, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "info", info, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "accepting", accepting, CASE_BOTH | CASE_TCP },
	{ "space", space, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "sleeping_sender", sleeping_sender, CASE_STREAM | CASE_TCP | CASE_PATHS },
	{ "timed_sender", timed_sender, CASE_STREAM | CASE_TCP | CASE_PATHS },
	{ "asleep", asleep, CASE_STREAM | CASE_TCP | CASE_PATHS },
	{ "awake_first_ring", awake_first_ring, CASE_STREAM | CASE_FUSED_ONLY | CASE_PATHS },
	{ "awake_first_tcp", awake_first_tcp, CASE_STREAM | CASE_FUSED_ONLY },
};

RUN_CASES(cases)
