// SPDX-License-Identifier: GPL-2.0
/*
 * Revocation at every instruction: a process sends, or receives, through its
 * mapping, single-stepped; after k instructions another one uses the same
 * descriptor, which takes the role away, and then the first goes on, is killed,
 * or has a signal handler that sends and receives itself, and may never return
 * to what it interrupted. For every k until the call is over. Each byte that a
 * send accepted arrives once, and in order.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stress.h"
#include "uring.h"

#define RING		8192
#define INTRUDER	8	/* bytes that the other one sends, or asks for */
#define TAG		0xf0	/* theirs begin here; the stepped process's are below */
#define STEPS_MAX	20000

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
	unsigned char buf2[INTRUDER];
};

struct trial {
	const struct transport *t;
	struct shared *sh;
	enum what what;
	bool receive;
	size_t len;
	int stride;
	int count;
	unsigned long *path;
	bool *repeats;
	long wrong;
	int first_wrong;
};

static void fill(unsigned char *b, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		b[i] = (i * 7 + i / 240) % TAG;
}

static const unsigned char tag[INTRUDER] = { 0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7 };

/* ---- the stepped process ---- */

static struct speed *handle;
static struct trial *mine;
static sigjmp_buf out;

static void on_signal(int sig)
{
	struct shared *sh = mine->sh;

	if (mine->receive)
		sh->ret2 = speed_recv(handle, sh->buf2, INTRUDER, MSG_DONTWAIT);
	else
		sh->ret2 = speed_send(handle, tag, INTRUDER, 0);
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

	mine = y;
	signal(SIGUSR1, on_signal);
	handle = speed_attach(fd, 0);
	if (!handle || speed_map(handle, SPEED_MAP_BOTH))
		_exit(1);
	fill(sent, y->len);
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

/* ---- the other one ---- */

static long intrude(struct trial *y, int fd, unsigned char *buf)
{
	struct io_uring_cqe c;
	struct uring u;
	FILE *f;
	long n;

	switch (y->what) {
	case URING:
		MUST(uring_open(&u, 4));
		uring_prepare(&u, y->receive ? IORING_OP_RECV : IORING_OP_SEND, fd,
			      y->receive ? buf : tag, INTRUDER, 1)->msg_flags = 0;
		MUST(uring_submit(&u) == 1 && uring_wait(&u, &c, URING_SOON_MS));
		uring_close(&u);
		return c.res;
	case STDIO:
		f = fdopen(dup(fd), y->receive ? "r" : "w");
		MUST(f);
		setvbuf(f, NULL, y->receive ? _IONBF : _IOFBF, 64);
		n = y->receive ? fread(buf, 1, INTRUDER, f) : fwrite(tag, 1, INTRUDER, f);
		fclose(f);
		return n;
	default:
		return y->receive ? recv(fd, buf, INTRUDER, 0) : send(fd, tag, INTRUDER, 0);
	}
}

static bool stopped(pid_t pid, int *status)
{
	MUST(waitpid(pid, status, 0) == pid);
	return WIFSTOPPED(*status);
}

static unsigned long where(pid_t pid)
{
	struct user_regs_struct r;

	MUST(ptrace(PTRACE_GETREGS, pid, NULL, &r) == 0);
	return r.rip;
}

/* A breakpoint: much faster than so many steps. False: the call was over before. */
static bool run_to(struct trial *y, pid_t pid, unsigned long at)
{
	struct user_regs_struct r;
	int status;
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, pid, (void *)at, NULL);
	MUST(!errno);
	MUST(ptrace(PTRACE_POKETEXT, pid, (void *)at, (void *)((word & ~0xffl) | 0xcc)) == 0);
	MUST(ptrace(PTRACE_CONT, pid, NULL, NULL) == 0);
	MUST(stopped(pid, &status) && WSTOPSIG(status) == SIGTRAP);
	MUST(ptrace(PTRACE_POKETEXT, pid, (void *)at, (void *)word) == 0);
	MUST(ptrace(PTRACE_GETREGS, pid, NULL, &r) == 0);
	r.rip = at;
	MUST(ptrace(PTRACE_SETREGS, pid, NULL, &r) == 0);
	return !y->sh->done;
}

