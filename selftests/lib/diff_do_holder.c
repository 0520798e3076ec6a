// SPDX-License-Identifier: GPL-2.0
/* Who holds the connection, and until when, by an actor: see diff_work.h. */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "diff_do.h"

static long do_shutdown(struct diff_call *c)
{
	uint32_t how = c->s->words & (DW_RD | DW_WR);

	if (how == DW_RD)
		return shutdown(c->fd, SHUT_RD);
	if (how == DW_WR)
		return shutdown(c->fd, SHUT_WR);
	return shutdown(c->fd, how ? SHUT_RDWR : 99);
}

static long do_close(struct diff_call *c)
{
	long ret = close(c->fd);

	c->p->fd[c->s->fd] = -1;
	return ret;
}

static long do_disconnect(struct diff_call *c)
{
	struct sockaddr nowhere = { .sa_family = AF_UNSPEC };

	return connect(c->fd, &nowhere, sizeof(nowhere));
}

static long do_dup(struct diff_call *c)
{
	int *other = &c->p->fd[!c->s->fd];

	if (*other >= 0)
		return diff_fail(EEXIST);
	*other = dup(c->fd);
	return *other < 0 ? -1 : 0;
}

/* The two processes of an end have the two ends of a socketpair. */
static int passage(struct diff_call *c)
{
	return diff_passage[c->end][(c->p - diff_shared->proc) % 3 == 1];
}

static long do_pass(struct diff_call *c)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 'p';
	struct iovec iov = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &c->fd, sizeof(int));
	return sendmsg(passage(c), &m, MSG_DONTWAIT);
}

static long do_take(struct diff_call *c)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control),
	};
	long ret = recvmsg(passage(c), &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	DIFF_MUST(ret == 1 && h && h->cmsg_type == SCM_RIGHTS);
	memcpy(&c->p->fd[c->s->fd], CMSG_DATA(h), sizeof(int));
	return 0;
}

static void forget(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* As it was before the program. Pipes are kept: they are empty. */
static long do_reset(struct diff_call *c)
{
	int i;

	for (i = 0; i < DIFF_FDS; i++)
		forget(&c->p->fd[i]);
	forget(&c->p->listener);
	forget(&c->p->epoll);
	diff_take_signals(c->r, true);
	return 0;
}

void diff_do_holder(struct diff_call *c)
{
	switch (c->s->code) {
	case DO_SHUTDOWN:
		c->r->ret = do_shutdown(c);
		break;
	case DO_CLOSE:
		c->r->ret = do_close(c);
		break;
	case DO_DISCONNECT:
		c->r->ret = do_disconnect(c);
		break;
	case DO_DUP:
		c->r->ret = do_dup(c);
		break;
	case DO_FORK:
		c->r->ret = diff_fork(c->p - diff_shared->proc) < 0 ? -1 : 0;
		break;
	case DO_PASS:
		c->r->ret = do_pass(c);
		break;
	case DO_TAKE:
		c->r->ret = do_take(c);
		break;
	default:
		c->r->ret = do_reset(c);
	}
}
