// SPDX-License-Identifier: GPL-2.0
/* Questions about the connection, by an actor: see diff_work.h. */
#define _GNU_SOURCE
#include <time.h>
#include <linux/errqueue.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>

#include "diff_do.h"

#define OUTQ_LOOKS	400	/* of a ms each; an acknowledgment can take 200 */

static long do_ioctl(struct diff_call *c, unsigned long what)
{
	int value = 0;
	long ret = ioctl(c->fd, what, &value);

	c->r->value = value;
	c->r->has |= DR_VALUE;
	return ret;
}

/*
 * All is acknowledged at last, unless the connection was reset; how much is not before
 * that is a matter of time.
 */
static long do_outq(struct diff_call *c)
{
	static const struct timespec ms = { 0, 1000000 };
	int looks = OUTQ_LOOKS;
	long ret = do_ioctl(c, SIOCOUTQ);

	while (!ret && c->r->value && looks-- && !diff_is_closed(c->fd)) {
		nanosleep(&ms, NULL);
		ret = do_ioctl(c, SIOCOUTQ);
	}
	return ret;
}

/* Ports are others each time. */
static long do_names(struct diff_call *c)
{
	struct sockaddr_storage a[2] = { 0 };
	socklen_t len[2] = { sizeof(a[0]), sizeof(a[1]) };
	long ret[2];
	int i;

	ret[0] = getsockname(c->fd, (struct sockaddr *)&a[0], &len[0]);
	ret[1] = getpeername(c->fd, (struct sockaddr *)&a[1], &len[1]);
	for (i = 0; i < 2; i++)
		((struct sockaddr_in *)&a[i])->sin_port = 0;
	diff_hash_bytes(c->r, a, sizeof(a));
	return ret[0] ? ret[0] : ret[1];
}

/* The state, and the bytes that came. */
static long do_info(struct diff_call *c)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);
	long ret = getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &info, &len);

	c->r->value = info.tcpi_state;
	c->r->inq = info.tcpi_bytes_received;
	c->r->has |= DR_VALUE | DR_INQ;
	return ret;
}

static long read_errors(struct diff_call *c)
{
	char control[256];
	struct msghdr m = { .msg_control = control, .msg_controllen = sizeof(control) };
	struct sock_extended_err e;
	struct cmsghdr *h;
	long ret = recvmsg(c->fd, &m, MSG_ERRQUEUE);

	if (ret < 0)
		return ret;
	c->r->flags = m.msg_flags;
	c->r->has |= DR_FLAGS | DR_VALUE;
	for (h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
		if ((h->cmsg_level != IPPROTO_IP || h->cmsg_type != IP_RECVERR) &&
		    (h->cmsg_level != IPPROTO_IPV6 || h->cmsg_type != IPV6_RECVERR))
			continue;
		memcpy(&e, CMSG_DATA(h), sizeof(e));
		c->r->value += e.ee_data - e.ee_info + 1;
		c->r->mask2 = e.ee_origin | e.ee_code << 8;
	}
	return ret;
}

/* Completions are merged as it happens; their number is not chance. */
static long do_zcdone(struct diff_call *c)
{
	long ret = read_errors(c), first = ret;

	while (!ret)
		ret = read_errors(c);
	return first;
}

void diff_do_question(struct diff_call *c)
{
	switch (c->s->code) {
	case DO_INQ:
		c->r->ret = do_ioctl(c, FIONREAD);
		break;
	case DO_OUTQ:
		c->r->ret = do_outq(c);
		break;
	case DO_ATMARK:
		c->r->ret = do_ioctl(c, SIOCATMARK);
		break;
	case DO_NAMES:
		c->r->ret = do_names(c);
		break;
	case DO_INFO:
		c->r->ret = do_info(c);
		break;
	case DO_ERRQ:
		c->r->ret = read_errors(c);
		break;
	default:
		c->r->ret = do_zcdone(c);
	}
}
