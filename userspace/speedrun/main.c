// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speedrun PROGRAM ARGS: run a program with libspeed-preload.so, or without where it
 * cannot be; the program runs in any case.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "speedrun.h"

#define EXIT_CANNOT	126	/* as a shell has it */
#define EXIT_NONE	127

/* In a list as the loader takes it apart. */
static bool listed(const char *list, const char *library)
{
	size_t len = strlen(library), n;

	for (;; list += n + 1) {
		n = strcspn(list, ": ");
		if (n == len && !strncmp(list, library, n))
			return true;
		if (!list[n])
			return false;
	}
}

/* Ours comes last: what others preload, some of which insist on being first, stays so. */
static bool preload(const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	char *list;
	bool ok;

	if (!others || !*others)
		return !setenv("LD_PRELOAD", library, 1);
	if (listed(others, library))
		return true;
	if (asprintf(&list, "%s:%s", others, library) < 0)
		return false;
	ok = !setenv("LD_PRELOAD", list, 1);
	free(list);
	return ok;
}

/* Why the program runs without the library, or NULL. */
static const char *prepare(const char *program)
{
	const char *why = image_refuses(program);
	static char library[SPEEDRUN_PATH];

	if (why)
		return why;
	if (!find_library(library))
		return "libspeed-preload.so is not found";
	if (strpbrk(library, ": "))
		return "the path of libspeed-preload.so has a colon or a blank in it";
	return preload(library) ? NULL : "no memory";
}

int main(int argc, char **argv)
{
	int at = options_take(argc, argv);
	char path[SPEEDRUN_PATH];
	const char *why;

	if (!find_program(argv[at], path)) {
		fprintf(stderr, "speedrun: %s: %s\n", argv[at], strerror(errno));
		return errno == ENOENT ? EXIT_NONE : EXIT_CANNOT;
	}
	why = prepare(path);
	if (why)
		fprintf(stderr, "speedrun: %s runs without libspeed: %s\n", argv[at], why);
	execvp(path, argv + at);	/* the shell for a script without a first line */
	fprintf(stderr, "speedrun: %s: %s\n", path, strerror(errno));
	return errno == ENOENT ? EXIT_NONE : EXIT_CANNOT;
}
