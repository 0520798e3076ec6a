// SPDX-License-Identifier: GPL-2.0
/*
 * A trial in a process of its own, so that who fails does so alone; and one under
 * the library in a program of its own: speedbench starts itself anew with
 * libspeed-preload.so preloaded, as speedrun does with any program. Both
 * processes of the trial are then unmodified programs under the library.
 *
 * The request and what comes of it pass through memory that both map. Which
 * function is the trial is told to another program by its distance from a known
 * one: it is the same program.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "transport.h"

#define REQUEST		"SPEEDBENCH_TRIAL"	/* the environment: a descriptor */
#define LIBRARY		"libspeed-preload.so"
#define ELSEWHERE	"SPEED_PRELOAD"		/* the library, if it is not beside the program */

struct apart {
	struct options opt;
	struct series series;
	char experiment[16];
	intptr_t trial;
	intptr_t whole;		/* in place of a trial; 0: none */
	unsigned int transport;
	uint64_t n;
	uint64_t result;
	struct words words;
	unsigned char blob[BLOB_BYTES];
};

static bool under_library;

bool apart_needed(const struct transport *t)
{
	return t->preload && !under_library;
}

static intptr_t place(void (*f)(void))
{
	return (intptr_t)f - (intptr_t)apart_serve;
}

static void (*function(intptr_t at))(void)
{
	return (void (*)(void))((intptr_t)apart_serve + at);
}

const char *apart_library(void)
{
	static char path[4096];
	const char *told = getenv(ELSEWHERE);
	ssize_t n;

	if (told)
		return access(told, R_OK) ? NULL : told;
	/* build/bench/full/speedbench and build/bench/full/userspace/libspeed-preload.so */
	n = readlink("/proc/self/exe", path, sizeof(path) - 64);
	if (n < 0)
		return NULL;
	path[n] = '\0';
	strcpy(strrchr(path, '/'), "/userspace/" LIBRARY);
	return access(path, R_OK) ? NULL : path;
}

static void become_trial(int fd, const struct transport *t)
{
	char number[16];

	cpu_unpin();
	snprintf(number, sizeof(number), "%d", fd);
	setenv(REQUEST, number, 1);
	setenv("SPEED_ACCEL", opt.accel, 1);
	setenv("LD_PRELOAD", apart_library(), 1);
	if (t->spin)
		setenv("SPEED_SPIN", t->spin, 1);
	execl("/proc/self/exe", "speedbench", NULL);
	die("cannot start another speedbench: %m");
}

static struct apart *request(int fd)
{
	struct apart *a = mmap(NULL, sizeof(*a), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (a == MAP_FAILED)
		die("a trial's request: %m");
	return a;
}

static unsigned int transport_number(const struct transport *t)
{
	unsigned int i = 0;

	while (transports[i] != t)
		i++;
	return i;
}

__attribute__((noreturn)) static void run_trial(struct apart *a)
{
	a->series.blob = a->series.blob ? a->blob : NULL;
	if (a->whole)
		((void (*)(struct series *))function(a->whole))(&a->series);
	else
		a->result = a->series.trial(&a->series, a->n);
	loopback_restore();
	fflush(stdout);
	_exit(0);
}

static void take_results(struct series *s, const struct apart *a)
{
	memcpy(s->extra, a->series.extra, sizeof(s->extra));
	if (s->blob)
		memcpy(s->blob, a->blob, BLOB_BYTES);
}

static int start_trial(struct apart *a, int fd, const struct transport *t)
{
	char was = loopback_remember();
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork: %m");
	if (!pid && t->preload)
		become_trial(fd, t);
	if (!pid) {
		guard_enter();
		run_trial(a);
	}
	if (waitpid(pid, &status, 0) != pid)
		status = -1;
	if (status)
		loopback_repair(was);
	return status;
}

/* n operations, or all that whole does. */
static uint64_t run_apart(struct series *s, uint64_t n, void (*whole)(struct series *s))
{
	int status, fd = memfd_create("speedbench", 0);
	struct words *before;
	struct apart *a;
	uint64_t result;

	if (fd < 0 || ftruncate(fd, sizeof(*a)))
		die("a trial's request: %m");
	a = request(fd);
	a->opt = opt;
	a->series = *s;
	a->n = n;
	if (s->transport->preload) {
		snprintf(a->experiment, sizeof(a->experiment), "%s", opt.experiment);
		a->trial = place((void (*)(void))s->trial);
		a->whole = whole ? place((void (*)(void))whole) : 0;
		a->transport = transport_number(s->transport);
	}
	before = guard_use(&a->words);
	status = start_trial(a, fd, s->transport);
	guard_use(before);
	if (status)
		guard_failed(s, status, &a->words);
	else
		take_results(s, a);
	result = a->result;
	munmap(a, sizeof(*a));
	close(fd);
	return result;
}

uint64_t apart_run(struct series *s, uint64_t n)
{
	return run_apart(s, n, NULL);
}

void apart_whole(struct series *s, void (*run)(struct series *s))
{
	run_apart(s, 0, run);
}

/* Pointers of the one who asks mean nothing here. */
static void take_over(struct apart *a)
{
	opt = a->opt;
	opt.accel = getenv("SPEED_ACCEL");
	opt.spin = getenv("SPEED_SPIN");
	opt.experiment = a->experiment;
	opt.transports = NULL;
	under_library = true;
	a->series.transport = transports[a->transport];
	a->series.trial = (uint64_t (*)(struct series *, uint64_t))function(a->trial);
	a->series.private = NULL;
	a->series.kept = NULL;
	guard_use(&a->words);
	guard_enter();
}

/* Before a static program, or where there is no such library, LD_PRELOAD does nothing. */
static void must_have_library(void)
{
	if (!regions_of("/" LIBRARY))
		die(LIBRARY " was not loaded");
}

void apart_serve(void)
{
	const char *told = getenv(REQUEST);
	struct apart *a;

	if (!told)
		return;
	a = request(atoi(told));
	unsetenv(REQUEST);
	take_over(a);
	must_have_library();
	run_trial(a);
}
