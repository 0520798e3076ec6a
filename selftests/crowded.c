// SPDX-License-Identifier: GPL-2.0
/*
 * How many sockets there may be: those that wait to be accepted, and those they are
 * connected to, are in no table of descriptors, and count all the same (ENFILE).
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "procfile.h"
#include "stress.h"

#define FILE_MAX	"/proc/sys/fs/file-max"
#define FILES		"1000"	/* and twice as many sockets; root opens more files, too */
#define TRIES		4000	/* two sockets each */

/* Return: connections that a listener keeps, of clients that are gone; errno says why no more. */
static int queue_up(const struct transport *t, const struct address *a)
{
	int i, fd, err;

	for (i = 0; i < TRIES; i++) {
		fd = socket(t->family, t->type, 0);
		if (fd < 0)
			return i;
		err = connect_to(fd, a) ? errno : 0;
		close(fd);
		errno = err;
		if (err)
			return i;
	}
	errno = 0;
	return i;
}

static void bounded(const struct transport *t)
{
	struct address a;
	char old[32];
	int fd, n, err, more;

	if (geteuid())
		trace_skip("needs root, for fs.file-max");
	fd = tp_listen(t, TRIES, &a);
	MUST(file_read(FILE_MAX, old, sizeof(old)) == 0 && file_write(FILE_MAX, FILES) == 0);
	n = queue_up(t, &a);
	err = errno;
	MUST(file_write(FILE_MAX, old) == 0);
	WANT(err, ENFILE, 0, "connections until there are too many sockets");
	WANT_TRUE(n > 0 && n < TRIES, "some came before");
	more = tp_socket(t, 0);
	WANT_OK(connect_to(more, &a), "one more, when more are allowed");
	close(more);
	close(fd);
}

static const struct test_case cases[] = {
	{ "bounded", bounded, CASE_BOTH },
};

RUN_CASES(cases)
