/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * speedrun: what its files share.
 */
#ifndef SPEEDRUN_H
#define SPEEDRUN_H

#include <stddef.h>
#include <stdbool.h>

#define SPEEDRUN_PATH	4096	/* bytes of a path at most, its end included */

/* find.c: paths, in buffers of SPEEDRUN_PATH bytes */
bool find_program(const char *name, char *path);
bool find_library(char *path);

/* image.c: why a program cannot be preloaded into, or NULL */
const char *image_refuses(const char *path);

/* options.c: the program's place in argv */
int options_take(int argc, char **argv);

#endif /* SPEEDRUN_H */
