/* SPDX-License-Identifier: GPL-2.0 */
/* Who captures packets. */
#ifndef SPEED_SELFTESTS_TAP_H
#define SPEED_SELFTESTS_TAP_H

/* A packet socket of all protocols, as tcpdump's, on one device or (NULL) on all; -1: errno. */
int tap_open(const char *dev);

#endif
