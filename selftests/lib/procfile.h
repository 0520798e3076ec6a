/* SPDX-License-Identifier: GPL-2.0 */
/* Files of /proc and /sys: read and written whole, /proc/net/speed by column, and its counters. */
#ifndef SPEED_SELFTESTS_PROCFILE_H
#define SPEED_SELFTESTS_PROCFILE_H

#include <stdbool.h>
#include <stddef.h>

/* The text, ended by NUL and without its last newline; -1 and errno. */
int file_read(const char *path, char *text, size_t size);
/* In one write(): 0, or -1 and errno. */
int file_write(const char *path, const char *text);

/* A column of the line of the socket, or "" where it has no line. */
void proc_speed_column(int fd, const char *column, char *value, size_t size);
bool proc_speed_says(int fd, const char *column, const char *value);
/* Whether both rings' pages have gone within a while, as those of an idle connection do. */
bool proc_speed_idle(int fd);
/* As a number. */
long proc_speed_number(int fd, const char *column);

/* A counter of /proc/net/speed_stat; the body ends where there is none of that name. */
long stat_number(const char *name);

/* net.speed.*: nobody puts them back, so set them in a namespace of your own. */
int sysctl_set(const char *name, const char *value);
int sysctl_get(const char *name, char *value, size_t size);

/* Is the kernel of that version, or a later one? */
bool kernel_since(int major, int minor);

#endif
