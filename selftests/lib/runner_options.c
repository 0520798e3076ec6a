// SPDX-License-Identifier: GPL-2.0
/*
 * What the runner is asked for.
 *
 * SPEED_REFERENCE_ONLY=1 or --reference-only runs the references alone, for
 * machines without the module. Without it a missing module is a failure.
 * SPEED_TRANSPORT="..." is --transport for whoever cannot pass it. SPEED_SOAK=1 is the
 * long form, SPEED_BRIEF=1 the short one, for kernels on which others repeat what one
 * does whole.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "runner.h"

#define SHORTENED	12	/* times at least, for what is few already is not made fewer */

static bool asked_for(const char *name)
{
	const char *s = getenv(name);

	return s && *s && *s != '0';
}

bool soak(void)
{
	return asked_for("SPEED_SOAK");
}

bool brief(void)
{
	return !soak() && asked_for("SPEED_BRIEF");
}

int soak_times(int n, int more)
{
	if (soak())
		return n * more;
	return brief() && n >= SHORTENED ? n / 4 : n;
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
	r->only_transport = getenv("SPEED_TRANSPORT");
	if (r->only_transport && !*r->only_transport)
		r->only_transport = NULL;
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

bool runner_parse(struct runner *r, int argc, char **argv)
{
	if (parse(r, argc, argv))
		return true;
	usage(r->file);
	return false;
}
