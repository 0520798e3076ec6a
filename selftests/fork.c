// SPDX-License-Identifier: GPL-2.0
/* fork, exec, dup and descriptor passing: one connection, held by several. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

/* Parent and child take turns on the same descriptor. */
static int child_sends(void *arg)
{
	struct end *e = arg;

	return end_send(e, "child", 5, 0) == 5 && end_send(e, "CHILD", 5, 0) == 5 ? 0 : 1;
}

static int child_receives(void *arg)
{
	char buf[8];

	return end_recv(arg, buf, 5, 0) == 5 && !memcmp(buf, "later", 5) ? 0 : 1;
}

static void in_turn(const struct transport *t)
{
	struct end e[2];
	char buf[8];
	int i;

	tp_pair(t, e);
	for (i = 0; i < 4; i++) {
		NOTE(end_send(&e[0], "first", 5, 0), "send by the parent");
		trace_num(process_join(process_start(child_sends, &e[0])), "send by a child");
		NOTE(end_send(&e[0], "later", 5, 0), "send by the parent");
		NOTE(end_recv(&e[1], buf, 5, MSG_WAITALL), "recv by the parent");
		trace_bytes(buf, 5, "the parent's bytes");
		NOTE(end_recv(&e[1], buf, 5, MSG_WAITALL), "recv");
		trace_bytes(buf, 5, "the child's bytes");
		NOTE(end_recv(&e[1], buf, 5, MSG_WAITALL), "recv");
		trace_bytes(buf, 5, "the child's other bytes");
		trace_num(process_join(process_start(child_receives, &e[1])), "recv by a child");
	}
	NOTE(end_recv(&e[1], buf, 8, MSG_DONTWAIT), "nothing is left");
	pair_close(e);
}

/* The connection ends when the last holder closes, not the first. */
static int child_waits(void *arg)
{
	struct end *e = arg;
	char c;

	close(e[1].fd);
	/* Told by the parent through the other direction. */
	if (end_recv(&e[0], &c, 1, 0) != 1)
		return 1;
	return end_send(&e[0], "still", 5, 0) == 5 ? 0 : 2;
}

static void last_holder(const struct transport *t)
{
	struct end e[2];
	char buf[8];
	pid_t child;

	tp_pair(t, e);
	child = process_start(child_waits, e);
	end_close(&e[0]);
	tp_settle(t);
	trace_mask(poll_now(e[1].fd, POLL_ALL), "poll when the parent has closed");
	NOTE(end_send(&e[1], "g", 1, 0), "send");
	NOTE(end_recv(&e[1], buf, 8, 0), "recv from the child");
	trace_num(process_join(child), "the child");
	NOTE(end_recv(&e[1], buf, 8, 0), "the end comes now");
	end_close(&e[1]);
}

/*
 * Who reads what was sent may answer and close before send() returns, and that is an end
 * like any other.
 */
static void answered_at_once(const struct transport *t)
{
	const struct sched_param first = { .sched_priority = 1 };
	struct end e[2];
	char buf[8];
	pid_t child;
	int i;

	for (i = 0; i < 20; i++) {
		tp_pair(t, e);
		/* There is a ring by then. */
		MUST(end_send(&e[1], "a", 1, 0) == 1 && end_recv(&e[0], buf, 8, 0) == 1);
		MUST(end_send(&e[0], "b", 1, 0) == 1 && end_recv(&e[1], buf, 8, 0) == 1);
		child = process_start(child_waits, e);
		MUST(!sched_setscheduler(child, SCHED_FIFO, &first));
		end_close(&e[0]);
		tp_settle(t);
		WANT(end_send(&e[1], "g", 1, 0), 1, 0, "%d: send", i);
		WANT(end_recv(&e[1], buf, 8, 0), 5, 0, "%d: the answer", i);
		WANT(process_join(child), 0, 0, "%d: the child", i);
		tp_settle(t);
		WANT(poll_now(e[1].fd, POLL_ALL) & POLLERR, 0, 0, "%d: no reset", i);
		WANT(end_recv(&e[1], buf, 8, 0), 0, 0, "%d: the end", i);
		end_close(&e[1]);
	}
}

