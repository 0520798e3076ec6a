/* SPDX-License-Identifier: GPL-2.0 */
/* Under libspeed-preload.so, which copies from and to a program's memory by itself. */
#ifndef SPEED_SELFTESTS_PRELOADED_H
#define SPEED_SELFTESTS_PRELOADED_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* There a bad pointer is a SIGSEGV and not EFAULT. */
static inline bool preloaded(void)
{
	const char *names = getenv("LD_PRELOAD");

	return names && strstr(names, "libspeed-preload");
}

#endif
