// SPDX-License-Identifier: GPL-2.0
/*
 * ioctls of AF_SPEED: how much is there. Those of mapped roles are in map_wait.c.
 */
#include <linux/compat.h>
#include <linux/sockios.h>
#include <linux/uaccess.h>
#include <net/sock.h>

#include <asm/ioctls.h>

#include "family.h"
#include "ring.h"
#include "rx.h"
#include "sockopt.h"

/* Bytes to read, of a SOCK_SEQPACKET those of all messages. */
static int readable_bytes(struct sock *sk, struct speed_pair *pair)
{
	if (READ_ONCE(sk->sk_state) == TCP_LISTEN)
		return -EINVAL;
	if (!pair)
		return 0;
	if (sk->sk_type == SOCK_SEQPACKET)
		return speed_rx_payload(sk);
	return min_t(u64, speed_ring_fill(&pair->ring[!speed_sk(sk)->end]), INT_MAX);
}

/* Bytes that the peer has not read. */
static int unread_bytes(struct sock *sk, struct speed_pair *pair)
{
	if (READ_ONCE(sk->sk_state) == TCP_LISTEN)
		return -EINVAL;
	if (!pair)
		return 0;
	return min_t(u64, speed_ring_fill(&pair->ring[speed_sk(sk)->end]), INT_MAX);
}

static int put_count(int n, unsigned long arg)
{
	return n < 0 ? n : put_user(n, (int __user *)arg);
}

/**
 * speed_ioctl() - ioctl()
 * @sock: the socket
 * @cmd: what
 * @arg: its argument
 *
 * Return: 0 or the error; -ENOIOCTLCMD for what is not known here.
 */
int speed_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct sock *sk = sock->sk;
	struct speed_pair *pair = speed_sk_pair(sk);

	switch (cmd) {
	case SPEED_IOC_WAKE:
	case SPEED_IOC_WAIT:
	case SPEED_IOC_EPOLL:
		return speed_ioctl_mapped(sock, pair, speed_sk(sk)->end, cmd, arg);
	case SIOCINQ:
		return put_count(readable_bytes(sk, pair), arg);
	case SIOCOUTQ:
		return put_count(unread_bytes(sk, pair), arg);
	default:
		return -ENOIOCTLCMD;
	}
}

#ifdef CONFIG_COMPAT
/**
 * speed_compat_ioctl() - ioctl() of a 32-bit program
 * @sock: the socket
 * @cmd: what
 * @arg: its argument, a pointer but for SPEED_IOC_WAKE and SPEED_IOC_EPOLL
 *
 * Return: as speed_ioctl().
 */
int speed_compat_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	if (cmd != SPEED_IOC_WAKE && cmd != SPEED_IOC_EPOLL)
		arg = (unsigned long)compat_ptr(arg);
	return speed_ioctl(sock, cmd, arg);
}
#endif
