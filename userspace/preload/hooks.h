/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the library's sources find where they are built into the preload library
 * (lib/host.h).
 */
#ifndef PRE_HOOKS_H
#define PRE_HOOKS_H

#include <stdbool.h>
#include <linux/types.h>
#include "raw.h"

struct speed;
struct call;

/* call.c: the transfer that this thread makes; see call.h */
extern __thread struct call *call_now
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

int call_fd(void);
bool call_still(const struct speed *s);
__u64 pool_cookie(const struct speed *s);

#define spd_syscall		raw_syscall
#define spd_fd(s)		((void)(s), call_fd())
#define spd_cookie(s)		pool_cookie(s)
#define spd_role_still(s)	call_still(s)

#endif /* PRE_HOOKS_H */
