// SPDX-License-Identifier: GPL-2.0
/* Bytes in, by an actor: see diff_work.h. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "diff_do.h"

#define CANARY		0xa5
#define CANARY_MOST	16384

/* Bytes that stay in the stream go here. */
static unsigned char aside[DIFF_SENT_MOST];

static bool stays(const struct diff_call *c)
{
	return c->s->words & (DW_PEEK | DW_OOB | DW_ERRQUEUE);
}

static void *target(struct diff_call *c)
{
	unsigned char *bad = diff_bad_memory();

	if (c->s->words & DW_NULL)
		return NULL;
	if (c->s->words & DW_BAD)
		return bad;
	if (c->s->words & DW_TAIL)
		return bad - c->s->number / 2;
	return stays(c) ? aside : diff_capture[c->end] + c->o->dst;
}

static void note_control(struct diff_result *r, struct msghdr *m)
{
	struct cmsghdr *h;

	r->flags = m->msg_flags & ~MSG_CMSG_CLOEXEC;
	r->has |= DR_FLAGS;
	for (h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
		if (h->cmsg_level == IPPROTO_TCP && h->cmsg_type == TCP_CM_INQ) {
			memcpy(&r->inq, CMSG_DATA(h), sizeof(r->inq));
			r->has |= DR_INQ;
		}
	}
	r->value = m->msg_namelen;
	r->has |= DR_VALUE;
}

static long recv_message(struct diff_call *c, void *buf, size_t len, int flags)
{
	struct sockaddr_storage name;
	char control[256];
	struct iovec iov[3];
	struct msghdr m = {
		.msg_iov = iov, .msg_control = control, .msg_controllen = sizeof(control),
		.msg_name = &name, .msg_namelen = sizeof(name),
	};
	long ret;

	m.msg_iovlen = diff_cut(iov, buf, len);
	ret = recvmsg(c->fd, &m, flags);
	if (ret >= 0)
		note_control(c->r, &m);
	return ret;
}

static long recv_from(struct diff_call *c, void *buf, size_t len, int flags)
{
	struct sockaddr_storage name;
	socklen_t namelen = sizeof(name);
	long ret = recvfrom(c->fd, buf, len, flags, (struct sockaddr *)&name, &namelen);

	c->r->value = ret < 0 ? 0 : namelen;
	c->r->has |= DR_VALUE;
	return ret;
}

static long recv_vector(struct diff_call *c, void *buf, size_t len)
{
	struct iovec iov[3];

	return readv(c->fd, iov, diff_cut(iov, buf, len));
}

/* Messages that came short leave gaps, which are closed. */
static long recv_many(struct diff_call *c, unsigned char *buf, size_t len, int flags)
{
	struct mmsghdr m[3] = { 0 };
	struct iovec iov[3];
	int i, n;

	diff_cut(iov, buf, len);
	for (i = 0; i < 3; i++) {
		m[i].msg_hdr.msg_iov = &iov[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
	n = recvmmsg(c->fd, m, 3, flags | MSG_WAITFORONE, NULL);
	for (i = 0; i < n; i++) {
		if (!(c->s->words & (DW_NULL | DW_TRUNC)))
			memmove(buf + c->r->moved, iov[i].iov_base, m[i].msg_len);
		c->r->moved += m[i].msg_len;
	}
	c->r->value = n;
	c->r->has |= DR_VALUE;
	return n < 0 ? n : (long)c->r->moved;
}

static bool something_there(int fd)
{
	int n = 0;

	return !ioctl(fd, FIONREAD, &n) && n > 0;
}

/*
 * A splice takes what the pipe's slots can hold, a slot a segment, so go on while there
 * is more: how often is TCP's own affair.
 */
static long splice_out(struct diff_call *c, unsigned char *buf, size_t len)
{
	int flags = c->s->words & DW_DONTWAIT ? SPLICE_F_NONBLOCK : 0;
	int *pipe = diff_pipe(c);
	size_t done = 0;
	long n;

	do {
		n = splice(c->fd, NULL, pipe[1], NULL, len - done, flags);
		if (n <= 0)
			break;
		DIFF_MUST(read(pipe[0], buf + done, n) == n);
		done += n;
	} while (done < len && something_there(c->fd));
	return done ? (long)done : n;
}

/* Until all is there, or the end, or an error, which is told, too. */
static long drain(struct diff_call *c, unsigned char *buf, size_t len, int flags)
{
	size_t done = 0;
	long n = 1;

	while (done < len && n > 0) {
		n = recv(c->fd, buf + done, len - done < 65536 ? len - done : 65536, flags);
		if (n > 0)
			done += n;
	}
	c->r->err = n < 0 ? errno : 0;
	return done;
}

static long zerocopy_receive(struct diff_call *c, unsigned char *buf, size_t len)
{
	struct tcp_zerocopy_receive zc = {
		.copybuf_address = (uintptr_t)buf, .copybuf_len = len,
	};
	socklen_t size = sizeof(zc);
	long ret = getsockopt(c->fd, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &zc, &size);

	if (ret)
		return ret;
	c->r->value = zc.recv_skip_hint;
	c->r->has |= DR_VALUE;
	return zc.copybuf_len;
}

static long take(struct diff_call *c, void *buf, size_t len)
{
	int flags = diff_msg_flags(c->s->words);

	switch (c->s->code) {
	case DO_RECV:
		return recv(c->fd, buf, len, flags);
	case DO_READ:
		return read(c->fd, buf, len);
	case DO_READV:
		return recv_vector(c, buf, len);
	case DO_RECVMSG:
		return recv_message(c, buf, len, flags);
	case DO_RECVFROM:
		return recv_from(c, buf, len, flags);
	case DO_RECVMMSG:
		return recv_many(c, buf, len, flags);
	case DO_SPLICEOUT:
		return splice_out(c, buf, len);
	case DO_ZCRECV:
		return zerocopy_receive(c, buf, len);
	case DO_DRAIN:
		return drain(c, buf, len, flags);
	default:
		return drain(c, buf, len, MSG_DONTWAIT);
	}
}

static bool is_canary(const unsigned char *at, size_t n)
{
	while (n && *at == CANARY) {
		at++;
		n--;
	}
	return !n;
}

void diff_do_recv(struct diff_call *c)
{
	bool memory = !(c->s->words & (DW_NULL | DW_BAD | DW_TAIL));
	struct diff_result *r = c->r;
	size_t len = c->s->number;
	void *buf = target(c);
	size_t written;

	if (memory && len <= CANARY_MOST)
		memset(buf, CANARY, len);
	r->ret = take(c, buf, len);
	if (r->ret <= 0)
		return;
	written = r->ret;
	if (c->s->words & DW_TRUNC)
		written = 0;
	if (memory)
		diff_hash_bytes(r, buf, written);
	if (memory && len <= CANARY_MOST && c->s->code != DO_RECVMMSG)
		r->dirty = !is_canary((unsigned char *)buf + written, len - written);
	if (!stays(c))
		r->moved = r->ret;
}
