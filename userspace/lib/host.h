/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a host may replace that builds these sources into itself: SPD_HOST names its
 * header. The library itself is its own host.
 */
#ifndef SPD_HOST_H
#define SPD_HOST_H

#ifdef SPD_HOST
#include SPD_HOST
#else

#include <stdbool.h>
#include <unistd.h>
#include <sys/syscall.h>

/* A system call as the C library's syscall() makes it. */
#define spd_syscall		syscall

/* The descriptor for a transfer's system calls. */
#define spd_fd(s)		((s)->fd)

/* Tells the handles of one address space apart, which the kernel treats as strangers. */
#define spd_cookie(s)		((__u64)(uintptr_t)(s))

/* With a role's lock: does the caller's descriptor still belong to the handle? */
#define spd_role_still(s)	true

#endif
#endif /* SPD_HOST_H */
