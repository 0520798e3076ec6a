// SPDX-License-Identifier: GPL-2.0
/*
 * tools/bench/transport_fd.c under --nonblocking: no call waits, poll() does. The
 * poll() here does what the other side would, so who waited in a call would wait for ever.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../tools/bench/bench.h"
#include "../../tools/bench/transport.h"

#define SOME	(1u << 20)	/* more than a socket takes */
#define SECONDS	30

struct options opt = { .nonblocking = true };

static unsigned int polls[2];	/* for room, for bytes */
static int other;
static unsigned char data[SOME];

int speed_family_or_die(void)
{
	return AF_UNIX;
}

void socket_link(const struct transport *t, struct link *l)
{
	(void)t;
	(void)l;
}

/* What poll() is linked as: -Wl,--wrap=poll. */
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	bool for_bytes = fds->events == POLLIN;
	static unsigned char taken[SOME];
	ssize_t n;

	if (count != 1 || timeout != -1)
		die("poll of %lu, %d\n", (unsigned long)count, timeout);
	polls[for_bytes]++;
	n = for_bytes ? write(other, data, 1) : read(other, taken, sizeof(taken));
	if (n <= 0)
		die("the other side: %m\n");
	return 1;
}

int main(void)
{
	struct end e = { .transport = &transport_unix };
	unsigned char byte;
	int both[2];

	alarm(SECONDS);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both))
		die("socketpair: %m\n");
	e.in = both[0];
	e.out = both[0];
	other = both[1];
	socket_get(&e, &byte, 1);
	socket_put(&e, data, sizeof(data));
	printf("polled %u times for bytes, %u for room\n", polls[1], polls[0]);
	return polls[1] != 1 || !polls[0];
}
