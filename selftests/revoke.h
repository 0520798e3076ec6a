/* SPDX-License-Identifier: GPL-2.0 */
/* Revocation in the middle of a call: the process that is stepped, and who disturbs it. */
#ifndef SPEED_SELFTESTS_REVOKE_H
#define SPEED_SELFTESTS_REVOKE_H

#include <setjmp.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stepper.h"
#include "stress.h"
#include "use.h"
#include "whole.h"

#define RING		8192

#define CROSS_BYTES	16	/* of each of two transfers the other way */

/* STOP: the first is stopped by SIGSTOP meanwhile; CROSS: HANDLER, and the other way too. */
enum what { PLAIN, URING, STDIO, HANDLER, JUMP, KILL, STOP, CROSS };

/**
 * struct shared - what the stepped process tells
 * @done: the call is over
 * @ret: what it returned
 * @ret2: of the handler's call
 * @cross: of its two calls the other way
 * @came: what they received
 * @mapped: transfers in the ring, in all calls
 * @crossed: those of them that went the other way
 */
struct shared {
	volatile bool done;
	volatile long ret, ret2, cross[2];
	unsigned char buf[RING];
	unsigned char buf2[RING];
	unsigned char came[2 * CROSS_BYTES];
	volatile long mapped, crossed;
};

/**
 * struct trial - one call and one way to disturb it
 * @len: bytes of the call
 * @ask: bytes that the other one sends, or asks for
 */
struct trial {
	const struct transport *t;
	struct shared *sh;
	struct stepper *path;
	enum what what;
	bool receive;
	size_t len, ask;
	long wrong;
	int first_wrong;
};

static bool seqpacket(const struct trial *y)
{
	return y->t->type == SOCK_SEQPACKET;
}

static bool by_signal(const struct trial *y)
{
	return y->what == HANDLER || y->what == JUMP || y->what == CROSS;
}

/* Whether the stepped call comes to its end and tells its result. */
static bool returns(const struct trial *y)
{
	return y->what != KILL && y->what != JUMP;
}

/* The stepped process's, which its signal handler uses, too. */
static struct speed *handle;
static struct trial *mine;
static sigjmp_buf out;

/* What the other way carries, in two pieces. */
static void cross_fill(unsigned char b[2 * CROSS_BYTES])
{
	whole_fill(b, 2 * CROSS_BYTES);
}

static void cross(int i)
{
	unsigned char b[2 * CROSS_BYTES];
	struct shared *sh = mine->sh;
	size_t at = i * CROSS_BYTES;

	if (mine->what != CROSS)
		return;
	cross_fill(b);
	if (mine->receive)
		sh->cross[i] = speed_send(handle, b + at, CROSS_BYTES, 0);
	else
		sh->cross[i] = speed_recv(handle, sh->came + at, CROSS_BYTES, MSG_DONTWAIT);
}

/* The other way before and after the interrupted one, which takes the role away. */
static void on_signal(int sig)
{
	struct shared *sh = mine->sh;

	cross(0);
	if (mine->receive)
		sh->ret2 = speed_recv(handle, sh->buf2, mine->ask, MSG_DONTWAIT);
	else
		sh->ret2 = speed_send(handle, whole_tag, mine->ask, 0);
	cross(1);
	if (mine->what == JUMP)
		siglongjmp(out, sig);
}

static unsigned char sent[RING];

static long stepped_call(struct trial *y)
{
	if (y->receive)
		return speed_recv(handle, y->sh->buf, y->len, 0);
	return speed_send(handle, sent, y->len, 0);
}

#define TAKEN_BACK	3	/* exit status: the ring has no pages, or was revoked */
#define MAP_TRIES	300
#define START_TRIES	10

/* Why there is nothing to step, for who reads that the other one waited in vain. */
static void cannot(const char *what)
{
	dprintf(STDOUT_FILENO, "# the stepped process: %s: %s\n", what, strerror(errno));
	_exit(errno == EAGAIN ? TAKEN_BACK : 1);
}

static void stepped(struct trial *y, int fd)
{
	struct speed_stats st;
	int tries;

	mine = y;
	signal(SIGUSR1, on_signal);
	handle = speed_attach(fd, 0);
	if (!handle)
		cannot("speed_attach()");
	for (tries = 0; speed_map(handle, SPEED_MAP_BOTH); sleep_ms(1)) {
		if (errno != EAGAIN || ++tries == MAP_TRIES)
			cannot("speed_map()");
	}
	whole_fill(sent, y->len);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	/* The first instructions are those that return from raise(). */
	if (!sigsetjmp(out, 1)) {
		raise(SIGSTOP);
		y->sh->ret = stepped_call(y);
	}
	y->sh->done = true;
	speed_get_stats(handle, &st);
	y->sh->mapped += st.mapped_sends + st.mapped_recvs;
	y->sh->crossed += y->receive ? st.mapped_sends : st.mapped_recvs;
	/* What a handler jumped out of does not stand in the way of the next. */
	if (y->what == JUMP && !y->receive && speed_send(handle, "", 1, 0) != 1)
		_exit(2);
	_exit(0);
}

/* Return: who is to be stepped, or 0 where the connection could not be mapped any more. */
static pid_t start(struct trial *y, int fd)
{
	pid_t pid = fork();
	int status;

	MUST(pid >= 0);
	if (pid == 0)
		stepped(y, fd);
	if (stepper_stopped(pid, &status))
		return pid;
	MUST(WIFEXITED(status) && WEXITSTATUS(status) == TAKEN_BACK);
	return 0;
}

/* No longer traced, and stopped like any other process, where it is. */
static void halt(pid_t pid)
{
	int status;

	MUST(ptrace(PTRACE_DETACH, pid, NULL, SIGSTOP) == 0);
	MUST(waitpid(pid, &status, WUNTRACED) == pid);
	MUST(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
}

/* Nothing moved it; now it runs to its end: its status. */
static int go_on(pid_t pid)
{
	int status;

	MUST(waitpid(pid, &status, WNOHANG | WCONTINUED) == 0);
	MUST(kill(pid, SIGCONT) == 0);
	MUST(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* The other one, who takes the role away. */
static long intrude(struct trial *y, int fd, unsigned char *buf)
{
	if (!y->receive)
		memcpy(buf, whole_tag, y->ask);
	if (y->what == URING)
		return use_by_uring(fd, y->receive, buf, y->ask);
	if (y->what == STDIO)
		return use_by_stdio(fd, y->receive, buf, y->ask);
	return y->receive ? recv(fd, buf, y->ask, 0) : send(fd, buf, y->ask, 0);
}

#endif
