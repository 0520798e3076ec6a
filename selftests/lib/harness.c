// SPDX-License-Identifier: GPL-2.0
/* The runner: see harness.h. */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

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

/* A transport's calls through libspeed, in all cases of the program. */
static struct {
	unsigned long moved;
	unsigned long mapped;
} sums[TRANSPORTS];

/*
 * Where one end alone is mapped, or each in turn, a case may be about what keeps it from
 * being so; but not all cases.
 */
static void report_unmapped(struct runner *r)
{
	char why[REASON_MAX];
	int i;

	for (i = 0; i < TRANSPORTS; i++) {
		if (sums[i].moved < 100 || sums[i].mapped)
			continue;
		snprintf(why, sizeof(why), "%lu calls through libspeed, and none in the ring",
			 sums[i].moved);
		report(r, FAIL, r->file, transports[i].name, why, NULL);
	}
}

static bool applies(const struct test_case *c, const struct transport *t, int type)
{
	if (tp_is_mapped(t) && !(c->flags & CASE_PATHS))
		return false;
	if (t->speed)
		return (c->flags & CASE_FUSED_ONLY) != CASE_FUSED_ONLY;
	if (t->fused)
		return type == SOCK_STREAM && (c->flags & (CASE_FUSED | CASE_TCP | CASE_LIKE_TCP));
	if (c->flags & CASE_SPEED)
		return false;
	if (tp_is_tcp(t))
		return type == SOCK_STREAM && (c->flags & (CASE_TCP | CASE_LIKE_TCP));
	return !(c->flags & CASE_LIKE_TCP);
}

/* Whom a transport is compared with: NULL where that has not run. */
static const struct trace *reference_of(const struct runner *r, const struct test_case *c,
					const struct transport *t, bool have_reference)
{
	if (!have_reference)
		return NULL;
	if (!t->fused || (c->flags & CASE_LIKE_TCP))
		return r->reference;
	return r->tcp->done && !r->tcp->failed ? r->tcp : NULL;
}

/* AF_SPEED, or TCP that the module carries; false where it cannot be run. */
static bool carried(struct runner *r, struct transport *t, const char *test, enum outcome last,
		    bool compared, const struct trace *reference)
{
	if (t->speed)
		t->family = r->speed;
	if (r->speed < 0)
		report(r, FAIL, test, t->name, "AF_SPEED is not there", NULL);
	else if (compared && !reference)
		report(r, last == SKIP ? SKIP : FAIL, test, t->name, "its reference did not run",
		       NULL);
	else
		return true;
	return false;
}

/* Where a transport's transcript goes: the first is the reference. */
static struct trace *place(struct runner *r, const struct transport *t, bool have_reference)
{
	if (t->speed || t->fused)
		return r->got;
	if (!have_reference)
		return r->reference;
	return tp_is_tcp(t) ? r->tcp : r->got;
}

/*
 * Sockets of the kernel's own do not always do the same twice (softirqs run late on a busy
 * machine, and who is preempted is late himself): a stock one is asked up to three times, as
 * what is compared and as the reference. Whether @stock, asked again, does what is in @got:
 * its words are in r->again then.
 */
static bool asked_again(struct runner *r, const struct test_case *c, const struct transport *stock,
			const struct transport *t, const char *test, const struct trace *got)
{
	char why[REASON_MAX];
	int tries;

	for (tries = 1; tries < STOCK_TRIES; tries++) {
		if (run_one(r, c, stock, r->again, why) == PASS &&
		    transcripts_agree(test, t->name, r->again->text, got->text, why, REASON_MAX))
			return true;
	}
	return false;
}

/* A stock socket; where its reference does the same when asked again, that is the reference. */
static enum outcome run_stock(struct runner *r, const struct test_case *c,
			      const struct transport *t, const char *test,
			      const struct trace *reference, struct trace *into, char *why)
{
	enum outcome o = FAIL;
	bool differs = false;
	int tries;

	for (tries = 0; tries < STOCK_TRIES && o == FAIL; tries++) {
		if (tries)
			printf("# %s %s once more: %s\n", test, t->name, why);
		o = run_one(r, c, t, into, why);
		differs = o == PASS && reference &&
			  !transcripts_agree(test, t->name, reference->text, into->text, why,
					     REASON_MAX);
		if (differs)
			o = FAIL;
	}
	if (differs && asked_again(r, c, &r->first, t, test, into)) {
		struct trace *was = r->reference;

		printf("# %s %s once more: %s\n", test, r->first.name, why);
		r->reference = r->again;
		r->again = was;
		o = PASS;
	}
	return o;
}

