/* SPDX-License-Identifier: GPL-2.0 */
/* See stand_in_series.c. */
#ifndef SPEED_UNIT_STAND_IN_SERIES_H
#define SPEED_UNIT_STAND_IN_SERIES_H

extern const struct transport transport_test;

#endif
