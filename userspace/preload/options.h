/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the environment asks for; set before main() and constant from then on.
 */
#ifndef PRE_OPTIONS_H
#define PRE_OPTIONS_H

/**
 * struct options - SPEED_SPIN, SPEED_STATS
 * @spin_us: as speed_set_spin()
 * @stats: tell at exit; the number of the process that does it in any case, or 1
 */
struct options {
	unsigned int	spin_us;
	unsigned int	stats;
};

extern struct options options __attribute__((visibility("hidden")));

#endif /* PRE_OPTIONS_H */
