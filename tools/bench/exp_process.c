// SPDX-License-Identifier: GPL-2.0
/*
 * process: what a process pays for running under libspeed-preload, beside what a
 * message costs.
 *
 *	start		from fork() to the end of a program that does nothing
 *	memory		private memory of a process for each of --connections (10,000)
 *			idle connections that have carried a byte; both ends are its own
 *	alternating	a message of 64 bytes on a connection that two processes use in turn,
 *			of ALTERNATING, from the fork() of the second process on
 *	settling	what that fork() and the first SETTLING of the messages cost more
 *			than as many of the later ones, all together
 *
 * --detail chooses the first two, which are no series of trials.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "transport.h"

#define NOTHING		"/bin/true"
#define STARTS		100
#define ALTERNATING	10000	/* as many for all: what comes once weighs the same */
#define SETTLING	1000

/* ---- start ---- */

static void become_nothing(const struct transport *t)
{
	char path[4096];

	if (t->preload) {
		snprintf(path, sizeof(path), "%s", apart_library());
		strcpy(strrchr(path, '/'), "/speedrun");
		execl(path, "speedrun", NOTHING, NULL);
	}
	execl(NOTHING, NOTHING, NULL);
	_exit(127);
}

static double start_run(const struct transport *t)
{
	uint64_t since = now_ns();
	int i, status;
	pid_t pid;

	for (i = 0; i < STARTS; i++) {
		pid = fork();
		if (!pid)
			become_nothing(t);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			die("process: %s: " NOTHING " did not run", t->name);
	}
	return (double)(now_ns() - since) / STARTS;
}

/* ---- memory ---- */

static double private_bytes(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "re");
	double sum = 0, kilobytes;
	char line[256];

	if (!f)
		die("process: /proc/self/smaps_rollup: %m");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Private_Clean: %lf", &kilobytes) == 1 ||
		    sscanf(line, "Private_Dirty: %lf", &kilobytes) == 1)
			sum += 1024 * kilobytes;
	fclose(f);
	return sum;
}

static void carry(int from, int to, char *byte)
{
	if (write(from, byte, 1) != 1 || read(to, byte, 1) != 1)
		die("process: a byte: %m");
}

/* In the process of its own that the transport has: what it grew by. */
static uint64_t memory_trial(struct series *s, uint64_t n)
{
	struct door d;
	double before;
	char byte = 1;
	uint64_t i;
	int a, b;

	raise_file_limit((unsigned int)(2 * n + 64));
	door_open(&d, s->transport, 128);
	before = private_bytes();
	for (i = 0; i < n; i++) {
		a = door_connect(&d);
		b = door_accept(&d);
		carry(a, b, &byte);
		carry(b, a, &byte);
	}
	/* A byte more for each: of nothing there is no ratio. */
	return (uint64_t)(private_bytes() - before) + n;
}

/* ---- alternating ---- */

/* Who has the byte of a pipe sends, and hands it on: the same price for all. */
static void take_turns(struct end *e, size_t size, uint64_t n, const int mine[2],
		       const int other[2])
{
	char byte;

	for (; n; n--) {
		if (read(mine[0], &byte, 1) != 1)
			die("process: a turn: %m");
		e->transport->put(e, e->buffer, size);
		if (write(other[1], &byte, 1) != 1)
			die("process: a turn: %m");
	}
}

/* One of the two: it has a half of the messages. Return: when the first ones were sent. */
static uint64_t sender(struct end *e, size_t size, uint64_t n, const int mine[2],
		       const int other[2])
{
	uint64_t settled;

	take_turns(e, size, SETTLING / 2, mine, other);
	settled = now_ns();
	take_turns(e, size, (n - SETTLING) / 2, mine, other);
	return settled;
}

static double settling;	/* of the last trial */

static uint64_t two_senders(struct end *e, size_t size, uint64_t n)
{
	uint64_t since, settled, end;
	int turn[2][2], status;
	pid_t pid;

	if (pipe(turn[0]) || pipe(turn[1]) || write(turn[0][1], "", 1) != 1)
		die("process: pipe: %m");

	/* Busy first with one process alone: it is mapped then. */
	for (since = 0; since < 100; since++)
		e->transport->put(e, e->buffer, size);
	since = now_ns();
	pid = fork();
	if (!pid) {
		sender(e, size, n, turn[1], turn[0]);
		_exit(0);
	}
	settled = sender(e, size, n, turn[0], turn[1]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die("process: the other sender failed");
	end = now_ns();
	settling = (double)(settled - since) -
		   (double)(end - settled) * SETTLING / (double)(n - SETTLING);
	return end - since;
}

static uint64_t reader(struct end *e, size_t size, uint64_t n)
{
	for (n += 100; n; n--)
		e->transport->get(e, e->buffer, size);
	return 0;
}

static uint64_t alternating_trial(struct series *s, uint64_t n)
{
	uint64_t ns = sides_run(s->transport, s->size, n, two_senders, reader);

	s->extra[0] = settling;
	return ns;
}

/* ---- all ---- */

static void alternating(struct series *all, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		all[i].size = 64;
		all[i].n = ALTERNATING;
		all[i].trial = alternating_trial;
	}
	measure_given(all, count);
	for (i = 0; i < count; i++) {
		emit("process", &all[i], "alternating", unit_of_time());
		emit_extra("process", &all[i], 0, "settling", unit_of_time());
	}
}

static void once(struct series *s)
{
	struct series start = *s;
	unsigned int run;

	s->trial = memory_trial;
	s->n = s->connections;
	for (run = 0; run < opt.runs; run++) {
		progress("process %s: run %u of %u", s->transport->name, run + 1, opt.runs);
		start.value[run] = start_run(s->transport);
		if (s->n)
			s->value[run] = (double)trial_run(s, s->n) / (double)s->n;
	}
	emit("process", &start, "start", unit_of_time());
	if (s->n)
		emit("process", s, "own_memory", "bytes");
}

void exp_process(void)
{
	struct series all[SERIES_MAX];
	unsigned int count = series_make(all, ABLE_DOOR);
	unsigned int i;

	if (!opt.detail) {
		alternating(all, count);
		return;
	}
	for (i = 0; i < count; i++)
		guard(&all[i], once);
	progress_done();
}
