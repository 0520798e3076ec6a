// SPDX-License-Identifier: GPL-2.0
/*
 * What poll() says, and whom it wakes, where there is more to say of a fused connection
 * than that it is established and has bytes or none: each story is told of plain TCP, too.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "harness.h"
#include "procfile.h"
#include "task.h"
#include "tcp_pair.h"

#define SOON_MS		10000
#define SMALL		4608	/* SO_SNDBUF, SO_RCVBUF */

struct story {
	char text[2048];
	size_t at;
};

static void __attribute__((format(printf, 2, 3))) add(struct story *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	s->at += vsnprintf(s->text + s->at, sizeof(s->text) - s->at, fmt, ap);
	va_end(ap);
	MUST(s->at < sizeof(s->text));
}

/* Until it says so at its end, or does not for long: who tells may be TCP's softirq. */
static void comes(struct story *s, int fd, short events, const char *what)
{
	add(s, "\n%s: %x", what, poll_wait(fd, events, SOON_MS) & (events | POLLERR | POLLHUP));
}

static void tell(struct story *s, const int fd[2], const char *when)
{
	add(s, "\n%s: %x %x", when, poll_now(fd[0], POLL_EVERY), poll_now(fd[1], POLL_EVERY));
}

/* One that waits in poll(), for ever, is asleep, and is woken by what is done next. */
struct waiter {
	struct task task;
	int fd;
	short events;
};

static long waits(void *arg)
{
	const struct waiter *w = arg;

	return poll_wait(w->fd, w->events, -1);
}

static void wait_begins(struct waiter *w, int fd, short events)
{
	w->fd = fd;
	w->events = events;
	task_start(&w->task, waits, w);
	MUST(task_sleeps(&w->task));
}

static void wait_ends(struct story *s, struct waiter *w, const char *what)
{
	add(s, "\nwoken by %s: %lx", what, task_join(&w->task));
}

static void low_water(int fd[2], struct story *s)
{
	struct waiter w;
	char buf[16];

	MUST(set_int(fd[1], SOL_SOCKET, SO_RCVLOWAT, 10) == 0);
	MUST(send(fd[0], "four", 4, 0) == 4);
	MUST(tcp_settled(fd[0]));
	tell(s, fd, "fewer than SO_RCVLOWAT");
	wait_begins(&w, fd[1], POLLIN);
	MUST(send(fd[0], "six...", 6, 0) == 6);
	wait_ends(s, &w, "as many");
	tell(s, fd, "as many");
	MUST(recv(fd[1], buf, 1, 0) == 1);
	tell(s, fd, "one less");
	MUST(set_int(fd[1], SOL_SOCKET, SO_RCVLOWAT, 1) == 0);
	tell(s, fd, "one less, and one is enough");
	MUST(recv(fd[1], buf, 9, 0) == 9);
	tell(s, fd, "none");
	MUST(set_int(fd[1], SOL_SOCKET, SO_RCVLOWAT, 0) == 0);
	tell(s, fd, "none, and none is asked for");
}

static void urgent(int fd[2], struct story *s)
{
	struct waiter w;
	char buf[16];

	wait_begins(&w, fd[1], POLLPRI);
	MUST(send(fd[0], "abU", 3, MSG_OOB) == 3);
	wait_ends(s, &w, "an urgent byte");
	tell(s, fd, "two bytes and it");
	MUST(recv(fd[1], buf, 2, 0) == 2);
	tell(s, fd, "it alone");
	MUST(recv(fd[1], buf, 1, MSG_OOB) == 1);
	tell(s, fd, "it was read");
	MUST(send(fd[0], "c", 1, 0) == 1);
	comes(s, fd[1], POLLIN, "a plain one");
	MUST(recv(fd[1], buf, 1, 0) == 1);
	tell(s, fd, "all was read");
}

/* MSG_ZEROCOPY: its completion is in the queue of errors. */
static void completion(int fd[2], struct story *s)
{
	char buf[64], control[512];
	struct msghdr m = { .msg_control = control, .msg_controllen = sizeof(control) };
	struct waiter w;

	MUST(set_int(fd[0], SOL_SOCKET, SO_ZEROCOPY, 1) == 0);
	wait_begins(&w, fd[0], 0);
	MUST(send(fd[0], "zero", 4, MSG_ZEROCOPY) == 4);
	MUST(recv(fd[1], buf, sizeof(buf), 0) == 4);
	wait_ends(s, &w, "a completion");
	tell(s, fd, "a completion");
	MUST(send(fd[1], "back", 4, 0) == 4);
	comes(s, fd[0], POLLIN, "and bytes");
	tell(s, fd, "both");
	MUST(recvmsg(fd[0], &m, MSG_ERRQUEUE) == 0);
	tell(s, fd, "the completion was read");
	MUST(recv(fd[0], buf, sizeof(buf), 0) == 4);
	tell(s, fd, "so were the bytes");
}

static void full(int fd[2], struct story *s)
{
	static char buf[4096];
	size_t sent = tcp_fill(fd[0]), got = 0;
	struct waiter w;
	ssize_t n;

	tell(s, fd, "full");
	wait_begins(&w, fd[0], POLLOUT);
	while (got < sent) {
		n = recv(fd[1], buf, sizeof(buf), 0);
		MUST(n > 0);
		got += n;
	}
	wait_ends(s, &w, "a reader");
	MUST(tcp_settled(fd[0]));
	tell(s, fd, "empty");
}

