// SPDX-License-Identifier: GPL-2.0
/*
 * The runner: see harness.h.
 *
 * Each run of a body has a process group of its own and a time limit; what is
 * left of the group at the end is killed, so nothing hangs and nothing stays.
 *
 * SPEED_REFERENCE_ONLY=1 or --reference-only runs the references alone, for
 * machines without the module. Without it a missing module is a failure.
 */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#define SECONDS_DEFAULT	120
#define REASON_MAX	1024
#define SLOW_MS		5000	/* worth a remark */

/**
 * struct runner - a run of a file's cases
 * @file: the file's name
 * @speed: the family's number, or -1
 */
struct runner {
	const char *file;
	const char *only_case;
	const char *only_transport;
	bool reference_only;
	bool verbose;
	int speed;
	int seconds;
	int number;
	int passed;
	int failed;
	int skipped;
	struct trace *reference;
	struct trace *got;
};

enum outcome { PASS, FAIL, SKIP };

bool soak(void)
{
	const char *s = getenv("SPEED_SOAK");

	return s && *s && *s != '0';
}

int soak_times(int n, int more)
{
	return soak() ? n * more : n;
}

static void count_sigpipe(int sig)
{
	(void)sig;
	trace_sigpipe(1);
}

static void run_body(const struct test_case *c, const struct transport *t)
{
	struct sigaction pipes = { .sa_handler = count_sigpipe };

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGPIPE, &pipes, NULL);
	c->body(t);
	trace->done = true;
	fflush(stdout);
	_exit(trace->failed);
}

/* Waits for the body, at most its time; the status of waitpid(). */
static int wait_body(pid_t pid, int seconds, bool *late)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	int status = 0;

	*late = poll(&p, 1, seconds * 1000) == 0;
	close(pidfd);
	if (*late)
		kill(pid, SIGKILL);
	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static enum outcome run_one(struct runner *r, const struct test_case *c,
			    const struct transport *t, struct trace *into, char *why)
{
	int seconds = r->seconds * (c->flags & CASE_LONG ? 10 : 1);
	long begin = now_ms();
	int status;
	bool late;
	pid_t pid;

	trace = into;
	trace_clear(into);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		run_body(c, t);
	setpgid(pid, pid);
	status = wait_body(pid, seconds, &late);
	if (now_ms() - begin >= SLOW_MS)
		printf("# the next one took %ld s\n", (now_ms() - begin) / 1000);
	*why = '\0';
	if (into->skipped) {
		snprintf(why, REASON_MAX, "%s", into->why);
		return SKIP;
	}
	if (into->failed)
		snprintf(why, REASON_MAX, "%s", into->why);
	else if (late)
		snprintf(why, REASON_MAX, "not done after %d s", seconds);
	else if (WIFSIGNALED(status))
		snprintf(why, REASON_MAX, "ended by signal %d", WTERMSIG(status));
	else if (!into->done)
		snprintf(why, REASON_MAX, "ended early with status %d", WEXITSTATUS(status));
	return *why ? FAIL : PASS;
}

/* Prints the last line that was written before it went wrong, too. */
static void print_last(const struct trace *t)
{
	const char *end = t->text + t->used;
	const char *at = end;
	int lines = 4;

	while (at > t->text && lines) {
		at--;
		if (at > t->text && at[-1] == '\n')
			lines--;
	}
	while (at < end) {
		const char *stop = strchr(at, '\n');

		printf("#   %.*s\n", (int)(stop - at), at);
		at = stop + 1;
	}
}

static void print_text(const struct trace *t)
{
	const char *at, *stop;

	for (at = t->text; (stop = strchr(at, '\n')); at = stop + 1)
		printf("#   %.*s\n", (int)(stop - at), at);
}

static void report(struct runner *r, enum outcome o, const char *test, const char *transport,
		   const char *why, const struct trace *t)
{
	printf("%s %d %s %s%s%s\n", o == FAIL ? "not ok" : "ok", ++r->number, test, transport,
	       o == SKIP ? " # SKIP " : "", o == SKIP ? why : "");
	if (o == FAIL) {
		printf("# %s\n", why);
		if (t && !r->verbose)
			print_last(t);
	}
	if (t && r->verbose)
		print_text(t);
	if (o == PASS)
		r->passed++;
	else if (o == FAIL)
		r->failed++;
	else
		r->skipped++;
	fflush(stdout);
}

/*
 * A mapped run that moved everything by system call would prove nothing about
 * the mapped path. One call may be; the lease is there before the first.
 */
