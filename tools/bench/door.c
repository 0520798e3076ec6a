// SPDX-License-Identifier: GPL-2.0
/* Listening, connecting and accepting, for the families that can. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/un.h>
#include <unistd.h>

#include "bench.h"
#include "transport.h"

static bool over_tcp(int family)
{
	return family == AF_INET || family == AF_SMC;
}

/* The shortest address that makes bind() choose one of its own. */
static socklen_t address_any(struct sockaddr_storage *address, int family)
{
	struct sockaddr_in *in = (struct sockaddr_in *)address;

	*address = (struct sockaddr_storage){ .ss_family = (sa_family_t)family };
	if (!over_tcp(family))
		return sizeof(sa_family_t);
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return sizeof(*in);
}

static void set_buffer(int fd, int option, int bytes)
{
	if (bytes && setsockopt(fd, SOL_SOCKET, option, &bytes, sizeof(bytes)))
		die("SO_SNDBUF or SO_RCVBUF: %m");
}

static void set_options(int fd, int family)
{
	int on = 1;

	if (over_tcp(family) && !opt.delay &&
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		die("TCP_NODELAY: %m");
	set_buffer(fd, SO_SNDBUF, opt.sendbuf);
	set_buffer(fd, SO_RCVBUF, opt.recvbuf);
}

void door_open(struct door *d, const struct transport *t, int backlog)
{
	int family = t->family();

	if (family == AF_INET)
		loopback_set(t->fused);
	d->family = family;
	d->type = t->type ? t->type : SOCK_STREAM;
	d->fd = socket(family, d->type | SOCK_CLOEXEC, 0);
	if (d->fd < 0)
		die("socket of family %d: %m", family);
	set_buffer(d->fd, SO_RCVBUF, opt.recvbuf);
	if (bind(d->fd, (struct sockaddr *)&d->address, address_any(&d->address, family)))
		die("bind, family %d: %m", family);
	if (listen(d->fd, backlog))
		die("listen, family %d: %m", family);
	d->len = sizeof(d->address);
	if (getsockname(d->fd, (struct sockaddr *)&d->address, &d->len))
		die("getsockname, family %d: %m", family);
}

int door_connect(const struct door *d)
{
	int fd = socket(d->family, d->type | SOCK_CLOEXEC, 0);

	if (fd < 0)
		die("socket of family %d: %m", d->family);
	set_options(fd, d->family);
	if (connect(fd, (const struct sockaddr *)&d->address, d->len))
		die("connect, family %d: %m", d->family);
	return fd;
}

int door_accept(const struct door *d)
{
	int fd = accept4(d->fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		die("accept, family %d: %m", d->family);
	set_options(fd, d->family);
	return fd;
}

void door_close(struct door *d)
{
	close(d->fd);
}

void socket_link(const struct transport *t, struct link *l)
{
	struct door d;

	door_open(&d, t, 8);
	l->end[0].in = door_connect(&d);
	l->end[0].out = l->end[0].in;
	l->end[1].in = door_accept(&d);
	l->end[1].out = l->end[1].in;
	door_close(&d);
}
