// SPDX-License-Identifier: GPL-2.0
/* Running bodies without and with the preloaded library: see under.h. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tcp_pair.h"
#include "under.h"

#define SECONDS		120
#define TEXT_MAX	4096
#define SHARED		"SPEED_TEST_SHARED"	/* the number of the transcript's memory */

static const struct transport kinds[] = {
	{ .name = "fused", .family = AF_INET, .type = SOCK_STREAM, .fused = true },
	{ .name = "speed", .type = SOCK_STREAM, .speed = true },
};

/**
 * struct run - one run of a body
 * @t: its transcript, shared with it
 * @told: what it wrote to standard error
 * @why: what was wrong, or empty
 */
struct run {
	struct trace *t;
	char told[TEXT_MAX];
	char why[TRACE_WHY_MAX + 64];
};

static struct trace *map_trace(int fd)
{
	void *at = mmap(NULL, sizeof(struct trace), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return at;
}

const char *under_path(void)
{
	static char path[4096];
	const char *other = getenv("SPEED_TEST_LIBRARY");
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);
	char *name;

	if (other)
		return other;
	path[n > 0 ? n : 0] = '\0';
	name = strrchr(path, '/');
	strcpy(name, "/libspeed/libspeed-preload.so");
	/* The kernel's lib.mk installs into one folder. */
	if (access(path, R_OK))
		strcpy(name, "/libspeed-preload.so");
	return path;
}

static void count_sigpipe(int sig)
{
	(void)sig;
	trace_sigpipe(1);
}

/* In the process that was started for it. */
static int run_body(const struct under_case *cases, size_t n, char **argv, int shared)
{
	struct sigaction pipes = { .sa_handler = count_sigpipe };
	size_t i;

	trace = map_trace(shared);
	close(shared);
	unsetenv(SHARED);
	sigaction(SIGPIPE, &pipes, NULL);
	for (i = 0; i < n; i++)
		if (!strcmp(cases[i].name, argv[1]))
			cases[i].body(&kinds[atoi(argv[2])], &cases[i]);
	trace->done = true;
	exit(0);
}

/* SPEED_TEST_BEFORE: what a library that is built otherwise needs before it. */
static void preload(void)
{
	const char *before = getenv("SPEED_TEST_BEFORE");
	char list[8192];

	snprintf(list, sizeof(list), "%s%s%s", before ?: "", before ? ":" : "", under_path());
	setenv("LD_PRELOAD", list, 1);
}

static void start(char **argv, const struct under_case *c, int kind, int shared, int told,
		  bool with)
{
	char number[16], which[16];

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(told, 2);
	fcntl(shared, F_SETFD, 0);
	snprintf(number, sizeof(number), "%d", shared);
	snprintf(which, sizeof(which), "%d", kind);
	setenv(SHARED, number, 1);
	if (with) {
		setenv("SPEED_AFTER", "1", 1);
		setenv("SPEED_STATS", "1", 1);
		if (c->env)
			putenv(strdup(c->env));
		preload();
	} else {
		unsetenv("LD_PRELOAD");	/* the kernel's runner has stdbuf's there */
		if (c->flags & UNDER_LONG)
			unsetenv("SPEED_SOAK");	/* the long form is for the library */
	}
	execl("/proc/self/exe", argv[0], c->name, which, NULL);
	_exit(127);
}

/* Its status, after at most its time; what is left of its group is killed. */
static int await(pid_t pid, int seconds, bool *late)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	int status = 0;

	*late = poll(&p, 1, seconds * 1000) == 0;
	close(pidfd);
	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void run(struct run *r, char **argv, const struct under_case *c, int kind, bool with)
{
	int shared = memfd_create("transcript", MFD_CLOEXEC);
	int told = memfd_create("told", MFD_CLOEXEC);
	int seconds = c->flags & UNDER_LONG ? 10 * SECONDS : SECONDS;
	int status;
	bool late;
	pid_t pid;
	ssize_t n;

	if (shared < 0 || told < 0 || ftruncate(shared, sizeof(struct trace))) {
		perror("memfd");
		exit(1);
	}
	seconds *= soak() ? 10 : 1;
	r->t = map_trace(shared);
	pid = fork();
	if (pid == 0)
		start(argv, c, kind, shared, told, with);
	setpgid(pid, pid);
	status = await(pid, seconds, &late);
	n = pread(told, r->told, sizeof(r->told) - 1, 0);
	r->told[n > 0 ? n : 0] = '\0';
	close(shared);
	close(told);
	r->why[0] = '\0';
	if (r->t->failed)
		snprintf(r->why, sizeof(r->why), "%s", r->t->why);
	else if (late)
		snprintf(r->why, sizeof(r->why), "not done after %d s", seconds);
	else if (WIFSIGNALED(status))
		snprintf(r->why, sizeof(r->why), "ended by signal %d", WTERMSIG(status));
	else if (!r->t->done || status)
		snprintf(r->why, sizeof(r->why), "ended with status %#x", status);
}

