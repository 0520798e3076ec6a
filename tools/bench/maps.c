// SPDX-License-Identifier: GPL-2.0
/* What this process has mapped. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "bench.h"

unsigned int regions_of(const char *name)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned int regions = 0;
	char line[4352];	/* a path is at most 4096 of it */

	if (!f)
		die("/proc/self/maps: %m");
	while (fgets(line, sizeof(line), f))
		if (strstr(line, name))
			regions++;
	fclose(f);
	return regions;
}
