// SPDX-License-Identifier: GPL-2.0
/*
 * capacity: how many bytes a sender can write while nobody reads, in writes of
 * --size bytes (65536), with the settings that sockets have by default. A program
 * that writes much before it reads stalls for ever where this is less than what
 * it was made for.
 *
 * A connection may take more a while after it has refused: it is full when it
 * has refused for some time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "transport.h"

#define PAUSE_NS	10000000	/* between two tries */
#define REFUSALS	200		/* in a row: two seconds */
#define BYTES_MAX	(1ull << 30)

static unsigned char data[BUFFER_MAX];

static void wait_a_little(void)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	nanosleep(&pause, NULL);
}

static uint64_t fill_up(const struct transport *t, int fd, size_t size)
{
	unsigned int refusals = 0;
	uint64_t total = 0;

	while (refusals < REFUSALS) {
		ssize_t n = send(fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			die("capacity: %s: send: %m", t->name);
		if (n < 0) {
			refusals++;
			wait_a_little();
			continue;
		}
		if (!total && t->fused)
			fused_check_sender(fd, t->name);
		refusals = 0;
		total += (uint64_t)n;
		if (total > BYTES_MAX)
			die("capacity: %s takes more than %llu bytes", t->name, BYTES_MAX);
	}
	return total;
}

/* All that was taken must arrive: a figure of lost bytes would be the best one. */
static void drain(const struct transport *t, int fd, uint64_t left)
{
	while (left) {
		ssize_t n = recv(fd, data, sizeof(data), MSG_DONTWAIT);

		if (n > 0)
			left -= (uint64_t)n;
		else if (!n || errno != EAGAIN)
			die("capacity: %s: recv, %llu bytes missing: %m", t->name,
			    (unsigned long long)left);
		else
			wait_a_little();
	}
}

static uint64_t trial(struct series *s, uint64_t n)
{
	const struct transport *t = s->transport;
	struct link l;
	uint64_t total;

	(void)n;
	side_limit();
	t->open(t, &l);
	total = fill_up(t, l.end[0].out, s->size);
	drain(t, l.end[1].in, total);
	close(l.end[0].out);
	close(l.end[1].in);
	return total;
}

void exp_capacity(void)
{
	struct series all[SERIES_MAX];
	unsigned int count = series_make(all, ABLE_DOOR);
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!all[i].size)
			all[i].size = 65536;
		all[i].trial = trial;
		all[i].n = 1;
	}
	measure_given(all, count);
	for (i = 0; i < count; i++)
		emit("capacity", &all[i], "unread", "bytes");
}
