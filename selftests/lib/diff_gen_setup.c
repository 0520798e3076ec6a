// SPDX-License-Identifier: GPL-2.0
/* How programs begin: with a connection, mostly. See diff_gen.h. */
#define _GNU_SOURCE
#include "diff_gen.h"

static enum diff_net pick_net(struct diff_gen *g)
{
	static const enum diff_net nets[] = {
		DN_V4, DN_V4, DN_V4, DN_V4, DN_V6, DN_V6, DN_MAPPED, DN_DUAL, DN_ALIAS
	};

	return nets[diff_below(g, sizeof(nets) / sizeof(nets[0]))];
}

static int small_size(struct diff_gen *g)
{
	static const int sizes[] = { 1, 4096, 8192, 20000, 300000 };

	return sizes[diff_below(g, 5)];
}

static void listener_options(struct diff_gen *g)
{
	if (g->features & GF_SMALL && diff_percent(g, 40))
		diff_emit_option(g, DA_B, DO_LSET, diff_percent(g, 50) ? "rcvbuf" : "sndbuf",
				 small_size(g));
	if (g->features & GF_OPTIONS && diff_percent(g, 40))
		diff_emit_any_option(g, DA_B, DO_LSET);
}

static void early_options(struct diff_gen *g)
{
	if (g->features & GF_SMALL && diff_percent(g, 40))
		diff_emit_option(g, DA_A, DO_SET, diff_percent(g, 50) ? "rcvbuf" : "sndbuf",
				 small_size(g));
	if (g->features & GF_OPTIONS && diff_percent(g, 50))
		diff_emit_any_option(g, DA_A, DO_SET);
}

/* Before there is a connection; all of it fails, and the way it does matters. */
static void too_early(struct diff_gen *g)
{
	static const int codes[] = { DO_SEND, DO_RECV, DO_POLL, DO_NAMES, DO_INQ, DO_WRITE };
	int code = codes[diff_below(g, 6)];

	diff_emit(g, DA_A, code, 10, code == DO_POLL ? DW_IN | DW_OUT : 0);
}

static void connect_nonblocking(struct diff_gen *g)
{
	diff_emit_option(g, DA_A, DO_SET, "nonblock", 1);
	diff_emit(g, DA_A, DO_CONNECT, 0, 0);
	if (diff_percent(g, 60))
		diff_emit(g, DA_A, DO_POLL, 0, DW_OUT | DW_IN);
	if (diff_percent(g, 40))
		diff_emit_option(g, DA_A, DO_GET, "error", 0);
	if (diff_percent(g, 30))
		diff_emit(g, DA_A, DO_CONNECT, 0, 0);
	if (diff_percent(g, 70))
		diff_emit_option(g, DA_A, DO_SET, "nonblock", 0);
	else
		g->nonblock[0] = true;
}

/* Bytes in the SYN: by one call, or by connect() that waits for the first send. */
static void connect_with_bytes(struct diff_gen *g)
{
	if (diff_percent(g, 50)) {
		diff_emit(g, DA_A, DO_SENDTO, 50, DW_FASTOPEN);
	} else {
		diff_emit_option(g, DA_A, DO_SET, "fastopen", 1);
		diff_emit(g, DA_A, DO_CONNECT, 0, 0);
		diff_emit(g, DA_A, diff_percent(g, 50) ? DO_SEND : DO_WRITEV, 50, 0);
	}
	g->unread[1] = 50;
}

static void connect_somehow(struct diff_gen *g)
{
	if (g->features & GF_SETUP && diff_percent(g, 10))
		too_early(g);
	if (g->features & GF_SETUP && diff_percent(g, 8))
		diff_emit(g, DA_A, DO_CONNECT, 0, DW_REFUSED);
	if (g->features & GF_SETUP && diff_percent(g, 30)) {
		connect_nonblocking(g);
	} else if (g->features & GF_SETUP && diff_percent(g, 10)) {
		connect_with_bytes(g);
	} else {
		diff_emit(g, DA_A, DO_CONNECT, 0, 0);
	}
	g->has[DA_A] = true;
	g->has[DA_A2] = true;
}

