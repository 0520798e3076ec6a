// SPDX-License-Identifier: GPL-2.0
/*
 * A transport that fails ends its own figures, not those of the others: what an
 * experiment does with one transport, or a trial of it, runs in a process of its own,
 * and what die() said there becomes a record. Where instructions are counted all is
 * one process, for fork() leaves pages to be copied; there a failure ends the program.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "transport.h"

static struct words *words;
static bool inside;
static unsigned int failures;

struct words *guard_use(struct words *shared)
{
	struct words *before = words;

	words = shared;
	return before;
}

/* Of several processes that die of one cause the first one tells it. */
void guard_note(const char *text)
{
	if (words && !__atomic_exchange_n(&words->taken, true, __ATOMIC_ACQ_REL))
		snprintf(words->why, sizeof(words->why), "%s", text);
}

bool guard_inside(void)
{
	return inside || opt.icount;
}

void guard_enter(void)
{
	inside = true;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
}

/* A signal that no other process's end can be the cause of: what they said came of it. */
static bool first_cause(int status)
{
	if (!WIFSIGNALED(status))
		return false;
	switch (WTERMSIG(status)) {
	case SIGALRM:
	case SIGPIPE:
	case SIGTERM:
		return false;
	}
	return true;
}

static const char *why(int status, const struct words *said)
{
	static char text[128];

	if (said->taken && !first_cause(status))
		return said->why;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return "it took longer than a trial may";
	snprintf(text, sizeof(text), "it ended with status 0x%x", status);
	return text;
}

void guard_failed(struct series *s, int status, const struct words *said)
{
	const char *text = why(status, said);

	if (guard_inside())
		die("%s", text);
	s->failed = true;
	failures++;
	emit_failed(s, text);
}

unsigned int guard_failures(void)
{
	return failures;
}

void guard_program(struct series *s, void (*run)(struct series *s))
{
	if (apart_needed(s->transport) && !s->failed)
		apart_whole(s, run);
	else
		guard(s, run);
}

void guard(struct series *s, void (*run)(struct series *s))
{
	struct words *said;
	int status;
	pid_t pid;
	char was;

	if (s->failed)
		return;
	if (guard_inside()) {
		run(s);
		return;
	}
	was = loopback_remember();
	said = shared_memory(sizeof(*said));
	guard_use(said);
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork: %m");
	if (!pid) {
		guard_enter();
		run(s);
		loopback_restore();
		fflush(stdout);
		_exit(0);
	}
	guard_use(NULL);
	if (waitpid(pid, &status, 0) != pid || status) {
		loopback_repair(was);
		guard_failed(s, status, said);
	}
	munmap(said, sizeof(*said));
}
