/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TAP for the native tests: each ok() is one line of the result, each need()
 * is a condition inside it, of which the first that does not hold is told.
 */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdio.h>

static int tap_count;
static int tap_failed;
static int tap_here;	/* conditions that did not hold since the last ok() */

#define need(cond)							\
	((cond) ? 1 : tap_complain(__FILE__, __LINE__, #cond))

static inline int tap_complain(const char *file, int line, const char *what)
{
	if (!__atomic_fetch_add(&tap_here, 1, __ATOMIC_RELAXED))
		printf("# %s:%d: not so: %s\n", file, line, what);
	return 0;
}

/* One result: good if every need() since the last one held. */
__attribute__((format(printf, 1, 2)))
static inline void ok(const char *fmt, ...)
{
	int bad = __atomic_exchange_n(&tap_here, 0, __ATOMIC_RELAXED);
	va_list ap;

	tap_failed += !!bad;
	printf("%sok %d - ", bad ? "not " : "", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

static inline int tap_done(void)
{
	printf("1..%d\n", tap_count);
	fflush(stdout);
	return tap_failed || !tap_count;
}

#endif /* TAP_H */
