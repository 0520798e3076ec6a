/* SPDX-License-Identifier: GPL-2.0 */
/* Revocation in the middle of a call: the process that is stepped, and who disturbs it. */
#ifndef SPEED_SELFTESTS_REVOKE_H
#define SPEED_SELFTESTS_REVOKE_H

#include <setjmp.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "stepper.h"
#include "stress.h"
#include "use.h"
#include "whole.h"

#define RING		8192

enum what { PLAIN, URING, STDIO, HANDLER, JUMP, KILL };

/**
 * struct shared - what the stepped process tells
 * @done: the call is over
 * @ret: what it returned
 * @ret2: of the handler's call
 * @mapped: transfers in the ring, in all calls
 */
struct shared {
	volatile bool done;
	volatile long ret, ret2;
	volatile long mapped;
	unsigned char buf[RING];
	unsigned char buf2[RING];
};

/**
 * struct trial - one call and one way to disturb it
 * @len: bytes of the call
 * @ask: bytes that the other one sends, or asks for
 */
struct trial {
	const struct transport *t;
	struct shared *sh;
	struct stepper path;
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
	return y->what == HANDLER || y->what == JUMP;
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

static void on_signal(int sig)
{
	struct shared *sh = mine->sh;

	if (mine->receive)
		sh->ret2 = speed_recv(handle, sh->buf2, mine->ask, MSG_DONTWAIT);
	else
		sh->ret2 = speed_send(handle, whole_tag, mine->ask, 0);
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

static void stepped(struct trial *y, int fd)
{
	struct speed_stats st;
	int tries;

	mine = y;
	signal(SIGUSR1, on_signal);
	handle = speed_attach(fd, 0);
	if (!handle)
		_exit(1);
	for (tries = 0; speed_map(handle, SPEED_MAP_BOTH); sleep_ms(1)) {
		if (errno != EAGAIN || ++tries == 1000)
			_exit(1);
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
	/* What a handler jumped out of does not stand in the way of the next. */
	if (y->what == JUMP && !y->receive && speed_send(handle, "", 1, 0) != 1)
		_exit(2);
	_exit(0);
}

static pid_t start(struct trial *y, int fd)
{
	pid_t pid = fork();
	int status;

	MUST(pid >= 0);
	if (pid == 0)
		stepped(y, fd);
	MUST(stepper_stopped(pid, &status));
	return pid;
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