static void dups(const struct transport *t)
{
	struct end e[2];
	char buf[8];
	int other, high;

	tp_pair(t, e);
	other = dup(e[0].fd);
	high = fcntl(e[0].fd, F_DUPFD_CLOEXEC, 500);
	NOTE(end_send(&e[0], "a", 1, 0), "send");
	NOTE(write(other, "b", 1), "write to the dup");
	NOTE(end_send(&e[0], "c", 1, 0), "send");
	NOTE(send(high, "d", 1, 0), "send to the other dup");
	NOTE(end_recv(&e[1], buf, 4, MSG_WAITALL), "recv");
	trace_bytes(buf, 4, "in order");
	end_close(&e[0]);
	tp_settle(t);
	trace_mask(poll_now(e[1].fd, POLL_ALL), "poll, a dup is open");
	NOTE(write(other, "e", 1), "write to the dup");
	NOTE(end_recv(&e[1], buf, 1, 0), "recv");
	close(other);
	close(high);
	NOTE(end_recv(&e[1], buf, 1, 0), "recv at the end");
	end_close(&e[1]);
}

static void dup_over(const struct transport *t)
{
	struct end e[2];
	int null = open("/dev/null", O_RDWR);
	char c;

	MUST(null >= 0);
	tp_pair(t, e);
	NOTE(dup2(null, e[0].fd) == e[0].fd, "dup2 over an end closes it");
	NOTE(end_recv(&e[1], &c, 1, 0), "recv");
	close(null);
	end_close(&e[1]);
	if (e[0].map)
		speed_detach(e[0].map);
	close(e[0].fd);
}

/* A program that knows nothing of it, with the socket as its standard streams. */
static void exec_cat(const struct transport *t)
{
	char *const argv[] = { "cat", NULL };
	char *const env[] = { NULL };
	struct end e[2];
	char buf[64];
	pid_t child;

	tp_pair(t, e);
	NOTE(end_send(&e[0], "before exec ", 12, 0), "send before");
	child = fork();
	MUST(child >= 0);
	if (child == 0) {
		dup2(e[1].fd, 0);
		dup2(e[1].fd, 1);
		close(e[0].fd);
		close(e[1].fd);
		execve("/bin/cat", argv, env);
		_exit(99);
	}
	end_close(&e[1]);
	NOTE(end_send(&e[0], "and after", 9, 0), "send after");
	NOTE(shutdown(e[0].fd, SHUT_WR), "shutdown");
	NOTE(end_recv_all(&e[0], buf, 64), "what came back");
	trace_bytes(buf, 21, "the bytes");
	trace_num(process_join(child), "cat");
	end_close(&e[0]);
}

static void close_on_exec(const struct transport *t)
{
	char *const argv[] = { "sleep", "600", NULL };
	struct end e[2];
	pid_t child;
	char c;

	tp_pair(t, e);
	NOTE(fcntl(e[0].fd, F_SETFD, FD_CLOEXEC), "FD_CLOEXEC");
	NOTE(fcntl(e[1].fd, F_SETFD, FD_CLOEXEC), "FD_CLOEXEC");
	child = fork();
	MUST(child >= 0);
	if (child == 0) {
		execve("/bin/sleep", argv, NULL);
		_exit(99);
	}
	/* Once its program runs, this side's close is the last. */
	end_close(&e[0]);
	NOTE(end_recv(&e[1], &c, 1, 0), "recv at the end, with the program running");
	kill(child, SIGKILL);
	trace_num(process_join(child), "the program");
	end_close(&e[1]);
}

static int send_fd(int over, int fd)
{
	union { char buf[CMSG_SPACE(sizeof(int))]; struct cmsghdr head; } c = { 0 };
	struct iovec iov = { "f", 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = c.buf,
		.msg_controllen = sizeof(c.buf),
	};

	c.head.cmsg_level = SOL_SOCKET;
	c.head.cmsg_type = SCM_RIGHTS;
	c.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&c.head), &fd, sizeof(int));
	return sendmsg(over, &m, 0);
}

static int receive_fd(int over)
{
	union { char buf[CMSG_SPACE(sizeof(int))]; struct cmsghdr head; } c = { 0 };
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = c.buf,
		.msg_controllen = sizeof(c.buf),
	};
	int fd = -1;

	if (recvmsg(over, &m, 0) == 1)
		memcpy(&fd, CMSG_DATA(&c.head), sizeof(int));
	return fd;
}

