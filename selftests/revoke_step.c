// SPDX-License-Identifier: GPL-2.0
/*
 * Revocation at every instruction: a process sends, or receives, through its
 * mapping, single-stepped; after k instructions another one uses the same
 * descriptor, which takes the role away, and then the first goes on, is killed,
 * or has a signal handler that sends and receives itself, also the other way, and
 * may never return to what it interrupted. It stands in a debugger's stop, or in
 * that of SIGSTOP. For every k until the call is over. Each byte that a send
 * accepted arrives once, and in order; of SOCK_SEQPACKET each message, whole.
 */
#define _GNU_SOURCE
#include "revoke.h"

#define MESSAGES	3	/* that wait for a receiver: two take one each */
#define FEW_BYTES	24	/* of a call */
#define MANY_BYTES	2500

/*
 * A sender that jumped out sends a byte more at its end; one that was killed, or
 * jumped out, may have sent all of it or, in a stream, a part.
 */
static bool sent_exactly(struct trial *y, int peer, long intruded)
{
	unsigned char got[2 * RING], want[RING];
	size_t len = whole_collect(peer, got, sizeof(got));

	whole_fill(want, y->len);
	if (y->what == JUMP && (!len || got[--len]))
		return false;
	if (intruded != WHOLE_TAG || !whole_take_tag(got, &len))
		return false;
	if (returns(y) && (y->sh->ret != (long)len || !len))
		return false;
	if (seqpacket(y) && len && len != y->len)
		return false;
	return len <= y->len && !memcmp(got, want, len);
}

/*
 * More had been sent than both ask for: what nobody took is the end of it. One
 * that is killed, or jumps out, may keep what it took: one call's bytes.
 */
static bool received_exactly(struct trial *y, int own, long intruded, const unsigned char *other,
			     struct whole *w)
{
	unsigned char rest[MESSAGES * RING];
	size_t len = whole_collect(own, rest, sizeof(rest)), lost;

	if (returns(y) && y->sh->ret <= 0)
		return false;
	if (!whole_claim_end(w, rest, len) || !whole_claim(w, other, intruded))
		return false;
	if (returns(y) && !whole_claim(w, y->sh->buf, y->sh->ret))
		return false;
	lost = whole_unclaimed(w);
	return returns(y) ? !lost : lost <= y->len;
}

/* The other way: nothing, or both pieces and nothing else. */
static bool crossed_exactly(struct trial *y, const struct end e[2])
{
	unsigned char want[2 * CROSS_BYTES], rest[RING];
	size_t len = whole_collect(e[y->receive].fd, rest, sizeof(rest));

	if (y->what != CROSS)
		return !len;
	cross_fill(want);
	if (y->sh->cross[0] != CROSS_BYTES || y->sh->cross[1] != CROSS_BYTES)
		return false;
	if (!y->receive)
		return !len && !memcmp(y->sh->came, want, sizeof(want));
	return len == sizeof(want) && !memcmp(rest, want, len);
}

/* What the signal handler of a sender is to receive. */
static void send_crosswise(const struct trial *y, int fd)
{
	unsigned char b[2 * CROSS_BYTES];
	int i;

	cross_fill(b);
	for (i = 0; y->what == CROSS && !y->receive && i < 2; i++)
		MUST(send(fd, b + i * CROSS_BYTES, CROSS_BYTES, 0) == CROSS_BYTES);
}

/*
 * A connection, what its first end is to receive, and who is to be stepped. On a slow machine
 * a ring of fused TCP may be without pages, or a lease revoked, by the time it is to be mapped.
 */
static pid_t begin(struct trial *y, struct end e[2], const unsigned char *all, int messages)
{
	struct transport u = by_hand_0(y->t);
	pid_t pid = 0;
	int tries, i;

	u.path[1] = PATH_KERNEL;
	for (tries = 0; !pid; tries++) {
		MUST(tries < START_TRIES);
		if (tries)
			pair_close(e);
		tp_pair_sized(&u, e, RING / 2);
		for (i = 0; i < messages; i++)
			MUST(send(e[1].fd, all + i * y->len, y->len, 0) == (ssize_t)y->len);
		send_crosswise(y, e[1].fd);
		pid = start(y, e[0].fd);
	}
	return pid;
}

static bool disturbed_exactly(struct trial *y, int k)
{
	struct whole w = { .piece = seqpacket(y) ? y->len : 1 };
	int messages = !y->receive ? 0 : seqpacket(y) ? MESSAGES : 2;
	unsigned char other[RING] = { 0 };
	long intruded = 0;
	struct end e[2];
	pid_t pid;
	bool ok;

	memset(y->sh, 0, offsetof(struct shared, mapped));
	w.size = messages * y->len;
	whole_fill(w.all, w.size);
	pid = begin(y, e, w.all, messages);
	stepper_to(y->path, pid, k);
	if (y->what == STOP)
		halt(pid);
	if (!by_signal(y))
		intruded = intrude(y, e[0].fd, other);
	if (y->what == KILL)
		stepper_kill(pid);
	else if (y->what == STOP)
		MUST(go_on(pid) == 0);
	else
		MUST(stepper_let_go(pid, by_signal(y) ? SIGUSR1 : 0) == 0);
	if (by_signal(y)) {
		intruded = y->sh->ret2;
		memcpy(other, y->sh->buf2, y->ask);
	}
	ok = y->receive ? received_exactly(y, e[0].fd, intruded, other, &w) :
			  sent_exactly(y, e[1].fd, intruded);
	ok &= crossed_exactly(y, e);
	pair_close(e);
	return ok;
}

