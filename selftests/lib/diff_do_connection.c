// SPDX-License-Identifier: GPL-2.0
/* Making the connection, by an actor: see diff_work.h. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "diff_do.h"

#define DEFER_SECONDS	5
#define PORT_OF_NOBODY	1

/* One of a net's two sides. */
struct diff_side {
	int family;
	const char *address;
};

static const struct diff_side listening[DIFF_NETS] = {
	[DN_V4] = { AF_INET, "127.0.0.1" },
	[DN_V6] = { AF_INET6, "::1" },
	[DN_MAPPED] = { AF_INET, "127.0.0.1" },
	[DN_DUAL] = { AF_INET6, "::" },
	[DN_ALIAS] = { AF_INET, "127.9.8.7" },
};

static const struct diff_side connecting[DIFF_NETS] = {
	[DN_V4] = { AF_INET, "127.0.0.1" },
	[DN_V6] = { AF_INET6, "::1" },
	[DN_MAPPED] = { AF_INET6, "::ffff:127.0.0.1" },
	[DN_DUAL] = { AF_INET, "127.0.0.1" },
	[DN_ALIAS] = { AF_INET, "127.9.8.7" },
};

static socklen_t address_of(const struct diff_side *side, int port, struct sockaddr_storage *to)
{
	struct sockaddr_in6 *six = (void *)to;
	struct sockaddr_in *four = (void *)to;

	memset(to, 0, sizeof(*to));
	to->ss_family = side->family;
	if (side->family == AF_INET) {
		four->sin_port = htons(port);
		inet_pton(AF_INET, side->address, &four->sin_addr);
		return sizeof(*four);
	}
	six->sin6_port = htons(port);
	inet_pton(AF_INET6, side->address, &six->sin6_addr);
	return sizeof(*six);
}

socklen_t diff_address(enum diff_net net, struct sockaddr_storage *to)
{
	return address_of(&connecting[net], diff_shared->port, to);
}

static long do_listen(struct diff_call *c)
{
	const struct diff_side *side = &listening[c->o->net];
	int one = 1, zero = 0, defer = DEFER_SECONDS;
	struct sockaddr_storage a;
	socklen_t len = address_of(side, 0, &a);

	if (c->p->listener >= 0)
		return diff_fail(EEXIST);
	c->p->listener = socket(side->family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	DIFF_MUST(c->p->listener >= 0);
	setsockopt(c->p->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (c->o->net == DN_DUAL)
		setsockopt(c->p->listener, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (c->s->words & DW_DEFER)
		setsockopt(c->p->listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer, sizeof(defer));
	DIFF_MUST(!bind(c->p->listener, (struct sockaddr *)&a, len));
	DIFF_MUST(!listen(c->p->listener, 8));
	DIFF_MUST(!getsockname(c->p->listener, (struct sockaddr *)&a, &len));
	diff_shared->port = ntohs(((struct sockaddr_in *)&a)->sin_port);
	return 0;
}

static long do_socket(struct diff_call *c)
{
	int flags = SOCK_CLOEXEC | (c->s->words & DW_NONBLOCK ? SOCK_NONBLOCK : 0);

	if (c->fd >= 0)
		return diff_fail(EEXIST);
	c->p->fd[c->s->fd] = socket(connecting[c->o->net].family, SOCK_STREAM | flags, 0);
	DIFF_MUST(c->p->fd[c->s->fd] >= 0);
	return 0;
}

static long do_connect(struct diff_call *c)
{
	int port = c->s->words & DW_REFUSED ? PORT_OF_NOBODY : diff_shared->port;
	struct sockaddr_storage a;
	socklen_t len = address_of(&connecting[c->o->net], port, &a);

	return connect(c->fd, (struct sockaddr *)&a, len);
}

/* The address that accept tells, without the port, which is another each time. */
static void note_peer(struct diff_result *r, struct sockaddr_storage *a, socklen_t len)
{
	((struct sockaddr_in *)a)->sin_port = 0;
	diff_hash_bytes(r, a, len);
}

static long do_accept(struct diff_call *c)
{
	int flags = SOCK_CLOEXEC | (c->s->words & DW_NONBLOCK ? SOCK_NONBLOCK : 0);
	struct sockaddr_storage a = { 0 };
	socklen_t len = sizeof(a);
	int fd;

	if (c->fd >= 0)
		return diff_fail(EEXIST);
	fd = accept4(c->p->listener, (struct sockaddr *)&a, &len, flags);
	if (fd < 0)
		return fd;
	note_peer(c->r, &a, len);
	c->p->fd[c->s->fd] = fd;
	return 0;
}

static long do_lclose(struct diff_call *c)
{
	long ret = close(c->p->listener);

	c->p->listener = -1;
	return ret;
}

void diff_do_connection(struct diff_call *c)
{
	switch (c->s->code) {
	case DO_LISTEN:
		c->r->ret = do_listen(c);
		break;
	case DO_LSET:
		c->r->ret = diff_set_option(c, c->p->listener);
		break;
	case DO_SOCKET:
		c->r->ret = do_socket(c);
		break;
	case DO_CONNECT:
		c->r->ret = do_connect(c);
		break;
	case DO_ACCEPT:
		c->r->ret = do_accept(c);
		break;
	default:
		c->r->ret = do_lclose(c);
	}
}
