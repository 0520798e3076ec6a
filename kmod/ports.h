/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sysctl loopback_ports.
 */
#ifndef SPEED_PORTS_H
#define SPEED_PORTS_H

#include <linux/types.h>

#include "compat/compat.h"

struct speed_net;

bool speed_port_allowed(const struct speed_net *sn, u16 port);
int speed_ports_handler(speed_ctl_table_t *table, int write, void *buf, size_t *len, loff_t *pos);
void speed_ports_free(struct speed_net *sn);

#endif
