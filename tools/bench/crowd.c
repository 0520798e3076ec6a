// SPDX-License-Identifier: GPL-2.0
/* Many connections in one process. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crowd.h"

/* What each connection carries each way before it is left alone. */
#define CARRIED		1024
/*
 * TCP has 28,232 ports to connect from, looks through half of them for a free one
 * first, and takes ever longer as they fill: each listener has its own.
 */
#define PER_DOOR	10000
/* More than these are opened once, not once a run. */
#define MANY		1000
/*
 * Untimed rounds: of crowds that the library maps, more transfers than it waits for
 * before it does; of those that are more than it maps, one.
 */
#define ROUNDS_FEW	16
#define ROUNDS_MANY	1

void crowd_prepare(struct crowd *c, unsigned int count)
{
	unsigned int files = 2 * count + 64;
	int high;

	/* Opening, using and closing are told as of one processor. */
	cpu_pin(0, 1);
	raise_file_limit(files);
	*c = (struct crowd){ .count = count };
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

/* The next so many; returns what that took. */
static uint64_t open_some(struct crowd *c, const struct transport *t, unsigned int some)
{
	uint64_t total = 0;

	for (; some; some--) {
		if (c->opened % 1000 == 0)
			side_limit();
		if (c->opened % PER_DOOR == 0) {
			if (c->opened)
				door_close(&c->door);
			door_open(&c->door, t, 128);
		}
		total += open_one(c, c->opened++, &c->door, t);
	}
	if (c->opened == c->count)
		door_close(&c->door);
	return total;
}

uint64_t crowd_open(struct crowd *c, const struct transport *t)
{
	return open_some(c, t, c->count);
}

unsigned int crowd_warm(struct crowd *c)
{
	unsigned int rounds = c->count > MANY ? ROUNDS_MANY : ROUNDS_FEW, left, i;

	side_limit();
	for (left = rounds; left; left--)
		for (i = 0; i < c->count; i++) {
			carry(c->client[i], c->server[i]);
			carry(c->server[i], c->client[i]);
		}
	return rounds;
}

unsigned int crowd_mapped(void)
{
	return regions_of("[speed]") / CROWD_REGIONS;
}

static uint64_t close_some(struct crowd *c, unsigned int some)
{
	const struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	uint64_t start = now_ns();

	for (; some; some--, c->closed++) {
		setsockopt(c->client[c->closed], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		close(c->client[c->closed]);
		close(c->server[c->closed]);
	}
	return now_ns() - start;
}

static void crowd_free(struct crowd *c)
{
	free(c->client);
	free(c->server);
}

void crowd_close(struct crowd *c)
{
	close_some(c, c->count);
	crowd_free(c);
}

/* How many of all are in one of so many parts that are nearly alike. */
static unsigned int part_of(unsigned int all, unsigned int part, unsigned int parts)
{
	uint64_t n = all;

	return (unsigned int)(n * (part + 1) / parts - n * part / parts);
}

void crowd_measure(struct series *s, void (*use)(struct series *s, struct crowd *c),
		   struct crowd_times *times)
{
	unsigned int all = s->connections, parts = all > MANY ? opt.runs : 1, run, i, some;
	struct crowd c;

	for (run = 0; run < opt.runs; run += parts) {
		crowd_prepare(&c, all);
		for (i = 0; i < parts; i++) {
			some = part_of(all, i, parts);
			times->open[run + i] = (double)open_some(&c, s->transport, some) / some;
		}
		if (run + parts == opt.runs)
			use(s, &c);
		side_limit();
		for (i = 0; i < parts; i++) {
			some = part_of(all, i, parts);
			times->shut[run + i] = (double)close_some(&c, some) / some;
		}
		crowd_free(&c);
	}
}
