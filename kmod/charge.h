/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who pays for rings and overflow: the control group, the namespace, the user.
 */
#ifndef SPEED_CHARGE_H
#define SPEED_CHARGE_H

#include <linux/types.h>
#include <linux/uidgid.h>

struct net;
struct sock;
struct speed_user;

/* Of bytes that rings may take: how many of them can be mapped. */
static inline unsigned long speed_mapped_share(unsigned long bytes)
{
	return bytes / 4 * 3;
}

extern struct proto speed_proto;

struct speed_user *speed_user_get(kuid_t uid);
void speed_user_put(struct speed_user *user);
struct speed_user *speed_user_hold(struct speed_user *user);
void speed_charge_group_of(struct sock *child, const struct sock *listener);
int speed_charge_bounds(struct net *net, struct speed_user *user, size_t bytes);
void speed_uncharge_bounds(struct net *net, struct speed_user *user, size_t bytes);
bool speed_user_may_map(struct net *net, const struct speed_user *user, size_t bytes);
void speed_user_maps(struct speed_user *user, long bytes);
int speed_charge(struct sock *sk, size_t bytes);
void speed_uncharge(struct sock *sk, size_t bytes);
void speed_charge_exit(void);

#endif
