// SPDX-License-Identifier: GPL-2.0
/*
 * The UAPI headers stand alone, in strict C and in C++, before anything else.
 */
#include <linux/speed.h>
#include <linux/speed_ring.h>

struct speed_side test_header_side;
