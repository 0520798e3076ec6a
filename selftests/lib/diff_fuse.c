// SPDX-License-Identifier: GPL-2.0
/* The machine's part: whether connections are fused, and a tap. See diff_run.h. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diff_run.h"
#include "procfile.h"
#include "tap.h"

#define SWITCH	"/proc/sys/net/speed/loopback"

static int open_switch(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open(SWITCH, O_WRONLY | O_CLOEXEC);
	return fd;
}

bool diff_fuse_there(void)
{
	return open_switch() >= 0;
}

void diff_fuse_set(bool on)
{
	DIFF_MUST(pwrite(open_switch(), on ? "1\n" : "0\n", 2, 0) == 2);
}

/* What tcpdump does. */
void diff_fuse_tap(bool on)
{
	static int tap = -1;

	if (on && tap < 0)
		tap = tap_open(NULL);
	if (on || tap < 0)
		return;
	close(tap);
	tap = -1;
}

long diff_fuse_count(const char *name)
{
	char text[8192], *at;

	if (file_read("/proc/net/speed_stat", text, sizeof(text)))
		return -1;
	for (at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, name, strlen(name)) && at[strlen(name)] == ' ')
			return strtol(at + strlen(name), NULL, 10);
	}
	return -1;
}
