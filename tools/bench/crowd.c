// SPDX-License-Identifier: GPL-2.0
/* Many connections in one process. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "crowd.h"
#include "transport.h"

/* What each connection carries each way before it is left alone. */
#define CARRIED		1024
/*
 * TCP has 28,232 ports to connect from, looks through half of them for a free one
 * first, and takes ever longer as they fill: each listener has its own.
 */
#define PER_DOOR	10000

void crowd_prepare(struct crowd *c, unsigned int count)
{
	unsigned int files = 2 * count + 64;
	int high;

	raise_file_limit(files);
	c->count = count;
	c->client = malloc(count * sizeof(*c->client));
	c->server = malloc(count * sizeof(*c->server));
	if (!c->client || !c->server)
		die("no memory");
	memset(c->client, 0xff, count * sizeof(*c->client));
	memset(c->server, 0xff, count * sizeof(*c->server));
	/* The table of descriptors grows now and keeps its size. */
	high = fcntl(0, F_DUPFD_CLOEXEC, (int)files - 1);
	if (high < 0)
		die("cannot have %u descriptors: %m", files);
	close(high);
}

static void carry(int from, int to)
{
	char data[CARRIED] = { 0 };
	size_t done = 0;

	if (send(from, data, sizeof(data), MSG_NOSIGNAL) != sizeof(data))
		die("send: %m");
	while (done < sizeof(data)) {
		ssize_t n = recv(to, data, sizeof(data) - done, 0);

		if (n <= 0)
			die("recv: %m");
		done += (size_t)n;
	}
}

static uint64_t open_one(struct crowd *c, unsigned int i, const struct door *d,
			 const struct transport *t)
{
	uint64_t start = now_ns();

	c->client[i] = door_connect(d);
	c->server[i] = door_accept(d);
	carry(c->client[i], c->server[i]);
	carry(c->server[i], c->client[i]);
	start = now_ns() - start;
	if (t->fused) {
		fused_check(c->client[i], t->name);
		fused_check(c->server[i], t->name);
	}
	return start;
}

uint64_t crowd_open(struct crowd *c, const struct transport *t)
{
	uint64_t total = 0;
	struct door d;
	unsigned int i;

	for (i = 0; i < c->count; i++) {
		if (i % 1000 == 0)
			side_limit();
		if (i % PER_DOOR == 0) {
			if (i)
				door_close(&d);
			door_open(&d, t, 128);
		}
		total += open_one(c, i, &d, t);
	}
	door_close(&d);
	return total;
}

void crowd_close(struct crowd *c)
{
	/* TCP resets: nothing of it is left in TIME_WAIT for the next one to find. */
	const struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	unsigned int i;

	for (i = 0; i < c->count; i++) {
		setsockopt(c->client[i], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		close(c->client[i]);
		close(c->server[i]);
	}
	free(c->client);
	free(c->server);
}
