/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /proc/net/speed and /proc/net/speed_stat.
 */
#ifndef SPEED_PROC_H
#define SPEED_PROC_H

struct net;

int speed_proc_add(struct net *net);
void speed_proc_del(struct net *net);

#endif
