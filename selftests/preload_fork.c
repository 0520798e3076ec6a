// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that share a connection under the library: by fork, vfork, posix_spawn, exec
 * and SCM_RIGHTS, with numbers that are doubled and closed at the same time. Whoever
 * sends numbers its records: none is lost, doubled or out of order. Whoever receives
 * writes down what it got: each record came once.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/part.h"
#include "tcp_pair.h"

#define RECORDS		300	/* of each process */
#define PROCESSES	4	/* one after the other, beside the first */
#define OTHERS_MIN	20	/* records that the other process must get */
#define FIRST_MIN	50	/* that the first sends before another process comes */

/* What the far end received: the next number of each sender. */
struct far {
	int fd;
	int next[PROCESSES + 1];
	int wrong;
};

static void *far_receives(void *arg)
{
	struct far *f = arg;
	struct record r;

	while (recv(f->fd, &r, sizeof(r), MSG_WAITALL) == sizeof(r))
		if (r.who < 0 || r.who > PROCESSES || f->next[r.who]++ != r.number)
			f->wrong++;
	return NULL;
}

/* The first process's thread, which goes on until it is told. */
struct first {
	int fd;
	bool stop;
	int sent;
};

static void *first_sends(void *arg)
{
	struct first *s = arg;
	struct record r = { 0 };

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		if (send(s->fd, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
			break;
		__atomic_store_n(&s->sent, ++r.number, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* It is at it: others come into the middle. */
static void first_goes_on(struct first *s)
{
	int now = __atomic_load_n(&s->sent, __ATOMIC_RELAXED);

	while (__atomic_load_n(&s->sent, __ATOMIC_RELAXED) < now + FIRST_MIN)
		usleep(500);
}

static int count_of(const struct under_case *c)
{
	return soak_times(RECORDS, 10);
}

/* A thread of the first process sends while others come, send and go. */
static void sending(const struct transport *t, const struct under_case *c)
{
	const struct part_way *w = part_way(c->name);
	int n = count_of(c), fd[2], i;
	struct far f = { 0 };
	pthread_t far, first;
	struct first s = { 0 };

	under_mapped_pair(t, fd);
	f.fd = fd[1];
	s.fd = fd[0];
	MUST(pthread_create(&far, NULL, far_receives, &f) == 0);
	MUST(pthread_create(&first, NULL, first_sends, &s) == 0);
	for (i = 1; i < PROCESSES; i++) {
		first_goes_on(&s);
		WANT(process_join(w->start(fd[0], i, n)), 0, 0, "process %d", i);
	}
	__atomic_store_n(&s.stop, true, __ATOMIC_RELAXED);
	pthread_join(first, NULL);
	MUST(shutdown(fd[0], SHUT_WR) == 0);
	pthread_join(far, NULL);
	WANT(f.wrong, 0, 0, "lost, doubled or out of order");
	WANT(f.next[0] - s.sent, 0, 0, "of the first are missing");
	for (i = 1; i < PROCESSES; i++)
		WANT(f.next[i], n, 0, "of process %d", i);
	tcp_close(fd);
}

static void *far_sends(void *arg)
{
	struct first *s = arg;
	struct record r = { 0 };

	while (r.number < RECEIVED_MAX && (r.number < RECORDS ||
	       __atomic_load_n(&seen->others, __ATOMIC_RELAXED) < OTHERS_MIN)) {
		if (send(s->fd, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
			break;
		r.number++;
	}
	s->sent = r.number;
	shutdown(s->fd, SHUT_WR);
	return NULL;
}

static void *first_receives(void *arg)
{
	return (void *)(intptr_t)part_receive(*(int *)arg, false);
}

/* A thread of the first process receives beside another process. */
static void receiving(const struct transport *t, const struct under_case *c)
{
	const struct part_way *w = part_way(c->name);
	int fd[2], i, wrong = 0;
	pthread_t far, first;
	struct first s = { 0 };
	void *ret;

	part_open_seen(true);
	under_mapped_pair(t, fd);
	MUST(pthread_create(&first, NULL, first_receives, &fd[0]) == 0);
	s.fd = fd[1];
	MUST(pthread_create(&far, NULL, far_sends, &s) == 0);
	WANT(process_join(w->start(fd[0], -1, 0)), 0, 0, "the other process");
	pthread_join(first, &ret);
	WANT((intptr_t)ret, 0, 0, "the first");
	pthread_join(far, NULL);
	WANT_TRUE(seen->others >= OTHERS_MIN, "the other process got some");
	for (i = 0; i < s.sent; i++)
		wrong += seen->times[i] != 1;
	WANT(wrong, 0, 0, "records that did not come once");
	tcp_close(fd);
}

/* Children that close everything and end, while the parent uses what they closed. */
static void close_all(int how)
{
	int i;

	if (how == 0)
		for (i = 3; i < 1024; i++)
			close(i);
	else if (how == 1)
		close_range(3, ~0u, 0);
	else
		closefrom(3);
	_exit(0);
}

static void closing(const struct transport *t, const struct under_case *c)
{
	int fd[2], i, n = soak_times(12, 20);
	struct far f = { 0 };
	pthread_t far, first;
	struct first s = { 0 };

	under_mapped_pair(t, fd);
	f.fd = fd[1];
	s.fd = fd[0];
	MUST(pthread_create(&far, NULL, far_receives, &f) == 0);
	MUST(pthread_create(&first, NULL, first_sends, &s) == 0);
	for (i = 0; i < n; i++) {
		pid_t pid;

		first_goes_on(&s);
		pid = i & 1 ? vfork() : fork();
		if (pid == 0)
			close_all(i / 2 % 3);
		WANT(process_join(pid), 0, 0, "child %d", i);
	}
	__atomic_store_n(&s.stop, true, __ATOMIC_RELAXED);
	pthread_join(first, NULL);
	MUST(shutdown(fd[0], SHUT_WR) == 0);
	pthread_join(far, NULL);
	WANT(f.wrong, 0, 0, "lost, doubled or out of order");
	WANT(f.next[0] - s.sent, 0, 0, "are missing");
	WANT_TRUE(s.sent, "some were sent");
	tcp_close(fd);
}

/* The connection gets numbers and loses them, with a sender that always uses the newest. */
static void doubling(const struct transport *t, const struct under_case *c)
{
	int n = count_of(c) * 2, fd[2], now, i;
	struct far f = { 0 };
	pthread_t far;

	under_mapped_pair(t, fd);
	f.fd = fd[1];
	MUST(pthread_create(&far, NULL, far_receives, &f) == 0);
	for (now = fd[0], i = 0; i < n; i++) {
		struct record r = { 0, i };
		int next = i % 3 == 0 ? dup(now) : i % 3 == 1 ? dup2(now, 400 + i % 7) :
			   fcntl(now, F_DUPFD_CLOEXEC, 100);

		MUST(next >= 0);
		if (next != now)
			close(now);
		now = next;
		WANT_TRUE(send(now, &r, sizeof(r), 0) == sizeof(r), "sent");
	}
	MUST(shutdown(now, SHUT_WR) == 0);
	pthread_join(far, NULL);
	WANT(f.wrong, 0, 0, "lost, doubled or out of order");
	WANT(f.next[0], n, 0, "came");
	close(now);
	close(fd[1]);
}

static const struct under_case cases[] = {
	{ "send_fork", sending, UNDER_BOTH, 6, 6 },
	{ "send_vfork", sending, UNDER_BOTH, 6, 6 },
	{ "send_spawn", sending, UNDER_BOTH, 6, 6 },
	{ "send_exec", sending, UNDER_BOTH, 6, 6 },
	{ "send_message", sending, UNDER_BOTH, 6, 6 },
	{ "receive_fork", receiving, UNDER_BOTH, 6, 6 },
	{ "receive_vfork", receiving, UNDER_BOTH, 6, 6 },
	{ "receive_spawn", receiving, UNDER_BOTH, 6, 6 },
	{ "receive_exec", receiving, UNDER_BOTH, 6, 6 },
	{ "receive_message", receiving, UNDER_BOTH, 6, 6 },
	{ "closing", closing, UNDER_BOTH, 6, 6 },
	{ "doubling", doubling, UNDER_BOTH, 100, 100 },
};

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--part")) {
		if (atoi(argv[3]) < 0)
			part_open_seen(false);
		return part_take(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
	}
	return under_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
