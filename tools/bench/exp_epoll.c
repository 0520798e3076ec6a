// SPDX-License-Identifier: GPL-2.0
/*
 * epoll: one connection is active among --connections idle ones (100, and
 * 10,000): a byte arrives, epoll_wait() tells, it is read. Only epoll_wait() and
 * the read are timed, and what reading the clock takes is taken off.
 */
#include <sys/epoll.h>
#include <unistd.h>

#include "bench.h"
#include "crowd.h"
#include "transport.h"

struct field {
	struct crowd crowd;
	int epoll;
};

static void field_open(struct field *f, const struct series *s)
{
	unsigned int i;

	crowd_prepare(&f->crowd, s->connections + 1);
	crowd_open(&f->crowd, s->transport);
	f->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (f->epoll < 0)
		die("epoll_create: %m");
	for (i = 0; i < f->crowd.count; i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.u32 = i };

		if (epoll_ctl(f->epoll, EPOLL_CTL_ADD, f->crowd.server[i], &event))
			die("epoll_ctl: %m");
	}
}

static void field_close(struct field *f)
{
	close(f->epoll);
	crowd_close(&f->crowd);
}

static uint64_t trial(struct series *s, uint64_t n)
{
	struct field *f = s->private;
	unsigned int active = f->crowd.count / 2;
	int from = f->crowd.client[active], to = f->crowd.server[active];
	uint64_t total = 0, cost, i;

	cpu_pin(0, 1);
	side_limit();
	for (i = 0; i < n; i++) {
		struct epoll_event event[16];
		uint64_t start;
		char byte;

		if (send(from, "x", 1, MSG_NOSIGNAL) != 1)
			die("epoll: send: %m");
		start = now_ns();
		if (epoll_wait(f->epoll, event, 16, -1) != 1 || event[0].data.u32 != active)
			die("epoll: over %s not the one that is active", s->transport->name);
		if (recv(to, &byte, 1, 0) != 1)
			die("epoll: recv: %m");
		total += now_ns() - start;
	}
	cost = clock_cost(n);
	return total > cost ? total - cost : 0;
}

static void one_transport(struct series *s)
{
	struct field f;

	progress("epoll %s: %u connections", s->transport->name, s->connections);
	s->size = 1;
	s->trial = trial;
	s->private = &f;
	field_open(&f, s);
	measure(s, 1);
	field_close(&f);
	emit("epoll", s, "wait_and_read", unit_of_time());
}

/* One transport after the other: descriptors do not suffice for all at once. */
static void run(unsigned int connections)
{
	struct series all[SERIES_MAX];
	unsigned int count = series_make(all, ABLE_EPOLL);
	unsigned int i;

	for (i = 0; i < count; i++) {
		all[i].connections = connections;
		guard_program(&all[i], one_transport);
	}
}

void exp_epoll(void)
{
	if (opt.connections) {
		run(opt.connections);
		return;
	}
	run(100);
	run(10000);
}