/* A socket under test, once; what its reference did in any of three runs is right. */
static enum outcome run_ours(struct runner *r, const struct test_case *c,
			     const struct transport *t, const char *test,
			     const struct trace *reference, struct trace *into, char *why)
{
	struct transport stock = r->first;
	enum outcome o = run_one(r, c, t, into, why);

	if (o != PASS || !reference || transcripts_agree(test, t->name, reference->text,
							 into->text, why, REASON_MAX))
		return o;
	if (reference == r->tcp)
		stock = (struct transport){ .name = "tcp", .family = AF_INET, .type = t->type };
	if (!asked_again(r, c, &stock, t, test, into))
		return FAIL;
	printf("# %s %s: so does %s: %s\n", test, t->name, stock.name, why);
	return PASS;
}

static enum outcome judge(struct runner *r, const struct test_case *c, const struct transport *t,
			  const char *test, const struct trace *reference, struct trace *into)
{
	bool ours = t->speed || t->fused;
	char why[REASON_MAX];
	enum outcome o = (ours ? run_ours : run_stock)(r, c, t, test, reference, into, why);

	if (o == PASS && !was_mapped(c, t, into, why))
		o = FAIL;
	report(r, o, test, t->name, why, into);
	return o;
}

static void run_case(struct runner *r, const struct test_case *c, int type)
{
	bool have_reference = false, compared = !(c->flags & CASE_SPEED);
	const struct trace *reference;
	enum outcome o = PASS;
	struct trace *into;
	char test[128];
	int i;

	snprintf(test, sizeof(test), "%s.%s%s", r->file, c->name,
		 type == SOCK_SEQPACKET ? ".seqpacket" : "");
	if (r->only_case && fnmatch(r->only_case, c->name, 0))
		return;
	if ((c->flags & CASE_SPEED) && r->reference_only)
		report(r, SKIP, test, "speed", "references only, and it has none", NULL);
	trace_clear(r->tcp);

	for (i = 0; i < TRANSPORTS; i++) {
		struct transport t = transports[i];

		t.type = type;
		into = place(r, &t, have_reference);
		if (!applies(c, &t, type) || ((t.speed || t.fused) && r->reference_only))
			continue;
		/* Others are not run, unless this one is measured by them. */
		if (r->only_transport && fnmatch(r->only_transport, t.name, FNM_EXTMATCH) && into == r->got)
			continue;
		reference = compared ? reference_of(r, c, &t, have_reference) : NULL;
		if ((t.speed || t.fused) && !carried(r, &t, test, o, compared, reference))
			continue;
		if (into == r->reference)
			r->first = t;
		o = judge(r, c, &t, test, reference, into);
		sums[i].moved += into->moved;
		sums[i].mapped += into->mapped;
		if (into == r->reference)
			have_reference = o == PASS;
	}
}

int run_cases(int argc, char **argv, const struct test_case *cases, size_t n)
{
	struct runner r = { .file = program_invocation_short_name, .seconds = SECONDS_DEFAULT };
	size_t i;

	if (!runner_parse(&r, argc, argv))
		return 1;
	r.speed = r.reference_only ? -1 : speed_family_number();
	r.reference = trace_create();
	r.got = trace_create();
	r.tcp = trace_create();
	r.again = trace_create();
	printf("TAP version 13\n");
	for (i = 0; i < n; i++) {
		if (cases[i].flags & CASE_STREAM)
			run_case(&r, &cases[i], SOCK_STREAM);
		if (cases[i].flags & CASE_SEQPACKET)
			run_case(&r, &cases[i], SOCK_SEQPACKET);
	}
	report_unmapped(&r);
	printf("1..%d\n", r.number);
	printf("# %s: %d passed, %d failed, %d skipped\n", r.file, r.passed, r.failed, r.skipped);
	if (r.failed || !r.number)
		return 1;
	return r.passed ? 0 : 4;
}