/*
 * Where each instruction of the call is, stepped through once. One that repeats
 * itself (a copy) is one entry.
 */
static void learn(struct trial *y, pid_t pid)
{
	int status;

	while (!y->sh->done && y->count < STEPS_MAX) {
		unsigned long at = where(pid);

		if (y->count && y->path[y->count - 1] == at)
			y->repeats[y->count - 1] = true;
		else
			y->path[y->count++] = at;
		MUST(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0);
		MUST(stopped(pid, &status));
	}
}

static void single(struct trial *y, pid_t pid, int n)
{
	int status;

	while (n-- && !y->sh->done) {
		MUST(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0);
		MUST(stopped(pid, &status));
	}
}

/*
 * To the k-th instruction: at once to where it is first met, by steps from
 * there; of one that repeats itself, into the middle.
 */
static void step(struct trial *y, pid_t pid, int k)
{
	int at = 0;

	while (y->path[at] != y->path[k])
		at++;
	if (at)
		run_to(y, pid, y->path[at]);
	for (; at < k; at++) {
		if (y->repeats[at])
			run_to(y, pid, y->path[at + 1]);
		else
			single(y, pid, 1);
	}
	if (y->repeats[k])
		single(y, pid, 5);
}

/* Takes the intruder's bytes out of what came; false if they are not there once, whole. */
static bool take_tag(unsigned char *b, size_t *len)
{
	unsigned char *at = memchr(b, tag[0], *len);

	if (!at || at + INTRUDER > b + *len || memcmp(at, tag, INTRUDER))
		return false;
	memmove(at, at + INTRUDER, b + *len - at - INTRUDER);
	*len -= INTRUDER;
	return !memchr(b, tag[0], *len);
}

static size_t collect(struct end *e, unsigned char *b, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while ((n = recv(e->fd, b + len, size - len, MSG_DONTWAIT)) > 0)
		len += n;
	return len;
}

static bool sent_exactly(struct trial *y, struct end *peer, long intruded)
{
	unsigned char got[2 * RING], want[RING];
	size_t len = collect(peer, got, sizeof(got));
	bool known = y->what != KILL && y->what != JUMP;

	fill(want, y->len);
	if (y->what == JUMP && (!len || got[--len]))
		return false;
	if (intruded != INTRUDER || !take_tag(got, &len))
		return false;
	if (known && (y->sh->ret != (long)len || !len))
		return false;
	if (y->t->type == SOCK_SEQPACKET && len && len != y->len)
		return false;
	return len <= y->len && !memcmp(got, want, len);
}

/* Which bytes of the stream a receiver got: a run of them, each claimed once. */
static bool claim(const unsigned char *all, unsigned char *seen, size_t size,
		  const unsigned char *b, long len)
{
	size_t at;

	for (at = 0; len > 0 && at + len <= size; at++) {
		if (!seen[at] && !memcmp(all + at, b, len)) {
			memset(seen + at, 1, len);
			return true;
		}
	}
	return len <= 0;
}

/*
 * The peer had sent twice what is asked for. Bytes have values that tell runs
 * apart. One that is killed, or jumps out, may keep what it took.
 */
static bool received_exactly(struct trial *y, struct end *own, const unsigned char *other,
			     long intruded, const unsigned char *all, size_t total)
{
	unsigned char seen[2 * RING] = { 0 }, rest[2 * RING];
	bool known = y->what != KILL && y->what != JUMP;
	size_t len = collect(own, rest, sizeof(rest)), i, lost = 0;

	if (known && y->sh->ret <= 0)
		return false;
	if (!claim(all, seen, total, rest, len) || !claim(all, seen, total, other, intruded))
		return false;
	if (known && !claim(all, seen, total, y->sh->buf, y->sh->ret))
		return false;
	for (i = 0; i < total; i++)
		lost += !seen[i];
	return known ? !lost : lost <= y->len;
}

