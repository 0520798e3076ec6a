// SPDX-License-Identifier: GPL-2.0
/*
 * SIGKILL between any two instructions of a process that sends under the library: its
 * peer gets what send() took, and then the end.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/under.h"
#include "stress.h"

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

static const struct under_case cases[] = {
	{ "kill", killing, UNDER_BOTH, UNDER_WARM, 100 },
};

UNDER_CASES(cases)
