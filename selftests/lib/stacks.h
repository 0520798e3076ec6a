/* SPDX-License-Identifier: GPL-2.0 */
/* Where the threads of a test stand, for the log of one that does not end. */
#ifndef SPEED_SELFTESTS_STACKS_H
#define SPEED_SELFTESTS_STACKS_H

#include <sys/types.h>

/* Prints each thread of a process group with its call and its kernel stack. */
void stacks_print(pid_t group);

#endif
