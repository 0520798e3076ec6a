// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where the program and the library are.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "speedrun.h"

#define LIBRARY	"libspeed-preload.so"

static bool join(char *path, const char *dir, size_t len, const char *name)
{
	int n = len ? snprintf(path, SPEEDRUN_PATH, "%.*s/%s", (int)len, dir, name) :
		      snprintf(path, SPEEDRUN_PATH, "%s", name);

	if (n >= 0 && n < SPEEDRUN_PATH)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

static bool is_program(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	if (S_ISDIR(st.st_mode)) {
		errno = EACCES;
		return false;
	}
	return !access(path, X_OK);
}

/**
 * find_program() - as execvp() finds it
 * @name: a path, or a name to be found in PATH
 * @path: filled in
 *
 * Return: whether there is one; if not, errno says why.
 */
bool find_program(const char *name, char *path)
{
	const char *dir = getenv("PATH");
	int err = ENOENT;

	if (strchr(name, '/'))
		return join(path, "", 0, name) && is_program(path);
	if (!dir)
		dir = "/usr/local/bin:/usr/bin:/bin";
	for (; *name; dir++) {
		size_t len = strcspn(dir, ":");

		if (join(path, len ? dir : ".", len ? len : 1, name) && is_program(path))
			return true;
		if (errno == EACCES)
			err = EACCES;
		dir += len;
		if (!*dir)
			break;
	}
	errno = err;
	return false;
}

/**
 * find_library() - the library to preload
 * @path: filled in
 *
 * It lies beside speedrun in a build, in ../lib/speed/ of it where the tree was moved
 * since it was installed, and otherwise where it was installed.
 *
 * Return: whether it is there.
 */
bool find_library(char *path)
{
	static const char *const places[] = { LIBRARY, "../lib/speed/" LIBRARY };
	char self[SPEEDRUN_PATH];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *end;

	self[n > 0 ? n : 0] = '\0';
	end = strrchr(self, '/');
	for (size_t i = 0; end && i < sizeof(places) / sizeof(*places); i++)
		if (join(path, self, (size_t)(end - self), places[i]) && !access(path, R_OK))
			return true;
	return join(path, SPEED_LIBDIR, strlen(SPEED_LIBDIR), LIBRARY) && !access(path, R_OK);
}
