// SPDX-License-Identifier: GPL-2.0
/*
 * Storms on connections with traffic: processes forked and programs started by
 * the dozen while threads send, and descriptors that travel between processes.
 * Nothing stays behind.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "held.h"
#include "stress.h"

#define CHILDREN	40
#define SENDERS		3
#define WHO		64	/* senders of all kinds at most */
#define HOPS		200

/* What is sent: who, which, and a check of the two. */
struct note {
	uint32_t who, which;
	uint64_t check;
};

static struct note note_of(uint32_t who, uint32_t which)
{
	return (struct note){ who, which, who * 0x9e3779b97f4a7c15ull ^ which };
}

struct storm {
	struct end e[2];
	atomic_bool stop;
	atomic_int next;
	uint32_t last[WHO + CHILDREN * 20];
	uint32_t sent[SENDERS];
	long notes, wrong;
	uint64_t bytes;		/* the sum of all that came */
};

/* Whatever their order, a byte lost, doubled or changed shows in it. */
static uint64_t bytes_of(const struct note *n)
{
	const unsigned char *p = (const void *)n;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < sizeof(*n); i++)
		sum += p[i] * 0x9e3779b97f4a7c15ull + (p[i] ^ 0x55) * (uint64_t)p[i];
	return sum;
}

static uint64_t bytes_of_sender(uint32_t who, long notes)
{
	uint64_t sum = 0;
	struct note n;
	long i;

	for (i = 0; i < notes; i++) {
		n = note_of(who, i);
		sum += bytes_of(&n);
	}
	return sum;
}

static bool send_note(struct end *e, uint32_t who, uint32_t which)
{
	struct note n = note_of(who, which);

	return end_send(e, &n, sizeof(n), MSG_NOSIGNAL) == sizeof(n);
}

/*
 * Each sender's notes come whole and in his order. TCP with a full buffer sleeps in
 * the middle of a small write, too, and lets another sender's bytes in between: a
 * direction that moved to TCP because its ring was full may do the same.
 */
static long read_notes(void *arg)
{
	struct storm *s = arg;
	struct note n;

	while (end_recv(&s->e[1], &n, sizeof(n), MSG_WAITALL) == sizeof(n)) {
		struct note want = note_of(n.who, n.which);

		s->notes++;
		s->bytes += bytes_of(&n);
		if (memcmp(&n, &want, sizeof(n)) || n.who >= WHO + CHILDREN * 20 ||
		    n.which != s->last[n.who]++)
			s->wrong++;
	}
	return s->wrong;
}

static long send_notes(void *arg)
{
	struct storm *s = arg;
	uint32_t who = s->next++, i;

	for (i = 0; !s->stop; i++) {
		if (!send_note(&s->e[0], who, i))
			return -1;
	}
	s->sent[who] = i;
	return i;
}

static pid_t child_of_storm(struct storm *s, uint32_t who, bool exec)
{
	char *const argv[] = { "true", NULL };
	pid_t pid = fork();

	MUST(pid >= 0);
	if (pid)
		return pid;
	if (!send_note(&s->e[0], who, 0) || !send_note(&s->e[0], who, 1))
		_exit(1);
	if (!exec)
		_exit(0);
	execve("/bin/true", argv, NULL);
	_exit(2);
}

static void forks(const struct transport *t, bool exec)
{
	int children = soak_times(CHILDREN, 20), i, at = 0;
	long full = stat_number("tcp_not_full");
	struct storm *s = calloc(1, sizeof(*s));
	struct task reader, sender[SENDERS];
	long sent = 0, bad = 0, left;
	uint64_t bytes = 0;
	pid_t pid[8] = { 0 };
	struct held held;

	MUST(s);
	held_begin(&held);
	tp_pair_sized(t, s->e, 8192);
	task_start(&reader, read_notes, s);
	for (i = 0; i < SENDERS; i++)
		task_start(&sender[i], send_notes, s);
	for (i = 0; i < children; i++, at = (at + 1) % 8) {
		if (pid[at])
			bad += process_join(pid[at]) != 0;
		pid[at] = child_of_storm(s, WHO + i, exec);
		sent += 2;
		bytes += bytes_of_sender(WHO + i, 2);
	}
	for (i = 0; i < 8; i++)
		bad += pid[i] && process_join(pid[i]) != 0;
	s->stop = true;
	for (i = 0; i < SENDERS; i++) {
		left = task_join(&sender[i]);
		bad += left < 0;
		sent += left;
	}
	for (i = 0; i < SENDERS; i++)
		bytes += bytes_of_sender(i, s->sent[i]);
	WANT_OK(shutdown(s->e[0].fd, SHUT_WR), "shutdown");
	left = task_join(&reader);
	if (!t->fused || stat_number("tcp_not_full") == full)
		WANT(left, 0, 0, "wrong notes");
	WANT(bad, 0, 0, "senders that failed");
	WANT(s->notes, sent, 0, "notes");
	WANT(s->bytes == bytes, 1, 0, "the bytes that were sent");
	pair_close(s->e);
	held_end(&held);
	free(s);
}

