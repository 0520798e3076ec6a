// SPDX-License-Identifier: GPL-2.0
/* What files of tools/bench call, for tests of one of them. */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "../../tools/bench/bench.h"

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	_exit(1);
}
