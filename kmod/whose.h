/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose data pages help where a ring was refused some.
 */
#ifndef SPEED_WHOSE_H
#define SPEED_WHOSE_H

#include <linux/types.h>

struct net;
struct speed_ring;
struct speed_user;

/**
 * struct speed_whose - who pays for the rings that are looked for
 * @net: those of a namespace, or NULL
 * @user: those of a user, or NULL
 */
struct speed_whose {
	const struct net *net;
	const struct speed_user *user;
};

bool speed_is_of(const struct speed_ring *ring, const struct speed_whose *whose);
bool speed_whose_help(const struct speed_ring *ring, size_t bytes, struct speed_whose *whose);

#endif