static void one(struct trial *y, int k)
{
	unsigned char all[2 * RING], other[INTRUDER] = { 0 };
	size_t total = 2 * y->len;	/* who comes second must not wait */
	struct transport u = by_hand_0(y->t);
	bool ok, by_signal = y->what == HANDLER || y->what == JUMP;
	long intruded = 0;
	struct end e[2];
	int status;
	pid_t pid;

	memset(y->sh, 0, offsetof(struct shared, mapped));
	u.path[1] = PATH_KERNEL;
	tp_pair_sized(&u, e, RING / 2);
	fill(all, total);
	if (y->receive)
		MUST(send(e[1].fd, all, total, 0) == (ssize_t)total);
	pid = fork();
	MUST(pid >= 0);
	if (pid == 0)
		stepped(y, e[0].fd);
	MUST(stopped(pid, &status));
	if (!y->count) {
		learn(y, pid);
		kill(pid, SIGKILL);
		MUST(!stopped(pid, &status));
		pair_close(e);
		return;
	}
	step(y, pid, k);
	if (!by_signal)
		intruded = intrude(y, e[0].fd, other);
	if (y->what == KILL) {
		kill(pid, SIGKILL);
		MUST(!stopped(pid, &status));
	} else {
		MUST(ptrace(PTRACE_CONT, pid, NULL, by_signal ? SIGUSR1 : 0) == 0);
		while (stopped(pid, &status))
			ptrace(PTRACE_CONT, pid, NULL, WSTOPSIG(status) == SIGSTOP ? 0 :
			       WSTOPSIG(status));
		MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	if (by_signal) {
		intruded = y->sh->ret2;
		memcpy(other, y->sh->buf2, INTRUDER);
	}
	if (y->receive)
		ok = received_exactly(y, &e[0], other, intruded, all, total);
	else
		ok = sent_exactly(y, &e[1], intruded);
	if (!ok && !y->wrong++)
		y->first_wrong = k;
	pair_close(e);
}

static void every(const struct transport *t, enum what what, bool receive, size_t len, int stride)
{
	struct trial y = { .t = t, .what = what, .receive = receive, .len = len };
	int k;

	y.sh = mmap(NULL, sizeof(*y.sh), RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(y.sh != MAP_FAILED);
	y.stride = soak() ? 1 : stride;
	y.path = calloc(STEPS_MAX, sizeof(*y.path));
	y.repeats = calloc(STEPS_MAX, sizeof(*y.repeats));
	MUST(y.path && y.repeats);
	one(&y, 0);
	/* The last few tell that it is over. */
	for (k = 0; k < y.count - 10; k += y.stride)
		one(&y, k);
	WANT(y.wrong, 0, 0, "wrong, of %d instants, the first after %d instructions",
	     k / y.stride, y.first_wrong);
	WANT_TRUE(y.count < STEPS_MAX && k / y.stride >= 10, "the call was stepped through");
	WANT_TRUE(what == KILL || y.sh->mapped, "it was in the ring");
	free(y.path);
	free(y.repeats);
}

#define STEP_CASES(name, what)							\
	static void send_##name(const struct transport *t)			\
	{									\
		every(t, what, false, 24, 7);					\
		if (what == PLAIN || what == HANDLER || what == KILL)		\
			every(t, what, false, 2500, 13);			\
	}									\
	static void recv_##name(const struct transport *t)			\
	{									\
		every(t, what, true, 24, 7);					\
	}

STEP_CASES(plain, PLAIN)
STEP_CASES(uring, URING)
STEP_CASES(stdio, STDIO)
STEP_CASES(handler, HANDLER)
STEP_CASES(jump, JUMP)
STEP_CASES(kill, KILL)

static const struct test_case cases[] = {
	{ "send_plain", send_plain, CASE_BOTH | CASE_SPEED | CASE_LONG },
	{ "recv_plain", recv_plain, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "send_uring", send_uring, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "recv_uring", recv_uring, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "send_stdio", send_stdio, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "recv_stdio", recv_stdio, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "send_handler", send_handler, CASE_BOTH | CASE_SPEED | CASE_LONG },
	{ "recv_handler", recv_handler, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "send_jump", send_jump, CASE_BOTH | CASE_SPEED | CASE_LONG },
	{ "recv_jump", recv_jump, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "send_kill", send_kill, CASE_BOTH | CASE_SPEED | CASE_LONG },
	{ "recv_kill", recv_kill, CASE_STREAM | CASE_SPEED | CASE_LONG },
};

RUN_CASES(cases)
