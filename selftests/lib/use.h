/* SPDX-License-Identifier: GPL-2.0 */
/* A descriptor used by other means than send() and recv(). */
#ifndef SPEED_SELFTESTS_USE_H
#define SPEED_SELFTESTS_USE_H

#include <stdbool.h>
#include <stddef.h>

/* One transfer each: what it returned, or minus the errno. */
long use_by_uring(int fd, bool receive, void *buf, size_t len);
long use_by_stdio(int fd, bool receive, void *buf, size_t len);

#endif
