// SPDX-License-Identifier: GPL-2.0
/* Files of /proc and /sys: see procfile.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "procfile.h"
#include "task.h"
#include "trace.h"

int file_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n;

	if (fd < 0)
		return -1;
	while ((n = read(fd, text + used, size - 1 - used)) > 0)
		used += n;
	close(fd);
	if (n < 0)
		return -1;
	if (used && text[used - 1] == '\n')
		used--;
	text[used] = '\0';
	return 0;
}

int file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC);
	ssize_t n;
	int err;

	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	err = errno;
	close(fd);
	errno = err;
	return n < 0 ? -1 : 0;
}

long stat_number(const char *name)
{
	char text[4096], *at;

	MUST(file_read("/proc/net/speed_stat", text, sizeof(text)) == 0);
	for (at = text; at && *at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, name, strlen(name)) && at[strlen(name)] == ' ')
			return strtol(at + strlen(name), NULL, 10);
	}
	/* A number for one that is not there would be the same each time. */
	trace_broken(__FILE__, __LINE__, name);
}

/* The word of a line in that place, counted from 0. */
static bool word(const char *line, int place, char *out, size_t size)
{
	while (*line == ' ')
		line++;
	while (place--) {
		line += strcspn(line, " \n");
		line += strspn(line, " ");
	}
	snprintf(out, size, "%.*s", (int)strcspn(line, " \n"), line);
	return *out;
}

static int place_of(const char *head, const char *column)
{
	char name[64];
	int i;

	for (i = 0; word(head, i, name, sizeof(name)); i++) {
		if (!strcmp(name, column))
			return i;
	}
	return -1;
}

void proc_speed_column(int fd, const char *column, char *value, size_t size)
{
	char line[1024], inode[32], want[32];
	FILE *f = fopen("/proc/net/speed", "r");
	int at, inode_at;
	struct stat st;

	*value = '\0';
	if (!f)
		return;
	if (fstat(fd, &st) || !fgets(line, sizeof(line), f))
		goto out;
	snprintf(want, sizeof(want), "%lu", (unsigned long)st.st_ino);
	at = place_of(line, column);
	inode_at = place_of(line, "inode");
	if (at < 0 || inode_at < 0)
		goto out;
	while (fgets(line, sizeof(line), f)) {
		if (word(line, inode_at, inode, sizeof(inode)) && !strcmp(inode, want)) {
			word(line, at, value, size);
			break;
		}
	}
out:
	fclose(f);
}

bool proc_speed_says(int fd, const char *column, const char *value)
{
	char got[256];

	proc_speed_column(fd, column, got, sizeof(got));
	return !strcmp(got, value);
}

bool proc_speed_idle(int fd)
{
	long until = now_ms() + 10000;

	while (!proc_speed_says(fd, "ring", "0/0") && now_ms() < until)
		sleep_ms(100);
	return proc_speed_says(fd, "ring", "0/0");
}

long proc_speed_number(int fd, const char *column)
{
	char got[256];

	proc_speed_column(fd, column, got, sizeof(got));
	return *got ? strtol(got, NULL, 10) : -1;
}

static void sysctl_path(const char *name, char *path, size_t size)
{
	snprintf(path, size, "/proc/sys/net/speed/%s", name);
}

int sysctl_set(const char *name, const char *value)
{
	char path[128];

	sysctl_path(name, path, sizeof(path));
	return file_write(path, value);
}

int sysctl_get(const char *name, char *value, size_t size)
{
	char path[128];

	sysctl_path(name, path, sizeof(path));
	return file_read(path, value, size);
}

bool kernel_since(int major, int minor)
{
	struct utsname u;
	int is[2];

	MUST(uname(&u) == 0 && sscanf(u.release, "%d.%d", &is[0], &is[1]) == 2);
	return is[0] > major || (is[0] == major && is[1] >= minor);
}
