/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who pays for rings and overflow: the control group, the namespace, the user.
 */
#ifndef SPEED_CHARGE_H
#define SPEED_CHARGE_H

#include <linux/uidgid.h>

struct net;
struct sock;
struct speed_user;

extern struct proto speed_proto;

struct speed_user *speed_user_get(kuid_t uid);
void speed_user_put(struct speed_user *user);
struct speed_user *speed_user_hold(struct speed_user *user);
unsigned long speed_user_max(const struct speed_user *user, unsigned long all);
long *speed_user_mapped(struct speed_user *user);
void speed_charge_group_of(struct sock *child, const struct sock *listener);
int speed_charge_bounds(struct net *net, struct speed_user *user, size_t bytes);
void speed_uncharge_bounds(struct net *net, struct speed_user *user, size_t bytes);
bool speed_charge_short(struct net *net, size_t bytes);
bool speed_user_short(const struct speed_user *user, size_t bytes);
int speed_charge(struct sock *sk, size_t bytes);
void speed_uncharge(struct sock *sk, size_t bytes);
void speed_charge_end(struct sock *sk);
void speed_charge_exit(void);

#endif
