// SPDX-License-Identifier: GPL-2.0
/*
 * jipc: --messages (10,000) of four bytes, in the ways of tcptalk (one connection),
 * tcpslow (a connection a message) and Jipc (send, receive, reply). Each is done for
 * several numbers n of messages, and its cost fitted as a + b n by least squares:
 *
 *	talk_connection, talk_message	one connection, messages one way: a and b
 *	slow_once, slow_message		a connection for each message: a (what only the first
 *				one costs) and b
 *	call_connection, call_message	one connection, each message answered: a and b; of
 *				speed-call by speed_call() and speed_reply_wait(),
 *				each of which sends, wakes and waits in one entry
 *	implied_once, implied_message	AF_SPEED: sendto() connects and sends, in one call
 *	crossover			the n from which one connection costs less
 *	talk_elapsed and so on		all of them, as measured; messages: how many
 *	talk_leases and so on		speedrun: rings that the library was lent meanwhile
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "transport.h"

#define BYTES		4
#define POINTS		5	/* each a tenth of the next one */

enum { TALK, SLOW, CALL, IMPLIED, MAPPED_CALL, WAYS };

static const struct door *door;	/* open in both processes */
static int ready[2];		/* the server is about to accept */
static int done[2];		/* it has everything */

static void put(int fd)
{
	if (send(fd, "jipc", BYTES, MSG_NOSIGNAL) != BYTES)
		die("jipc: send: %m");
}

static void get(int fd)
{
	char data[BYTES];

	if (recv(fd, data, BYTES, MSG_WAITALL) != BYTES)
		die("jipc: recv: %m");
}

static void get_end(int fd)
{
	char byte;

	if (recv(fd, &byte, 1, 0))
		die("jipc: no end where one is due: %m");
}

/* The server closes first, so the next connection does not outrun it. */
static void slow(uint64_t n, bool implied)
{
	for (; n; n--) {
		int fd;

		if (implied) {
			fd = socket(door->family, SOCK_STREAM | SOCK_CLOEXEC, 0);
			if (fd < 0 || sendto(fd, "jipc", BYTES, MSG_NOSIGNAL,
					     (const void *)&door->address, door->len) != BYTES)
				die("jipc: sendto: %m");
		} else {
			fd = door_connect(door);
			put(fd);
		}
		get_end(fd);
		close(fd);
	}
}

static void talk(uint64_t n, bool answered)
{
	int fd = door_connect(door);

	for (; n; n--) {
		put(fd);
		if (answered)
			get(fd);
	}
	shutdown(fd, SHUT_WR);
	get_end(fd);
	close(fd);
}

static void serve_talk(uint64_t n, bool answered)
{
	int fd = door_accept(door);

	for (; n; n--) {
		get(fd);
		if (answered)
			put(fd);
	}
	get_end(fd);
	close(fd);
}

static void serve_slow(uint64_t n)
{
	for (; n; n--) {
		int fd = door_accept(door);

		get(fd);
		close(fd);
	}
}

static struct end mapped_end(int fd)
{
	struct end e = { .transport = &transport_call, .in = fd, .out = fd };

	transport_call.enter(&e);
	return e;
}

/* Its figures have been read before a byte by plain calls says so: then either may close. */
static void call_mapped(uint64_t n)
{
	int fd = door_connect(door);
	struct end e = mapped_end(fd);
	char data[BYTES];

	for (; n; n--)
		transport_call.call(&e, data, BYTES);
	transport_call.leave(&e);
	get(fd);
	shutdown(fd, SHUT_WR);
	get_end(fd);
	close(fd);
}

static void serve_mapped(uint64_t n)
{
	int fd = door_accept(door);
	struct end e = mapped_end(fd);
	char data[BYTES];

	transport_call.get(&e, data, BYTES);
	while (--n)
		transport_call.reply_wait(&e, data, BYTES);
	transport_call.put(&e, data, BYTES);
	transport_call.leave(&e);
	put(fd);
	get_end(fd);
	close(fd);
}

/* The way is told where other trials tell the size of a message. */
static uint64_t client(struct end *e, size_t way, uint64_t n)
{
	uint64_t start;
	char byte;

	(void)e;
	if (read(ready[0], &byte, 1) != 1)
		die("jipc: the server did not begin");
	start = now_ns();
	if (way == MAPPED_CALL)
		call_mapped(n);
	else if (way == TALK || way == CALL)
		talk(n, way == CALL);
	else
		slow(n, way == IMPLIED);
	start = now_ns() - start;
	if (read(done[0], &byte, 1) != 1)
		die("jipc: the server did not finish");
	return start;
}

static uint64_t server(struct end *e, size_t way, uint64_t n)
{
	(void)e;
	if (write(ready[1], "x", 1) != 1)
		die("jipc: %m");
	if (way == MAPPED_CALL)
		serve_mapped(n);
	else if (way == TALK || way == CALL)
		serve_talk(n, way == CALL);
	else
		serve_slow(n);
	if (write(done[1], "x", 1) != 1)
		die("jipc: %m");
	return 0;
}

static void no_link(const struct transport *t, struct link *l)
{
	(void)t;
	(void)l;
}

/* How many connections of a trial must be fused; where TCP is plain, none may. */
static uint64_t fused_least(const struct series *s, uint64_t n)
{
	if (!s->transport->fused)
		return 0;
	return s->param == SLOW ? n : 1;
}

