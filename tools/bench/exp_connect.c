// SPDX-License-Identifier: GPL-2.0
/*
 * connect: socket, connect, accept, one byte each way, close at both sides; one
 * connection after the other.
 */
#include <unistd.h>

#include "bench.h"
#include "transport.h"

/*
 * TCP keeps each closed connection for a minute (TIME_WAIT), and each of them
 * has a port; more would measure the lack of ports.
 */
#define CONNECTIONS_MAX	3000

static const struct door *door;	/* open in both processes */

static void put_byte(int fd)
{
	if (send(fd, "x", 1, MSG_NOSIGNAL) != 1)
		die("connect: send: %m");
}

static void get_byte(int fd)
{
	char byte;

	if (recv(fd, &byte, 1, 0) != 1)
		die("connect: recv: %m");
}

static void connects(uint64_t n)
{
	for (; n; n--) {
		int fd = door_connect(door);

		put_byte(fd);
		get_byte(fd);
		close(fd);
	}
}

static uint64_t client(struct end *e, size_t size, uint64_t n)
{
	uint64_t start;

	(void)e;
	(void)size;
	connects(n / 8 + 4);
	start = now_ns();
	connects(n);
	return now_ns() - start;
}

static uint64_t server(struct end *e, size_t size, uint64_t n)
{
	(void)e;
	(void)size;
	for (n += n / 8 + 4; n; n--) {
		int fd = door_accept(door);

		get_byte(fd);
		put_byte(fd);
		close(fd);
	}
	return 0;
}

static void no_link(const struct transport *t, struct link *l)
{
	(void)t;
	(void)l;
}

static uint64_t trial(struct series *s, uint64_t n)
{
	const struct transport none = { .name = s->transport->name, .open = no_link };
	struct door d;
	uint64_t ns;

	door_open(&d, s->transport->family(), 128);
	door = &d;
	ns = sides_run(&none, 0, n, client, server);
	door_close(&d);
	return ns;
}

void exp_connect(void)
{
	struct series all[SERIES_MAX];
	unsigned int count = series_make(all, ABLE_DOOR);
	unsigned int i;

	for (i = 0; i < count; i++) {
		all[i].size = 1;
		all[i].n_max = CONNECTIONS_MAX;
		all[i].trial = trial;
	}
	measure(all, count);
	for (i = 0; i < count; i++)
		emit("connect", &all[i], "connection", unit_of_time());
}
