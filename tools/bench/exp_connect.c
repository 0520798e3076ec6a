// SPDX-License-Identifier: GPL-2.0
/*
 * connect: socket, connect, accept, one byte each way, close at both sides; one
 * connection after the other. With --silent no byte: the server closes, the
 * client reads the end and closes.
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

static void get_end(int fd)
{
	char byte;

	if (recv(fd, &byte, 1, 0))
		die("connect: no end where one is due: %m");
}

static void connects(uint64_t n)
{
	for (; n; n--) {
		int fd = door_connect(door);

		if (opt.silent) {
			get_end(fd);
		} else {
			put_byte(fd);
			get_byte(fd);
		}
		close(fd);
	}
}

static void accepts(uint64_t n)
{
	for (; n; n--) {
		int fd = door_accept(door);

		if (!opt.silent) {
			get_byte(fd);
			put_byte(fd);
		}
		close(fd);
	}
}

/* Before those that are counted, one that is asked whether it is fused. */
static void connect_asked(const struct transport *t)
{
	int fd = door_connect(door);

	put_byte(fd);
	get_byte(fd);
	fused_check(fd, t->name);
	put_byte(fd);
	get_byte(fd);
	close(fd);
}

static void accept_asked(const struct transport *t)
{
	int fd = door_accept(door);

	get_byte(fd);
	put_byte(fd);
	get_byte(fd);
	fused_check(fd, t->name);
	put_byte(fd);
	close(fd);
}

static uint64_t client(struct end *e, size_t size, uint64_t n)
{
	uint64_t start;

	(void)size;
	if (e->transport->fused)
		connect_asked(e->transport);
	connects(n / 8 + 4);
	start = now_ns();
	connects(n);
	return now_ns() - start;
}

static uint64_t server(struct end *e, size_t size, uint64_t n)
{
	(void)size;
	if (e->transport->fused)
		accept_asked(e->transport);
	accepts(n + n / 8 + 4);
	return 0;
}

static void no_link(const struct transport *t, struct link *l)
{
	(void)t;
	(void)l;
}

/*
 * What a trial must add to the module's counters: nothing where TCP is plain; else
 * a pair for each connection, and a move to the ring for each byte's direction.
 */
static uint64_t counted(bool fused)
{
	if (!fused)
		return fused_count("tcp_attached");
	return opt.silent ? fused_count("tcp_paired") : fused_count("tcp_fused") / 2;
}

uint64_t connect_trial(struct series *s, uint64_t n)
{
	const struct transport none = {
		.name = s->transport->name, .open = no_link, .fused = s->transport->fused,
	};
	uint64_t ns, before = counted(none.fused), after;
	struct door d;

	door_open(&d, s->transport, 128);
	door = &d;
	ns = sides_run(&none, 0, n, client, server);
	door_close(&d);
	after = counted(none.fused);
	if (none.fused ? after - before < n : after != before)
		die("connect over %s: %llu connections, %llu of them fused", none.name,
		    (unsigned long long)n, (unsigned long long)(after - before));
	return ns;
}

void exp_connect(void)
{
	const char *name = opt.silent ? "connect-silent" : "connect";
	struct series all[SERIES_MAX];
	unsigned int count = series_make(all, ABLE_DOOR);
	unsigned int i;

	for (i = 0; i < count; i++) {
		all[i].size = opt.silent ? 0 : 1;
		all[i].n_max = CONNECTIONS_MAX;
		all[i].trial = connect_trial;
	}
	measure(all, count);
	for (i = 0; i < count; i++)
		emit(name, &all[i], "connection", unit_of_time());
}
