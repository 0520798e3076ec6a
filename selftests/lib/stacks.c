// SPDX-License-Identifier: GPL-2.0
/* Where the threads of a test stand: see stacks.h. */
#define _GNU_SOURCE
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stacks.h"

#define DEEPEST	12	/* lines of a stack */

/* The lines of dir/name, each as a remark; a file that is gone or closed has none. */
static void print_file(const char *dir, const char *name, const char *indent)
{
	char path[128], line[256];
	FILE *file;
	int n;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "r");
	if (!file)
		return;
	for (n = 0; n < DEEPEST && fgets(line, sizeof(line), file); n++)
		printf("# %s%s", indent, line);
	fclose(file);
}

static void print_threads(const char *process)
{
	char pattern[128];
	glob_t tasks;
	size_t i;

	snprintf(pattern, sizeof(pattern), "%s/task/*", process);
	if (glob(pattern, 0, NULL, &tasks))
		return;
	for (i = 0; i < tasks.gl_pathc; i++) {
		printf("# %s\n", tasks.gl_pathv[i]);
		print_file(tasks.gl_pathv[i], "comm", "\t");
		print_file(tasks.gl_pathv[i], "syscall", "\t");
		print_file(tasks.gl_pathv[i], "stack", "\t");
	}
	globfree(&tasks);
	print_file(process, "net/speed_tcp", "\t");
}

void stacks_print(pid_t group)
{
	glob_t all;
	size_t i;

	if (glob("/proc/[0-9]*", GLOB_ONLYDIR, NULL, &all))
		return;
	for (i = 0; i < all.gl_pathc; i++) {
		if (getpgid(atoi(strrchr(all.gl_pathv[i], '/') + 1)) == group)
			print_threads(all.gl_pathv[i]);
	}
	globfree(&all);
	fflush(stdout);
}