/*
 * A stepper for each kind of call, in memory that all cases have, since each is a fork of
 * one parent: how a call is disturbed makes no difference to its path.
 */
static struct stepper (*steppers)[2][2][2];

__attribute__((constructor)) static void remember(void)
{
	steppers = mmap(NULL, 2 * sizeof(*steppers), RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(steppers != MAP_FAILED);
}

static struct stepper *stepper_of(struct trial *y)
{
	struct stepper *s;
	unsigned char some[RING];
	struct end e[2];
	pid_t pid;

	s = &steppers[y->t->fused][seqpacket(y)][y->receive][y->len > FEW_BYTES];
	s->done = &y->sh->done;
	if (!s->count) {
		whole_fill(some, y->len);
		pid = begin(y, e, some, y->receive);
		stepper_learn(s, pid);
		stepper_kill(pid);
		pair_close(e);
	}
	return s;
}

static void every(const struct transport *t, enum what what, bool receive, size_t len, int stride)
{
	struct trial y = { .t = t, .what = what, .receive = receive, .len = len };
	int k, step, instants = 0;

	on_one_processor();
	y.sh = mmap(NULL, sizeof(*y.sh), RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(y.sh != MAP_FAILED);
	/* A message that is asked for in part is lost in part. */
	y.ask = receive && t->type == SOCK_SEQPACKET ? len : WHOLE_TAG;
	y.path = stepper_of(&y);
	/* The last few tell that it is over. */
	step = soak() ? 1 : brief() ? (y.path->count - 10) / 11 : stride;
	for (k = 0; k < y.path->count - 10; k += step ?: 1) {
		instants++;
		if (!disturbed_exactly(&y, k) && !y.wrong++)
			y.first_wrong = k;
	}
	trace_num(y.path->count, "instructions");
	WANT(y.wrong, 0, 0, "wrong, of %d instants, the first after %d instructions", instants,
	     y.first_wrong);
	WANT_TRUE(y.path->count < STEPS_MAX && instants >= 10, "the call was stepped through");
	WANT_TRUE(what == KILL || y.sh->mapped, "it was in the ring");
	WANT_TRUE(what != CROSS || y.sh->crossed, "so was the other way");
	munmap(y.sh, sizeof(*y.sh));
}

#define STEP_CASES(name, what)							\
	static void send_##name(const struct transport *t)			\
	{									\
		every(t, what, false, FEW_BYTES, 7);				\
		if (what == PLAIN || what == HANDLER || what == KILL)		\
			every(t, what, false, MANY_BYTES, 13);			\
	}									\
	static void recv_##name(const struct transport *t)			\
	{									\
		every(t, what, true, FEW_BYTES, 7);				\
		if (t->type == SOCK_SEQPACKET && (what == PLAIN || what == KILL))	\
			every(t, what, true, MANY_BYTES, 13);			\
	}

STEP_CASES(plain, PLAIN)
STEP_CASES(uring, URING)
STEP_CASES(stdio, STDIO)
STEP_CASES(handler, HANDLER)
STEP_CASES(jump, JUMP)
STEP_CASES(kill, KILL)
STEP_CASES(stop, STOP)
STEP_CASES(cross, CROSS)

#define STEPPED	(CASE_BOTH | CASE_SPEED | CASE_FUSED | CASE_LONG)

static const struct test_case cases[] = {
	{ "send_plain", send_plain, STEPPED },
	{ "recv_plain", recv_plain, STEPPED },
	{ "send_uring", send_uring, STEPPED },
	{ "recv_uring", recv_uring, STEPPED },
	{ "send_stdio", send_stdio, STEPPED },
	{ "recv_stdio", recv_stdio, STEPPED },
	{ "send_handler", send_handler, STEPPED },
	{ "recv_handler", recv_handler, STEPPED },
	{ "send_jump", send_jump, STEPPED },
	{ "recv_jump", recv_jump, STEPPED },
	{ "send_kill", send_kill, STEPPED },
	{ "recv_kill", recv_kill, STEPPED },
	{ "send_stop", send_stop, STEPPED },
	{ "recv_stop", recv_stop, STEPPED },
	{ "send_cross", send_cross, STEPPED },
	{ "recv_cross", recv_cross, STEPPED },
};

RUN_CASES(cases)