struct passing {
	const struct transport *t;
	int over[2];
	struct end *e;
};

/* Another process, which has the descriptor only because it was passed. */
static int passed_to(void *arg)
{
	struct passing *p = arg;
	struct end e;
	char buf[8];
	int fd;

	close(p->over[0]);
	close(p->e[0].fd);
	close(p->e[1].fd);
	fd = receive_fd(p->over[1]);
	if (fd < 0)
		return 1;
	end_init(p->t, &e, fd, 1);
	if (end_recv(&e, buf, 5, MSG_WAITALL) != 5 || memcmp(buf, "there", 5))
		return 2;
	if (end_send(&e, "mine", 4, 0) != 4)
		return 3;
	end_close(&e);
	return 0;
}

static void passed(const struct transport *t)
{
	struct end e[2];
	struct passing p = { .t = t, .e = e };
	char buf[8];
	pid_t child;

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, p.over) == 0);
	tp_pair(t, e);
	child = process_start(passed_to, &p);
	NOTE(end_send(&e[0], "there", 5, 0), "send before it is passed");
	NOTE(send_fd(p.over[0], e[1].fd), "pass the descriptor");
	end_close(&e[1]);
	NOTE(end_recv(&e[0], buf, 8, 0), "recv");
	trace_bytes(buf, 4, "the bytes");
	trace_num(process_join(child), "the process that it was passed to");
	close(p.over[0]);
	close(p.over[1]);
	NOTE(end_recv(&e[0], buf, 8, 0), "recv at the end");
	end_close(&e[0]);
}

/* In flight when every holder closes: it closes with the message that holds it. */
static void passed_to_nobody(const struct transport *t)
{
	struct end e[2];
	int over[2];
	char c;

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, over) == 0);
	tp_pair(t, e);
	NOTE(send_fd(over[0], e[1].fd), "pass the descriptor");
	end_close(&e[1]);
	NOTE(end_send(&e[0], "x", 1, 0), "send to one in flight");
	close(over[0]);
	close(over[1]);
	NOTE(end_recv(&e[0], &c, 1, 0), "recv");
	end_close(&e[0]);
}

/* Many children, each with a piece of the same stream. */
#define CHILDREN	8

struct piece {
	struct end *e;
	int which;
};

static int send_piece(void *arg)
{
	struct piece *p = arg;
	char buf[64];
	int i;

	memset(buf, 'A' + p->which, sizeof(buf));
	for (i = 0; i < 50; i++) {
		if (end_send(p->e, buf, sizeof(buf), 0) != sizeof(buf))
			return 1;
	}
	return 0;
}

static void many_children(const struct transport *t)
{
	pid_t child[CHILDREN];
	int count[CHILDREN] = { 0 }, wrong = 0, i;
	struct end e[2];
	char buf[64];

	tp_pair(t, e);
	for (i = 0; i < CHILDREN; i++) {
		struct piece p = { &e[0], i };

		child[i] = process_start(send_piece, &p);
	}
	for (i = 0; i < CHILDREN * 50; i++) {
		if (end_recv(&e[1], buf, sizeof(buf), MSG_WAITALL) != sizeof(buf) ||
		    buf[0] < 'A' || buf[0] >= 'A' + CHILDREN ||
		    memcmp(buf, buf + 1, sizeof(buf) - 1))
			wrong++;
		else
			count[buf[0] - 'A']++;
	}
	trace_num(wrong, "wrong");
	for (i = 0; i < CHILDREN; i++) {
		trace_num(process_join(child[i]), "child %d", i);
		trace_num(count[i], "its records");
	}
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "in_turn", in_turn, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "last_holder", last_holder, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "answered_at_once", answered_at_once, CASE_STREAM | CASE_TCP | CASE_PATHS },
	{ "dups", dups, CASE_ALL },
	{ "dup_over", dup_over, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "exec_cat", exec_cat, CASE_ALL },
	{ "close_on_exec", close_on_exec, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "passed", passed, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "passed_to_nobody", passed_to_nobody, CASE_BOTH | CASE_PATHS },
	{ "many_children", many_children, CASE_BOTH | CASE_TCP | CASE_PATHS },
};

RUN_CASES(cases)