static void fork_storm(const struct transport *t)
{
	forks(t, false);
}

static void exec_storm(const struct transport *t)
{
	forks(t, true);
}

/* ---- descriptors that travel ---- */

union control {
	char buf[CMSG_SPACE(sizeof(int))];
	struct cmsghdr head;
};

static bool pass(int over, int fd, uint32_t turn)
{
	union control c = { 0 };
	struct iovec iov = { &turn, sizeof(turn) };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = c.buf,
		.msg_controllen = sizeof(c.buf),
	};

	c.head.cmsg_level = SOL_SOCKET;
	c.head.cmsg_type = SCM_RIGHTS;
	c.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&c.head), &fd, sizeof(int));
	return sendmsg(over, &m, MSG_NOSIGNAL) == sizeof(turn);
}

static int take(int over, uint32_t *turn)
{
	union control c = { 0 };
	struct iovec iov = { turn, sizeof(*turn) };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = c.buf,
		.msg_controllen = sizeof(c.buf),
	};
	int fd = -1;

	if (recvmsg(over, &m, 0) == sizeof(*turn) && m.msg_controllen)
		memcpy(&fd, CMSG_DATA(&c.head), sizeof(int));
	return fd;
}

struct hop {
	const struct transport *t;
	int in, out;
};

/* Takes the descriptor, sends the turn's note on it, and hands it on. */
static int hop(void *arg)
{
	struct hop *h = arg;
	uint32_t turn;

	while (1) {
		int fd = take(h->in, &turn);
		struct end e;

		if (fd < 0)
			return 1;
		end_init(h->t, &e, fd, 0);
		if (turn < HOPS && !send_note(&e, 0, turn))
			return 2;
		if (!pass(h->out, fd, turn + 1))
			return turn < HOPS ? 3 : 0;
		end_close(&e);
		if (turn >= HOPS)
			return 0;
	}
}

static void travels(const struct transport *t)
{
	struct storm *s = calloc(1, sizeof(*s));
	struct hop h[3];
	int over[3][2], i;
	struct task reader;
	struct held held;
	pid_t pid[3];

	MUST(s);
	held_begin(&held);
	{
		struct transport u = by_hand_0(t);

		tp_pair_sized(&u, s->e, 8192);
	}
	for (i = 0; i < 3; i++)
		MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, over[i]) == 0);
	for (i = 0; i < 3; i++) {
		h[i] = (struct hop){ t, over[i][1], over[(i + 1) % 3][0] };
		pid[i] = fork();
		MUST(pid[i] >= 0);
		if (pid[i] == 0) {
			/* The end comes when those who hold it have closed it. */
			close(s->e[0].fd);
			close(s->e[1].fd);
			_exit(hop(&h[i]));
		}
	}
	MUST(pass(over[0][0], s->e[0].fd, 0));
	end_close(&s->e[0]);
	task_start(&reader, read_notes, s);
	for (i = 0; i < 3; i++) {
		close(over[i][0]);
		close(over[i][1]);
	}
	for (i = 0; i < 3; i++)
		trace_num(process_join(pid[i]), "a process that it came to");
	WANT(task_join(&reader), 0, 0, "wrong notes");
	WANT(s->notes, HOPS, 0, "notes");
	end_close(&s->e[1]);
	held_end(&held);
	free(s);
}

static const struct test_case cases[] = {
	{ "fork_storm", fork_storm,
	  CASE_BOTH | CASE_SPEED | CASE_FUSED | CASE_PATHS | CASE_LONG | CASE_UNMAPPED },
	{ "exec_storm", exec_storm,
	  CASE_BOTH | CASE_SPEED | CASE_FUSED | CASE_PATHS | CASE_LONG | CASE_UNMAPPED },
	{ "travels", travels, CASE_BOTH | CASE_SPEED | CASE_FUSED | CASE_PATHS | CASE_UNMAPPED },
};

RUN_CASES(cases)
