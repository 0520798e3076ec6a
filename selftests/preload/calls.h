/* SPDX-License-Identifier: GPL-2.0 */
/* The names that libspeed-preload exports, and a call of each. */
#ifndef SPEED_SELFTESTS_CALLS_H
#define SPEED_SELFTESTS_CALLS_H

#include "under.h"

/**
 * struct call_name - a name, and how it is called; one of five kinds
 * @name: exported
 * @receives: @move receives; otherwise it sends
 * @move: a transfer by the function
 * @make: makes a new number, the lowest that is free, and returns it
 * @shut: closes the number, or makes it what @other is
 * @join: connect()
 * @watch: of a set that has a readable number under its own name: was that told?
 */
struct call_name {
	const char *name;
	bool receives;
	ssize_t (*move)(void *f, int fd, char *buf, size_t len);
	int (*make)(void *f);
	int (*shut)(void *f, int fd, int other);
	int (*join)(void *f, int fd, const void *to, socklen_t len);
	int (*watch)(void *f, int ep, int fd);
};

extern const struct call_name call_names[];
extern const size_t call_names_count;

const struct call_name *call_find(const char *name);
/* What the program gets by the name. */
void *call_function(const char *name);
/* connect() by the function, or by syscall(). */
int call_join_plain(void *f, int fd, const void *to, socklen_t len);
int call_join_syscall(void *f, int fd, const void *to, socklen_t len);
/* Closes what a maker made besides. */
void call_made_end(void);
/* The functions that a shared object defines: how many, or -1. */
int call_exports(const char *path, char names[][64], int most);

#endif