static uint64_t trial(struct series *s, uint64_t n)
{
	const struct transport none = {
		.name = s->transport->name, .open = no_link, .fused = s->transport->fused,
	};
	uint64_t ns, fused = fused_count("tcp_paired");
	struct door d;

	if (pipe(ready) || pipe(done))
		die("jipc: pipe: %m");
	door_open(&d, s->transport, 128);
	door = &d;
	ns = sides_run(&none, s->param, n, client, server);
	door_close(&d);
	close(ready[0]);
	close(ready[1]);
	close(done[0]);
	close(done[1]);
	fused = fused_count("tcp_paired") - fused;
	if (fused < fused_least(s, n) || (fused && !none.fused))
		die("jipc over %s: %llu connections fused of %llu", none.name,
		    (unsigned long long)fused, (unsigned long long)fused_least(s, n));
	return ns;
}

/*
 * Least squares through (n, cost) of the relative error: a few messages tell what
 * making the connection costs, many what a message does.
 */
static void fit(const double *n, const double *cost, double *a, double *b)
{
	double s = 0, sn = 0, sc = 0, snn = 0, snc = 0;
	int i;

	for (i = 0; i < POINTS; i++) {
		double weight = 1 / (cost[i] * cost[i]);

		s += weight;
		sn += weight * n[i];
		sc += weight * cost[i];
		snn += weight * n[i] * n[i];
		snc += weight * n[i] * cost[i];
	}
	*b = (s * snc - sn * sc) / (s * snn - sn * sn);
	*a = (sc - *b * sn) / s;
}

/*
 * One way a message costs little beside making a connection: fewer of them would tell
 * nothing. TCP keeps each closed connection for a minute and has not ports without end.
 */
static unsigned int most_of(unsigned int messages, unsigned int way)
{
	if (way == TALK)
		return messages < 10000 ? 10000 : messages;
	if ((way == SLOW || way == IMPLIED) && messages > 10000)
		return 10000;
	return messages;
}

/* Of a way: what it costs once and for each message, what all took, and leases meanwhile. */
enum { ONCE, MESSAGE, ELAPSED, LEASES, FIGURES };

typedef double figures[FIGURES][RUNS_MAX];

static void one_way(struct series *s, unsigned int way, unsigned int run, figures of)
{
	uint64_t leased = fused_count("leased");
	unsigned int most = most_of(s->messages, way);
	double n[POINTS], cost[POINTS];
	int i;

	s->param = way;
	for (i = POINTS - 1; i >= 0; i--, most /= 10) {
		n[i] = most ? most : 1;
		cost[i] = (double)trial_run(s, (uint64_t)n[i]);
	}
	fit(n, cost, &of[ONCE][run], &of[MESSAGE][run]);
	of[ELAPSED][run] = cost[POINTS - 1];
	of[LEASES][run] = (double)(fused_count("leased") - leased);
}

static void emit_figure(const struct series *s, const double *values, const char *way,
			const char *what, const char *unit)
{
	char metric[32];

	snprintf(metric, sizeof(metric), "%s_%s", way, what);
	emit_value("jipc", s, values, metric, unit);
}

static void emit_way(struct series *s, unsigned int way, figures of)
{
	static const char *const names[WAYS] = {
		[TALK] = "talk", [SLOW] = "slow", [CALL] = "call", [IMPLIED] = "implied",
		[MAPPED_CALL] = "call",
	};
	const char *name = names[way];
	struct series all = *s;

	emit_figure(s, of[ONCE], name, way == SLOW || way == IMPLIED ? "once" : "connection",
		    unit_of_time());
	emit_figure(s, of[MESSAGE], name, "message", unit_of_time());
	all.messages = most_of(s->messages, way);
	emit_figure(&all, of[ELAPSED], name, "elapsed", unit_of_time());
	if (s->transport->preload)
		emit_figure(s, of[LEASES], name, "leases", "count");
}

static void one_transport(struct series *s)
{
	bool implied = !strcmp(s->transport->name, "speed"), mapped = s->transport == &transport_call;
	unsigned int run, way, first = mapped ? MAPPED_CALL : TALK;
	unsigned int last = mapped ? MAPPED_CALL : implied ? IMPLIED : CALL;
	double cross[RUNS_MAX];
	figures of[WAYS];

	s->trial = trial;
	for (run = 0; run < opt.runs; run++) {
		progress("jipc %s: run %u of %u", s->transport->name, run + 1, opt.runs);
		for (way = first; way <= last; way++)
			one_way(s, way, run, of[way]);
		if (!mapped)
			cross[run] = (of[TALK][ONCE][run] - of[SLOW][ONCE][run]) /
				     (of[SLOW][MESSAGE][run] - of[TALK][MESSAGE][run]);
	}
	progress_done();
	for (way = first; way <= last; way++)
		emit_way(s, way, of[way]);
	if (!mapped)
		emit_value("jipc", s, cross, "crossover", "messages");
}

void exp_jipc(void)
{
	struct series all[SERIES_MAX];
	unsigned int count = series_make(all, ABLE_DOOR), i;

	for (i = 0; i < count; i++) {
		all[i].size = BYTES;
		all[i].messages = opt.messages ? opt.messages : 10000;
		guard(&all[i], one_transport);
		/* The same connections, by a door of their own. */
		if (!strcmp(all[i].transport->name, "speed")) {
			all[i].transport = &transport_call;
			guard(&all[i], one_transport);
		}
	}
}
