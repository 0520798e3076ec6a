// SPDX-License-Identifier: GPL-2.0
/*
 * Streams both ways without pause on a fused connection of which an end, or both, are
 * mapped, while each reason to use TCP comes and goes. Not one byte is lost, doubled
 * or out of its place, and afterwards the connection is fused and mapped again.
 */
#define _GNU_SOURCE
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flow.h"
#include "mapped.h"
#include "movers.h"
#include "stress.h"

#define LARGEST		3000
#define A_WHILE		20000	/* bytes */
#define SOON_MS		30000

static const char * const names[2] = { "there", "back" };

static void flows_begin(const struct transport *t, struct end e[2], struct flow f[2])
{
	int i;

	mapped_ends(t, e);
	for (i = 0; i < 2; i++)
		flow_start(&f[i], &e[i], &e[!i], LARGEST);
}

static void flows_end(struct end e[2], struct flow f[2])
{
	int i;

	for (i = 0; i < 2; i++)
		flow_stop(&f[i], names[i]);
	pair_close(e);
}

static void want_flowing(struct flow f[2], const char *what)
{
	int i;

	for (i = 0; i < 2; i++)
		WANT_TRUE(flow_moves(&f[i], A_WHILE), "%s: bytes %s", what, names[i]);
}

static bool within(bool (*cond)(const struct end *e, unsigned long arg), const struct end *e,
		   unsigned long arg)
{
	long until = now_ms() + SOON_MS;

	while (!cond(e, arg)) {
		if (now_ms() > until)
			return false;
		sleep_ms(5);
	}
	return true;
}

/* It moved to TCP at least once since. */
static bool unfused_since(const struct end *e, unsigned long before)
{
	return tcp_fusion(e[0].fd).unfused > before;
}

static bool fused_now(const struct end *e, unsigned long unused)
{
	(void)unused;
	return tcp_fused(FDS(e));
}

static bool in_the_ring_since(const struct end *e, unsigned long before)
{
	return mapped_transfers(e) > before + 50;
}

/* Whoever maps comes back to it, though a lease that was taken away may cost a while. */
static void want_back(const struct transport *t, const struct end e[2], const char *what)
{
	WANT_TRUE(within(fused_now, e, 0), "%s: fused again, reason %u", what,
		  tcp_reason(e[0].fd));
	if (t->path[0] == PATH_MAPPED || t->path[1] == PATH_MAPPED)
		WANT_TRUE(within(in_the_ring_since, e, mapped_transfers(e)),
			  "%s: mapped again", what);
}

static void reasons(const struct transport *t)
{
	struct flow f[2];
	struct end e[2];
	size_t i;

	flows_begin(t, e, f);
	for (i = 0; i < movers_here(); i++) {
		const struct mover *m = &movers[i];
		unsigned long before = tcp_fusion(e[0].fd).unfused;

		f[0].patience = m->refused;
		f[1].patience = m->refused;
		WANT_TRUE(m->off(FDS(e)), "%s: it is there", m->name);
		if (m->refused) {
			sleep_ms(20);
		} else {
			WANT_TRUE(within(unfused_since, e, before), "%s: on TCP", m->name);
			want_flowing(f, m->name);
			WANT(tcp_reason(e[0].fd), m->reason, 0, "%s: the reason", m->name);
		}
		m->on(FDS(e));
		want_flowing(f, m->name);
		want_back(t, e, m->name);
	}
	flows_end(e, f);
}

#define RING	(256u << 10)

/* TCP takes what a ring cannot while nobody reads, and all of it comes. */
static void full(const struct transport *t)
{
	struct flow f[2];
	struct end e[2];
	int i;

	flows_begin(t, e, f);
	for (i = 0; i < 3; i++) {
		long until = now_ms() + SOON_MS;

		f[0].hold = true;
		while (f[0].sent <= f[0].got + RING && now_ms() < until)
			sleep_ms(5);
		WANT_TRUE(f[0].sent > f[0].got + RING, "more is under way than a ring holds");
		f[0].hold = false;
		want_flowing(f, "full");
	}
	want_back(t, e, "full");
	flows_end(e, f);
}

/* Calls that a ring does not go with, made by the end that maps. */
static void zerocopy_receive(const struct transport *t)
{
	struct flow f[2];
	struct end e[2];
	int i;

	flows_begin(t, e, f);
	for (i = 0; i < soak_times(20, 20); i++) {
		struct tcp_zerocopy_receive z = { .length = 0 };
		socklen_t size = sizeof(z);

		getsockopt(e[i & 1].fd, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &z, &size);
		want_flowing(f, "TCP_ZEROCOPY_RECEIVE");
	}
	flows_end(e, f);
}

/* What a mapped reader cannot do is asked for, and then not any more. */
static void reading_options(const struct transport *t)
{
	static const struct {
		const char *name;
		int option, on, off;
	} asks[] = {
		{ "SO_RCVLOWAT", SO_RCVLOWAT, 500, 1 },
		{ "SO_PEEK_OFF", SO_PEEK_OFF, 0, -1 },
	};
	struct flow f[2];
	struct end e[2];
	size_t i;

	flows_begin(t, e, f);
	for (i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		/* A blocking read of fewer bytes than SO_RCVLOWAT comes back with them. */
		if (set_int_soon(e[1].fd, SOL_SOCKET, asks[i].option, asks[i].on)) {
			int err = errno;

			WANT(err, EOPNOTSUPP, 0, "%s: not on this kernel", asks[i].name);
			continue;
		}
		want_flowing(f, asks[i].name);
		WANT(mapped_leased(e[1].fd, SPEED_ROLE_RX), 0, 0, "%s: leased", asks[i].name);
		WANT_OK(set_int_soon(e[1].fd, SOL_SOCKET, asks[i].option, asks[i].off),
			"%s: off", asks[i].name);
		want_flowing(f, asks[i].name);
		want_back(t, e, asks[i].name);
	}
	flows_end(e, f);
}

#define PATHS	(CASE_STREAM | CASE_FUSED_ONLY | CASE_PATHS | CASE_LONG)

static const struct test_case cases[] = {
	{ "reasons", reasons, PATHS },
	{ "full", full, PATHS },
	{ "zerocopy_receive", zerocopy_receive, PATHS },
	{ "reading_options", reading_options, PATHS },
};

RUN_CASES(cases)
