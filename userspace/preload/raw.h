/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * System calls without the C library, whose syscall() is interposed here.
 */
#ifndef PRE_RAW_H
#define PRE_RAW_H

#include <errno.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
static inline long raw_call(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a" (ret)
			 : "a" (n), "D" (a), "S" (b), "d" (c), "r" (r10), "r" (r8), "r" (r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__aarch64__)
static inline long raw_call(long n, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r" (x0)
			 : "r" (x8), "r" (x1), "r" (x2), "r" (x3), "r" (x4), "r" (x5)
			 : "memory");
	return x0;
}
#else
#error "libspeed-preload knows x86-64 and arm64"
#endif

/* As syscall(): -1 and errno, which is kept otherwise. */
static inline long raw_errno(long n, long a, long b, long c, long d, long e, long f)
{
	long ret = raw_call(n, a, b, c, d, e, f);

	if ((unsigned long)ret < -4095UL)
		return ret;
	errno = (int)-ret;
	return -1;
}

#define RAW_SEVEN(n, a, b, c, d, e, f, ...)						\
	raw_errno((long)(n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define raw_syscall(...)	RAW_SEVEN(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

#endif /* PRE_RAW_H */
