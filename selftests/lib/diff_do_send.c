// SPDX-License-Identifier: GPL-2.0
/* Bytes out, by an actor: see diff_work.h. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "diff_do.h"

int diff_cut(struct iovec *iov, void *buf, size_t len)
{
	iov[0] = (struct iovec){ buf, len / 3 };
	iov[1] = (struct iovec){ buf, 0 };
	iov[2] = (struct iovec){ (char *)buf + len / 3, len - len / 3 };
	return 3;
}

/* Of this actor alone: a splice that waits holds its pipe's lock, and cannot be got past. */
int *diff_pipe(struct diff_call *c)
{
	int *pipe = c->p->pipe[c->s->actor % 4 == 1];

	if (pipe[0] < 0)
		DIFF_MUST(!pipe2(pipe, O_CLOEXEC | O_NONBLOCK));
	return pipe;
}

/* Where the bytes come from; half of a "tail" lies before the missing memory. */
static void *source(struct diff_call *c)
{
	unsigned char *bytes = diff_source + c->o->src, *bad = diff_bad_memory();
	size_t half = c->s->number / 2;

	if (c->s->words & DW_NULL)
		return NULL;
	if (c->s->words & DW_BAD)
		return bad;
	if (c->s->words & DW_TAIL)
		return memcpy(bad - half, bytes, half);
	return bytes;
}

static long send_many(struct diff_call *c, void *buf, size_t len, int flags)
{
	struct mmsghdr m[3] = { 0 };
	struct iovec iov[3];
	int i, n;

	diff_cut(iov, buf, len);
	for (i = 0; i < 3; i++) {
		m[i].msg_hdr.msg_iov = &iov[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
	n = sendmmsg(c->fd, m, 3, flags);
	for (i = 0; i < n; i++)
		c->r->moved += m[i].msg_len;
	return n;
}

static long send_message(struct diff_call *c, void *buf, size_t len, int flags)
{
	struct iovec iov[3];
	struct msghdr m = { .msg_iov = iov };

	m.msg_iovlen = diff_cut(iov, buf, len);
	return sendmsg(c->fd, &m, flags);
}

static long send_to(struct diff_call *c, void *buf, size_t len, int flags)
{
	struct sockaddr_storage a;
	socklen_t alen = diff_address(c->o->net, &a);

	return sendto(c->fd, buf, len, flags, (struct sockaddr *)&a, alen);
}

static long send_vector(struct diff_call *c, void *buf, size_t len)
{
	struct iovec iov[3];

	return writev(c->fd, iov, diff_cut(iov, buf, len));
}

static long send_file(struct diff_call *c, size_t len)
{
	off_t at = c->o->src;

	return sendfile(c->fd, diff_source_fd, &at, len);
}

/* What the socket did not take must not stay in the pipe. */
static long splice_in(struct diff_call *c, size_t len)
{
	int flags = (c->s->words & DW_MORE ? SPLICE_F_MORE : 0) |
		    (c->s->words & DW_DONTWAIT ? SPLICE_F_NONBLOCK : 0);
	int *pipe = diff_pipe(c), err;
	char rest[4096];
	long ret;

	if (len > 65536)
		len = 65536;
	DIFF_MUST(write(pipe[1], diff_source + c->o->src, len) == (ssize_t)len);
	ret = splice(pipe[0], NULL, c->fd, NULL, len, flags);
	err = errno;
	while (read(pipe[0], rest, sizeof(rest)) > 0)
		;
	errno = err;
	return ret;
}

void diff_do_send(struct diff_call *c)
{
	int flags = diff_msg_flags(c->s->words);
	struct diff_result *r = c->r;
	size_t len = c->s->number;
	void *buf = source(c);

	switch (c->s->code) {
	case DO_SEND:
		r->ret = send(c->fd, buf, len, flags);
		break;
	case DO_WRITE:
		r->ret = write(c->fd, buf, len);
		break;
	case DO_WRITEV:
		r->ret = send_vector(c, buf, len);
		break;
	case DO_SENDMSG:
		r->ret = send_message(c, buf, len, flags);
		break;
	case DO_SENDTO:
		r->ret = send_to(c, buf, len, flags);
		break;
	case DO_SENDMMSG:
		r->ret = send_many(c, buf, len, flags);
		return;
	case DO_SENDFILE:
		r->ret = send_file(c, len);
		break;
	default:
		r->ret = splice_in(c, len);
	}
	if (r->ret > 0)
		r->moved = r->ret;
}