static void accept_it(struct diff_gen *g)
{
	uint32_t words = g->features & GF_NONBLOCK && diff_percent(g, 50) ? DW_NONBLOCK : 0;

	diff_emit(g, DA_B, DO_ACCEPT, 0, words);
	g->nonblock[1] = words;
	g->has[DA_B] = true;
	g->has[DA_B2] = true;
}

/* Bytes, and perhaps the end, before anybody accepts. */
static void before_accept(struct diff_gen *g)
{
	diff_gen_send(g, 0);
	if (diff_percent(g, 30))
		diff_gen_send(g, 0);
	if (diff_percent(g, 10))
		diff_gen_recv(g, 0);
	if (g->features & GF_HIDDEN && diff_percent(g, 30))
		diff_gen_hidden(g);
	if (g->features & GF_ENDS && diff_percent(g, 20))
		diff_gen_end(g, 0);
}

/* What a program about one thing needs to be about it. */
static void options_of_features(struct diff_gen *g)
{
	int actor = diff_percent(g, 50) ? DA_A : DA_B;

	if (g->features & GF_TIME)
		diff_emit_option(g, actor, DO_SET, diff_percent(g, 80) ? "rcvtimeo" : "sndtimeo",
				 diff_percent(g, 75) ? 12 : 100000);
	if (g->features & GF_WAITS && diff_percent(g, 25))
		diff_emit_option(g, actor, DO_SET, "lowat", 1 + diff_below(g, 60));
	if (g->features & GF_URGENT && diff_percent(g, 30))
		diff_emit_option(g, DA_B, DO_SET, "oobinline", 1);
	if (g->features & (GF_URGENT | GF_READY) && diff_percent(g, 30))
		diff_emit_option(g, DA_B, DO_SET, "async", 1);
	if (g->features & GF_QUESTIONS && diff_percent(g, 15))
		diff_emit_option(g, DA_B, DO_SET, "peekoff", diff_below(g, 30));
}

/* Nagle's rule costs 40 ms each time; most programs do without. */
static void usual_options(struct diff_gen *g)
{
	if (diff_percent(g, 92) && g->has[DA_A])
		diff_emit_option(g, DA_A, DO_SET, "nodelay", 1);
	if (diff_percent(g, 92))
		diff_emit_option(g, DA_B, DO_SET, "nodelay", 1);
	if (g->features & GF_ZEROCOPY) {
		diff_emit_option(g, DA_A, DO_SET, "zerocopy", 1);
		g->zerocopy[0] = true;
	}
	if (g->features & GF_NONBLOCK && diff_percent(g, 50)) {
		diff_emit_option(g, DA_A, DO_SET, "nonblock", 1);
		g->nonblock[0] = true;
	}
	if (g->features & GF_READY && diff_percent(g, 25))
		diff_emit_option(g, DA_B, DO_SET, "inq", 1);
	options_of_features(g);
}

void diff_gen_setup(struct diff_gen *g)
{
	bool setup = g->features & GF_SETUP, defer = setup && diff_percent(g, 12);
	bool waits = !defer && setup && diff_percent(g, 15);

	g->p->net = pick_net(g);
	diff_emit(g, DA_B, DO_LISTEN, 0, defer ? DW_DEFER : 0);
	listener_options(g);
	diff_emit(g, DA_A, DO_SOCKET, 0, 0);
	early_options(g);
	if (waits)
		accept_it(g);
	connect_somehow(g);
	if (defer || (!waits && setup && diff_percent(g, 35)))
		before_accept(g);
	if (!waits)
		accept_it(g);
	usual_options(g);
	if (diff_percent(g, 10))
		diff_emit(g, DA_B, DO_LCLOSE, 0, 0);
}