/* net.ipv4.tcp_notsent_lowat of 0: there is never as little unsent as it asks for. */
static void nothing_unsent(int fd[2], struct story *s)
{
	static const char file[] = "/proc/sys/net/ipv4/tcp_notsent_lowat";

	MUST(file_write(file, "0") == 0);
	tell(s, fd, "tcp_notsent_lowat 0");
	MUST(set_int(fd[0], IPPROTO_TCP, TCP_NOTSENT_LOWAT, 1) == 0);
	tell(s, fd, "TCP_NOTSENT_LOWAT 1");
	MUST(file_write(file, "4294967295") == 0);
	tell(s, fd, "tcp_notsent_lowat as it was");
}

static void shut(int fd[2], struct story *s)
{
	struct waiter w;
	char buf[8];

	MUST(send(fd[0], "last", 4, 0) == 4);
	wait_begins(&w, fd[1], POLLRDHUP);
	MUST(shutdown(fd[0], SHUT_WR) == 0);
	wait_ends(s, &w, "the end");
	tell(s, fd, "bytes, and the end of one direction");
	MUST(recv(fd[1], buf, sizeof(buf), 0) == 4);
	tell(s, fd, "the end of one direction");
	MUST(send(fd[1], "back", 4, 0) == 4);
	comes(s, fd[0], POLLIN, "bytes the other way");
	MUST(shutdown(fd[1], SHUT_RD) == 0);
	tell(s, fd, "nobody reads");
	wait_begins(&w, fd[1], 0);
	MUST(shutdown(fd[1], SHUT_WR) == 0);
	wait_ends(s, &w, "both ends");
	comes(s, fd[0], POLLRDHUP, "and the other's");
	tell(s, fd, "both directions");
}

/* Nobody reads any more, which the other end does not hear of. */
static void deaf(int fd[2], struct story *s)
{
	struct waiter w;

	wait_begins(&w, fd[1], POLLIN);
	MUST(shutdown(fd[1], SHUT_RD) == 0);
	wait_ends(s, &w, "shutdown()");
	tell(s, fd, "nobody reads");
	MUST(send(fd[1], "back", 4, 0) == 4);
	comes(s, fd[0], POLLIN, "bytes the other way");
	tell(s, fd, "and bytes the other way");
}

/* Closed with something unread: a reset. */
static void reset(int fd[2], struct story *s)
{
	struct waiter w;

	MUST(send(fd[0], "unread", 6, 0) == 6);
	MUST(send(fd[1], "too", 3, 0) == 3);
	comes(s, fd[0], POLLIN, "bytes");
	wait_begins(&w, fd[0], POLLRDHUP);
	close(fd[1]);
	fd[1] = -1;
	wait_ends(s, &w, "a reset");
	add(s, "\nreset: %x", poll_now(fd[0], POLL_EVERY));
	add(s, ", %zd", recv(fd[0], (char [8]){ 0 }, 8, 0));
	add(s, "\nand told: %x", poll_now(fd[0], POLL_EVERY));
}

/* The same connection, by TCP and by a ring that has carried bytes. */
static void told_of(bool fused, bool small, void (*fn)(int fd[2], struct story *s),
		    struct story *s)
{
	int fd[2], i;

	tcp_shim_set(fused);
	tcp_pair(fd);
	for (i = 0; small && i < 2; i++) {
		MUST(set_int(fd[i], SOL_SOCKET, SO_SNDBUF, SMALL) == 0);
		MUST(set_int(fd[i], SOL_SOCKET, SO_RCVBUF, SMALL) == 0);
	}
	WANT_TRUE(fused ? tcp_fuses(fd) : tcp_exchange(fd), "fused: %d", fused);
	tell(s, fd, "at first");
	fn(fd, s);
	tcp_close(fd);
}

static void alike(bool small, void (*fn)(int fd[2], struct story *s))
{
	struct story want = { "", 0 }, got = { "", 0 };

	tcp_own_net();
	told_of(false, small, fn, &want);
	told_of(true, small, fn, &got);
	if (strcmp(want.text, got.text)) {
		trace_str(want.text, "plain TCP");
		trace_str(got.text, "fused TCP");
	}
	WANT_TRUE(!strcmp(want.text, got.text), "as on plain TCP");
}

#define ALIKE(name, small)						\
	static void name##_case(const struct transport *t)		\
	{								\
		(void)t;						\
		alike(small, name);					\
	}

ALIKE(low_water, false)
ALIKE(urgent, false)
ALIKE(completion, false)
ALIKE(full, true)
ALIKE(nothing_unsent, false)
ALIKE(shut, false)
ALIKE(deaf, false)
ALIKE(reset, false)

static const struct test_case cases[] = {
	{ "low_water", low_water_case, CASE_STREAM | CASE_SPEED },
	{ "urgent", urgent_case, CASE_STREAM | CASE_SPEED },
	{ "completion", completion_case, CASE_STREAM | CASE_SPEED },
	{ "full", full_case, CASE_STREAM | CASE_SPEED },
	{ "nothing_unsent", nothing_unsent_case, CASE_STREAM | CASE_SPEED },
	{ "shut", shut_case, CASE_STREAM | CASE_SPEED },
	{ "deaf", deaf_case, CASE_STREAM | CASE_SPEED },
	{ "reset", reset_case, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
