/* SPDX-License-Identifier: GPL-2.0 */
/*
 * net.speed.*
 */
#ifndef SPEED_SYSCTL_H
#define SPEED_SYSCTL_H

struct net;

int speed_sysctl_add(struct net *net);
void speed_sysctl_del(struct net *net);

#endif
