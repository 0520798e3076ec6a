// SPDX-License-Identifier: GPL-2.0
/* Options, by an actor: see diff_work.h. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/speed.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "diff_do.h"

static long set_file_flag(int fd, int flag, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return flags;
	return fcntl(fd, F_SETFL, on ? flags | flag : flags & ~flag);
}

static long set_async(int fd, bool on)
{
	if (fcntl(fd, F_SETOWN, getpid()))
		return -1;
	return set_file_flag(fd, O_ASYNC, on);
}

static long set_linger(int fd, int seconds)
{
	struct linger l = { .l_onoff = seconds >= 0, .l_linger = seconds < 0 ? 0 : seconds };

	return setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
}

static long set_time(int fd, const struct diff_opt *o, int ms)
{
	struct timeval t = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	return setsockopt(fd, o->level, o->optname, &t, sizeof(t));
}

/* One that lets all through. */
static long set_filter(int fd, bool on)
{
	struct sock_filter pass = BPF_STMT(BPF_RET | BPF_K, 0xffffffff);
	struct sock_fprog program = { .len = 1, .filter = &pass };
	int none = 0;

	if (on)
		return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
	return setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof(none));
}

/* Into repair and out of it again, without a window probe. */
static long set_repair(int fd)
{
	int on = 1, off = -1;
	long ret = setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on));

	return ret ? ret : setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &off, sizeof(off));
}

long diff_set_option(struct diff_call *c, int fd)
{
	const struct diff_opt *o = &diff_opts[c->s->opt];
	int value = c->s->number;

	switch (o->kind) {
	case DK_TIME:
		return set_time(fd, o, value);
	case DK_LINGER:
		return set_linger(fd, value);
	case DK_NONBLOCK:
		return set_file_flag(fd, O_NONBLOCK, value);
	case DK_ASYNC:
		return set_async(fd, value);
	case DK_FILTER:
		return set_filter(fd, value);
	case DK_REPAIR:
		return set_repair(fd);
	case DK_ULP:
		return setsockopt(fd, o->level, o->optname, value ? "tls" : "none", value ? 3 : 4);
	default:
		return setsockopt(fd, o->level, o->optname, &value, sizeof(value));
	}
}

static long get_time(int fd, const struct diff_opt *o, struct diff_result *r)
{
	struct timeval t = { 0 };
	socklen_t len = sizeof(t);
	long ret = getsockopt(fd, o->level, o->optname, &t, &len);

	r->value = t.tv_sec * 1000000 + t.tv_usec;
	return ret;
}

static long get_linger(int fd, struct diff_result *r)
{
	struct linger l = { 0 };
	socklen_t len = sizeof(l);
	long ret = getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &len);

	r->value = l.l_onoff ? l.l_linger : -1;
	return ret;
}

static long get_option(struct diff_call *c)
{
	const struct diff_opt *o = &diff_opts[c->s->opt];
	int value = 0;
	socklen_t len = sizeof(value);
	long ret;

	c->r->has |= DR_VALUE;
	switch (o->kind) {
	case DK_TIME:
		return get_time(c->fd, o, c->r);
	case DK_LINGER:
		return get_linger(c->fd, c->r);
	case DK_NONBLOCK:
	case DK_ASYNC:
		ret = fcntl(c->fd, F_GETFL);
		c->r->value = ret < 0 ? 0 : ret;
		return ret < 0 ? ret : 0;
	default:
		ret = getsockopt(c->fd, o->level, o->optname, &value, &len);
		c->r->value = value;
		return ret;
	}
}

void diff_do_option(struct diff_call *c)
{
	unsigned int value = c->s->number;

	if (c->s->code == DO_GET)
		c->r->ret = get_option(c);
	else if (c->s->code == DO_SET)
		c->r->ret = diff_set_option(c, c->fd);
	else
		c->r->ret = setsockopt(c->fd, SOL_SPEED, SPEED_FUSE, &value, sizeof(value));
}
