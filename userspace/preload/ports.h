/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SPEED_PORTS: which TCP connections may be mapped.
 */
#ifndef PRE_PORTS_H
#define PRE_PORTS_H

#include <stdbool.h>

bool ports_parse(const char *list);
bool ports_allow(int fd, bool *inet);

#endif /* PRE_PORTS_H */
