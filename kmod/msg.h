/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sendmsg() and recvmsg().
 */
#ifndef SPEED_MSG_H
#define SPEED_MSG_H

#include <linux/types.h>

struct msghdr;
struct socket;

int speed_stream_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
int speed_stream_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);
int speed_record_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
int speed_record_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);

#endif
