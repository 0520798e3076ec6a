// SPDX-License-Identifier: GPL-2.0
/* A control group: see group.h. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "group.h"
#include "procfile.h"
#include "trace.h"

void group_need(void)
{
	if (geteuid())
		trace_skip("needs root, to make a control group");
	if (access(GROUPS "/cgroup.procs", R_OK))
		mount("cgroup2", GROUPS, "cgroup2", 0, NULL);
	if (access(GROUPS "/cgroup.procs", R_OK))
		trace_skip("needs cgroup2");
	file_write(GROUPS "/cgroup.subtree_control", "+memory");
	rmdir(GROUP);
	MUST(mkdir(GROUP, 0755) == 0);
}

int group_enter(const char *group)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	return file_write(path, "0");
}
