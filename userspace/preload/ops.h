/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What lies outside the ring of an unmodified program's connection.
 */
#ifndef PRE_OPS_H
#define PRE_OPS_H

#include "handle.h"

extern struct spd_ops ops_preload __attribute__((visibility("hidden")));

void ops_start(void);
bool ops_nonblock(int fd);

#endif /* PRE_OPS_H */
