// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Start: the environment, the functions behind ours, the table and the pool.
 *
 * Until the table has entries every call is the plain one, and where something is
 * missing it stays so. What the environment has wrong is speedrun's to tell.
 */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include "crew.h"
#include "ops.h"
#include "options.h"
#include "pool.h"
#include "ports.h"
#include "real.h"
#include "stats.h"
#include "table.h"

#define MAIN_AFTER	32
#define MAIN_AFTER_MAX	1000000000
#define MAIN_MAPPINGS	1024

struct options options = { .spin_us = SPEED_SPIN_DEFAULT };

/* A number from the environment, or @otherwise. */
static unsigned int main_number(const char *name, unsigned int otherwise, unsigned int least,
				unsigned int most)
{
	const char *text = getenv(name);
	unsigned long n;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return otherwise;
	n = strtoul(text, &end, 10);
	if (*end)
		return otherwise;
	if (n < least)
		return least;
	return n < most ? (unsigned int)n : most;
}

/* After fork(), in the child. */
static void main_child(void)
{
	crew_fork_child();
	table_child();
}

__attribute__((constructor)) static void main_start(void)
{
	const char *ports = getenv("SPEED_PORTS");
	unsigned int mappings = main_number("SPEED_MAPPINGS", MAIN_MAPPINGS, 0, POOL_SLOTS_MAX);
	int saved = errno;

	real_find_all();
	options.stats = main_number("SPEED_STATS", 0, 0, INT_MAX);
	if (getenv("SPEED_SPIN"))
		options.spin_us = main_number("SPEED_SPIN", SPEED_SPIN_DEFAULT, 0, SPEED_SPIN_MAX);
	if (ports)
		ports_parse(ports);
	ops_start();
	stats_start();
	if (mappings && !pool_start(mappings) &&
	    !table_start((__s32)main_number("SPEED_AFTER", MAIN_AFTER, 1, MAIN_AFTER_MAX)) &&
	    !crew_start()) {
		watch_start();
		pthread_atfork(crew_fork_begins, crew_fork_ends, main_child);
	}
	errno = saved;
}
