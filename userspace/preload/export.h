/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Defining an interposed function: its name in C is another, so that the C library's
 * declaration, which may be of another name or of another type, does not matter.
 */
#ifndef PRE_EXPORT_H
#define PRE_EXPORT_H

#define PRE_CALL(ret, name, ...)						\
	__attribute__((visibility("default"))) ret pre_##name(__VA_ARGS__) __asm__(#name); \
	ret pre_##name(__VA_ARGS__)

/* Another name for one that this file defines. */
#define PRE_ALIAS(other, name)							\
	extern __typeof__(pre_##name) pre_##other __asm__(#other)		\
		__attribute__((alias(#name), visibility("default")))

#endif /* PRE_EXPORT_H */
