// SPDX-License-Identifier: GPL-2.0
/*
 * ZeroMQ over ipc: a pair of sockets of libzmq, whose own threads move the messages
 * through an AF_UNIX socket. Messages keep their bounds. Only in the program that is
 * linked with the libraries.
 */
#define _GNU_SOURCE
#include "bench.h"
#include "transport.h"

#ifdef FULL

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zmq.h>

struct rival {
	void *context;
	void *socket;
	char path[48];
};

/* Both ends of a link know one name; they meet when both have entered. */
static void zmq_open(const struct transport *t, struct link *l)
{
	static unsigned int count;
	int side;

	(void)t;
	for (side = 0; side < 2; side++) {
		struct rival *r = calloc(1, sizeof(*r));

		if (!r)
			die("no memory");
		snprintf(r->path, sizeof(r->path), "/tmp/speedbench.%d.%u", (int)getpid(), count);
		l->end[side].rival = r;
	}
	count++;
}

static void zmq_enter(struct end *e)
{
	struct rival *r = e->rival;
	char address[64];
	int linger = -1;

	snprintf(address, sizeof(address), "ipc://%s", r->path);
	r->context = zmq_ctx_new();
	r->socket = zmq_socket(r->context, ZMQ_PAIR);
	if (!r->socket)
		die("zmq_socket: %s", zmq_strerror(zmq_errno()));
	zmq_setsockopt(r->socket, ZMQ_LINGER, &linger, sizeof(linger));
	if (e->side ? zmq_bind(r->socket, address) : zmq_connect(r->socket, address))
		die("zmq: %s: %s", address, zmq_strerror(zmq_errno()));
}

/* What is still under way is sent first: each side waits for that. */
static void zmq_leave(struct end *e)
{
	zmq_close(e->rival->socket);
	zmq_ctx_term(e->rival->context);
	if (e->side)
		unlink(e->rival->path);
	free(e->rival);
}

static void zmq_put(struct end *e, const void *from, size_t len)
{
	if (zmq_send(e->rival->socket, from, len, 0) != (int)len)
		die("zmq_send: %s", zmq_strerror(zmq_errno()));
}

static size_t zmq_get_some(struct end *e, void *to, size_t len)
{
	int n = zmq_recv(e->rival->socket, to, len, 0);

	if (n < 0)
		die("zmq_recv: %s", zmq_strerror(zmq_errno()));
	if ((size_t)n > len)
		die("zmq_recv: %d bytes where %zu were expected", n, len);
	return (size_t)n;
}

static void zmq_get(struct end *e, void *to, size_t len)
{
	if (zmq_get_some(e, to, len) != len)
		die("zmq: a short message");
}

static const char *zmq_missing(void)
{
	return NULL;
}

#else

#define zmq_open	NULL
#define zmq_enter	NULL
#define zmq_leave	NULL
#define zmq_put		NULL
#define zmq_get		NULL
#define zmq_get_some	NULL

static const char *zmq_missing(void)
{
	return "this speedbench is not linked with libzmq";
}

#endif

const struct transport transport_zmq = {
	.name = "zmq",
	.why_unable = "libzmq's threads make its connections, when they like",
	.able = ABLE_LINK | ABLE_STREAM,
	.missing = zmq_missing,
	.open = zmq_open,
	.enter = zmq_enter,
	.leave = zmq_leave,
	.put = zmq_put,
	.get = zmq_get,
	.get_some = zmq_get_some,
};
