/* SPDX-License-Identifier: GPL-2.0 */
/* A control group of the test's own. */
#ifndef SPEED_SELFTESTS_GROUP_H
#define SPEED_SELFTESTS_GROUP_H

#define GROUPS		"/sys/fs/cgroup"
#define GROUP		GROUPS "/speed-selftest"

/* GROUP, new and empty; ends the body where it cannot be made. Its end is rmdir(). */
void group_need(void);
/* The calling process goes there. Return: 0, or an errno. */
int group_enter(const char *group);

#endif