static bool was_mapped(const struct test_case *c, const struct transport *t,
		       const struct trace *got, char *why)
{
	if (t->path[0] != PATH_MAPPED || t->path[1] != PATH_MAPPED)
		return true;
	if ((c->flags & CASE_UNMAPPED) || got->moved < 2 || got->mapped)
		return true;
	snprintf(why, REASON_MAX, "%lu calls through libspeed, and none in the ring", got->moved);
	return false;
}

static bool applies(const struct test_case *c, const struct transport *t, int type)
{
	if (t->speed)
		return (c->flags & CASE_PATHS) || !tp_is_mapped(t);
	if (c->flags & CASE_SPEED)
		return false;
	if (tp_is_tcp(t))
		return type == SOCK_STREAM && (c->flags & (CASE_TCP | CASE_LIKE_TCP));
	return !(c->flags & CASE_LIKE_TCP);
}

static void run_case(struct runner *r, const struct test_case *c, int type)
{
	bool have_reference = false;
	enum outcome o = PASS;
	char why[REASON_MAX];
	char test[128];
	int i;

	snprintf(test, sizeof(test), "%s.%s%s", r->file, c->name,
		 type == SOCK_SEQPACKET ? ".seqpacket" : "");
	if (r->only_case && fnmatch(r->only_case, c->name, 0))
		return;
	if ((c->flags & CASE_SPEED) && r->reference_only)
		report(r, SKIP, test, "speed", "references only, and it has none", NULL);

	for (i = 0; i < TRANSPORTS; i++) {
		struct transport t = transports[i];
		struct trace *into = have_reference || t.speed ? r->got : r->reference;

		t.type = type;
		if (!applies(c, &t, type) || (t.speed && r->reference_only))
			continue;
		/* Others are not run, unless this one is measured by them. */
		if (r->only_transport && fnmatch(r->only_transport, t.name, 0) && into == r->got)
			continue;
		if (t.speed) {
			t.family = r->speed;
			if (r->speed < 0) {
				report(r, FAIL, test, t.name, "AF_SPEED is not there", NULL);
				continue;
			}
			if (!have_reference && !(c->flags & CASE_SPEED)) {
				report(r, o == SKIP ? SKIP : FAIL, test, t.name,
				       "its reference did not run", NULL);
				continue;
			}
		}
		o = run_one(r, c, &t, into, why);
		if (o == PASS && have_reference &&
		    !transcripts_agree(test, t.name, r->reference->text, into->text, why,
				       sizeof(why)))
			o = FAIL;
		if (o == PASS && !was_mapped(c, &t, into, why))
			o = FAIL;
		report(r, o, test, t.name, why, into);
		if (into == r->reference)
			have_reference = o == PASS;
	}
}

static void usage(const char *name)
{
	printf("usage: %s [--reference-only] [--verbose] [--case PATTERN] [--transport PATTERN]\n"
	       "           [--seconds N]\n", name);
}

static bool parse(struct runner *r, int argc, char **argv)
{
	static const struct option options[] = {
		{ "reference-only", no_argument, NULL, 'r' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "case", required_argument, NULL, 'c' },
		{ "transport", required_argument, NULL, 't' },
		{ "seconds", required_argument, NULL, 's' },
		{ }
	};
	const char *env = getenv("SPEED_REFERENCE_ONLY");
	int o;

	r->reference_only = env && *env && *env != '0';
	while ((o = getopt_long(argc, argv, "rvc:t:s:", options, NULL)) != -1) {
		if (o == 'r')
			r->reference_only = true;
		else if (o == 'v')
			r->verbose = true;
		else if (o == 'c')
			r->only_case = optarg;
		else if (o == 't')
			r->only_transport = optarg;
		else if (o == 's')
			r->seconds = atoi(optarg);
		else
			return false;
	}
	return optind == argc && r->seconds > 0;
}

int run_cases(int argc, char **argv, const struct test_case *cases, size_t n)
{
	struct runner r = { .file = program_invocation_short_name, .seconds = SECONDS_DEFAULT };
	size_t i;

	if (!parse(&r, argc, argv)) {
		usage(r.file);
		return 1;
	}
	r.speed = r.reference_only ? -1 : speed_family_number();
	r.reference = trace_create();
	r.got = trace_create();
	printf("TAP version 13\n");
	for (i = 0; i < n; i++) {
		if (cases[i].flags & CASE_STREAM)
			run_case(&r, &cases[i], SOCK_STREAM);
		if (cases[i].flags & CASE_SEQPACKET)
			run_case(&r, &cases[i], SOCK_SEQPACKET);
	}
	printf("1..%d\n", r.number);
	printf("# %s: %d passed, %d failed, %d skipped\n", r.file, r.passed, r.failed, r.skipped);
	if (r.failed || !r.number)
		return 1;
	return r.passed ? 0 : 4;
}
