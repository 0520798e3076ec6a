/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module's part in each network namespace comes and goes.
 */
#ifndef SPEED_NETNS_H
#define SPEED_NETNS_H

int speed_netns_init(void);
void speed_netns_exit(void);

#endif
