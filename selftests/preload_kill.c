// SPDX-License-Identifier: GPL-2.0
/*
 * SIGKILL between any two instructions of a process that sends under the library: its
 * peer gets what send() took, and then the end. And of one that receives: another that
 * has the descriptor, too, gets the rest.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/under.h"
#include "stress.h"

#define RECEIVED	300	/* until who receives is killed */

struct record {
	int32_t number;
	int32_t rest;
};

static void kill_one(const struct transport *t, int *accepted, struct chance *chance)
{
	struct record r;
	int fd[2], next = 0, bad = 0;
	ssize_t n;
	pid_t pid;

	*accepted = 0;
	under_mapped_pair(t, fd);
	pid = fork();
	if (pid == 0) {
		close(fd[1]);
		for (r = (struct record){ .number = 0 };; r.number++) {
			if (send(fd[0], &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
				_exit(1);
			__atomic_store_n(accepted, r.number + 1, __ATOMIC_RELEASE);
		}
	}
	close(fd[0]);
	for (;; next++) {
		if (next == 300)
			usleep(chance_below(chance, 2000));
		if (next == 300)
			kill(pid, SIGKILL);
		n = recv(fd[1], &r, sizeof(r), MSG_WAITALL);
		if (n != sizeof(r))
			break;
		bad += r.number != next;
	}
	WANT(n, 0, 0, "the end");
	WANT(bad, 0, 0, "out of order");
	WANT(process_join(pid), -SIGKILL, 0, "killed");
	WANT_TRUE(next == *accepted || next == *accepted + 1, "what send() took came");
	close(fd[1]);
}

static void killing(const struct transport *t, const struct under_case *c)
{
	int *accepted = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct chance chance = chance_of(5);
	int i, n = soak_times(8, 50);

	MUST(accepted != MAP_FAILED);
	for (i = 0; i < n; i++)
		kill_one(t, accepted, &chance);
}

/**
 * struct progress - of one that sends and one that receives; shared with them
 * @sent: records that send() took
 * @taken: records that came
 * @regions: that the receiver mapped
 * @wrong: records that came to it out of order
 * @stop: no more are to be sent
 */
struct progress {
	int sent;
	int taken;
	int regions;
	int wrong;
	bool stop;
};

static int sends(int fd, struct progress *p)
{
	struct record r = { 0 };

	while (!__atomic_load_n(&p->stop, __ATOMIC_ACQUIRE)) {
		if (send(fd, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
			return 1;
		__atomic_store_n(&p->sent, ++r.number, __ATOMIC_RELEASE);
	}
	return 0;
}

static int receives(int fd, struct progress *p)
{
	struct record r;
	int next = 0;

	while (recv(fd, &r, sizeof(r), MSG_WAITALL) == sizeof(r)) {
		p->wrong += r.number != next++;
		if (next == RECEIVED / 2)
			p->regions = under_regions();
		__atomic_store_n(&p->taken, next, __ATOMIC_RELEASE);
	}
	return 1;
}

static pid_t start(int (*what)(int fd, struct progress *p), const int fd[2], int which,
		   struct progress *p)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	close(fd[!which]);
	_exit(what(fd[which], p));
}

/* The rest, of which the first record may be the one that was just being taken. */
static void rest_came(int fd, const struct progress *p)
{
	int next = p->taken, wrong = 0;
	bool first = true;
	struct record r;
	ssize_t n;

	for (; (n = recv(fd, &r, sizeof(r), MSG_WAITALL)) == sizeof(r); next++, first = false) {
		if (first && r.number == next + 1)
			next++;
		wrong += r.number != next;
	}
	WANT(n, 0, 0, "the end");
	WANT(p->wrong + wrong, 0, 0, "out of order");
	WANT_TRUE(next == p->sent || (first && next + 1 == p->sent), "all came that was sent");
}

static void kill_receiver(const struct transport *t, struct progress *p, struct chance *chance)
{
	pid_t sender, receiver;
	int fd[2];

	*p = (struct progress){ 0 };
	under_mapped_pair(t, fd);
	receiver = start(receives, fd, 1, p);
	sender = start(sends, fd, 0, p);
	close(fd[0]);
	while (__atomic_load_n(&p->taken, __ATOMIC_ACQUIRE) < RECEIVED)
		sleep_ms(1);
	usleep(chance_below(chance, 2000));
	kill(receiver, SIGKILL);
	WANT(process_join(receiver), -SIGKILL, 0, "killed");
	__atomic_store_n(&p->stop, true, __ATOMIC_RELEASE);
	rest_came(fd[1], p);
	WANT(process_join(sender), 0, 0, "the sender");
	close(fd[1]);
}

static void killing_receivers(const struct transport *t, const struct under_case *c)
{
	struct progress *p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct chance chance = chance_of(6);
	int i, n = soak_times(8, 50), mapped = 0;

	MUST(p != MAP_FAILED);
	for (i = 0; i < n; i++) {
		kill_receiver(t, p, &chance);
		mapped += p->regions > 0;
	}
	WANT_TRUE(!under_library() || mapped, "receivers were mapped");
}

static const struct under_case cases[] = {
	{ "kill", killing, UNDER_BOTH, UNDER_WARM, 100 },
	{ "kill_receiver", killing_receivers, UNDER_BOTH, UNDER_WARM, UNDER_WARM },
};

UNDER_CASES(cases)