long under_number(const char *text, const char *before, const char *after)
{
	const char *at = text;
	char *end;
	long n;

	for (; (at = strstr(at, before)); at++) {
		n = strtol(at + strlen(before), &end, 10);
		if (!strncmp(end, after, strlen(after)))
			return n;
	}
	return -1;
}

/* The first word on standard error is the body's process's: children end before it. */
static bool took_part(const struct run *r, const struct under_case *c, char *why, size_t size)
{
	const char *line = r->told, *at;
	long sent, received, other = 0;
	char before[64];

	for (at = line; (at = strstr(at, "speedrun: ")); at++)
		line = at;
	sent = under_number(line, "sent ", ",");
	received = under_number(line, "received ", " mapped");
	if (c->counter) {
		snprintf(before, sizeof(before), "%s ", c->counter);
		other = under_number(line, before, "");
	}
	if (sent >= c->sent && received >= c->received && other >= c->least)
		return true;
	snprintf(why, size, "mapped sends %ld of %ld, receives %ld of %ld, %s %ld of %ld: %.200s",
		 sent, c->sent, received, c->received, c->counter ?: "else", other, c->least,
		 r->told);
	return false;
}

static void print_end(const struct trace *t)
{
	const char *at = t->text + t->used;
	int lines = 6;

	while (at > t->text && lines) {
		at--;
		if (at > t->text && at[-1] == '\n')
			lines--;
	}
	for (; *at; at += strcspn(at, "\n") + 1)
		printf("#   %.*s\n", (int)strcspn(at, "\n"), at);
}

static bool run_case(char **argv, const struct under_case *c, int kind, int number)
{
	static struct run without, with;
	const struct trace *shown = NULL;
	char test[128], why[1024] = "";
	long begin = now_ms();

	snprintf(test, sizeof(test), "%s.%s", program_invocation_short_name, c->name);
	run(&without, argv, c, kind, false);
	run(&with, argv, c, kind, true);
	if (without.why[0] || with.why[0]) {
		snprintf(why, sizeof(why), "%s the library: %s",
			 without.why[0] ? "without" : "with",
			 without.why[0] ? without.why : with.why);
		shown = without.why[0] ? without.t : with.t;
	} else if (!transcripts_agree(test, kinds[kind].name, without.t->text, with.t->text, why,
				      sizeof(why))) {
		shown = with.t;
	} else {
		took_part(&with, c, why, sizeof(why));
	}
	if (now_ms() - begin > 5000)
		printf("# the next one took %ld s\n", (now_ms() - begin) / 1000);
	printf("%sok %d %s %s\n", *why ? "not " : "", number, test, kinds[kind].name);
	if (*why)
		printf("# %s\n# %.1000s\n", why, with.told);
	if (shown)
		print_end(shown);
	fflush(stdout);
	munmap(without.t, sizeof(*without.t));
	munmap(with.t, sizeof(*with.t));
	return !*why;
}

/* Every case, or the one that is named. */
static int run_all(int argc, char **argv, const struct under_case *cases, size_t n)
{
	int number = 0, failed = 0;
	size_t i;
	int k;

	for (i = 0; i < n; i++) {
		if (argc > 1 && strcmp(argv[1], cases[i].name))
			continue;
		for (k = 0; k < 2; k++)
			if (cases[i].flags & (1u << k))
				failed += !run_case(argv, &cases[i], k, ++number);
	}
	printf("1..%d\n", number);
	return failed || !number;
}

int under_main(int argc, char **argv, const struct under_case *cases, size_t n)
{
	const char *shared = getenv(SHARED), *only = getenv("SPEED_REFERENCE_ONLY");

	if (shared)
		return run_body(cases, n, argv, atoi(shared));
	printf("TAP version 13\n");
	if (geteuid() || (only && *only && *only != '0')) {
		printf("ok 1 %s # SKIP needs root and the module\n1..1\n",
		       program_invocation_short_name);
		return 4;
	}
	trace = trace_create();
	tcp_shim_net();
	return run_all(argc, argv, cases, n);
}
