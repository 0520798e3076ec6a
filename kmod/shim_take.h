/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a call that receives works with.
 */
#ifndef SPEED_SHIM_TAKE_H
#define SPEED_SHIM_TAKE_H

#include "shim.h"

/**
 * struct take - one call
 * @shim: the reader's
 * @sk: its socket
 * @pair: what shim_take() saw of its pair
 * @msg: where to
 * @len: bytes wanted in all
 * @done: bytes copied so far
 * @flags: MSG_*
 * @control: room for control messages, where time stamps are wanted
 * @controllen: its size in bytes
 * @stamps: whether they are
 * @told: TCP has told what there is to tell beside the bytes, and of the last of them
 */
struct take {
	struct shim *shim;
	struct sock *sk;
	struct speed_pair *pair;
	struct msghdr *msg;
	size_t len;
	size_t done;
	int flags;
	void *control;
	size_t controllen;
	bool stamps;
	bool told;
};

ssize_t shim_take(struct take *t);

#endif
