// SPDX-License-Identifier: GPL-2.0
/* Sends and receives of programs: see diff_gen.h. */
#define _GNU_SOURCE
#include "diff_gen.h"
#include "preloaded.h"

#define MUCH	30000	/* so much unread is read before more is sent */

static int pick_code(struct diff_gen *g, const uint8_t *of, int n)
{
	return of[diff_below(g, n)];
}

static uint32_t faults(struct diff_gen *g)
{
	static const uint32_t of[] = { DW_BAD, DW_NULL };

	if (preloaded())
		return 0;
	return g->features & GF_FAULTS && diff_percent(g, 15) ? of[diff_below(g, 2)] : 0;
}

static uint32_t send_words(struct diff_gen *g, int end)
{
	uint32_t words = faults(g);

	if (diff_percent(g, 10))
		words |= DW_DONTWAIT;
	if (diff_percent(g, 20))
		words |= DW_NOSIGNAL;
	if (diff_percent(g, 3))
		words |= DW_EOR;
	if (g->features & GF_CORK && diff_percent(g, 20))
		words |= DW_MORE;
	if (g->features & GF_URGENT && diff_percent(g, 25))
		words |= DW_OOB;
	if (g->zerocopy[end] && diff_percent(g, 50))
		words |= DW_ZEROCOPY;
	return words;
}

static bool has_flags(int code)
{
	return code == DO_SEND || code == DO_SENDMSG || code == DO_SENDTO || code == DO_SENDMMSG ||
	       code == DO_RECV || code == DO_RECVMSG || code == DO_RECVFROM || code == DO_RECVMMSG;
}

/* The other end's reader has some of what it waits for. */
static void arrived(struct diff_gen *g, int end, int len)
{
	g->unread[end] += len;
	if (g->waits[end] < 0 || g->unread[end] < g->needs[end])
		return;
	g->unread[end] -= g->needs[end];
	g->waits[end] = -1;
}

/* Held back bytes take 200 ms, so most corks are pulled. */
static void corked(struct diff_gen *g, int end, int actor)
{
	int n = 1 + diff_below(g, 3);

	diff_emit_option(g, actor, DO_SET, "cork", 1);
	while (n--) {
		int len = 1 + diff_below(g, 500);

		diff_emit(g, actor, diff_percent(g, 50) ? DO_WRITE : DO_SENDMSG, len, 0);
		if (!g->shut[end] && !g->gone[!end])
			arrived(g, !end, len);
	}
	if (diff_percent(g, 75))
		diff_emit_option(g, actor, DO_SET, "cork", 0);
	else if (diff_percent(g, 50))
		diff_gen_end(g, end);
}

void diff_gen_send(struct diff_gen *g, int end)
{
	static const uint8_t codes[] = {
		DO_SEND, DO_SEND, DO_SEND, DO_SEND, DO_WRITE, DO_WRITE, DO_WRITEV, DO_SENDMSG,
		DO_SENDTO, DO_SENDMMSG, DO_SENDFILE, DO_SPLICEIN
	};
	int actor = diff_pick_actor(g, end), len = diff_pick_length(g);
	int code = pick_code(g, codes, sizeof(codes));
	uint32_t words = send_words(g, end);

	if (actor < 0 || (g->gone[!end] && !diff_percent(g, 30)))
		return;
	if (g->unread[!end] + len > MUCH)
		return diff_gen_recv(g, !end);
	if (g->features & GF_CORK && diff_percent(g, 15))
		return corked(g, end, actor);
	if (!has_flags(code))
		words = code == DO_SENDFILE || code == DO_SPLICEIN ? words & DW_MORE :
								     words & (DW_BAD | DW_NULL);
	diff_emit(g, actor, code, len, words);
	if (!(words & (DW_BAD | DW_NULL)) && !g->shut[end] && !g->gone[!end])
		arrived(g, !end, len);
	if (words & DW_MORE && diff_percent(g, 60))
		diff_emit(g, actor, DO_SEND, 1 + diff_below(g, 100), 0);
}

static uint32_t recv_words(struct diff_gen *g)
{
	uint32_t words = faults(g);

	if (diff_percent(g, 15))
		words |= DW_PEEK;
	if (diff_percent(g, 20))
		words |= DW_DONTWAIT;
	if (diff_percent(g, 15))
		words |= DW_WAITALL;
	if (diff_percent(g, 4))
		words |= DW_TRUNC | (diff_percent(g, 50) ? DW_NULL : 0);
	if (g->features & GF_URGENT && diff_percent(g, 25))
		words |= DW_OOB;
	if (g->features & GF_ZEROCOPY && diff_percent(g, 5))
		words |= DW_ERRQUEUE;
	return words;
}

/* As much as is there, or a little more or less. */
static int recv_length(struct diff_gen *g, int end)
{
	uint32_t there = g->unread[end];

	switch (diff_below(g, 6)) {
	case 0:
		return there + 1;
	case 1:
		return there;
	case 2:
	case 3:
		return diff_below(g, there + 1);
	case 4:
		return there + diff_below(g, 5000);
	default:
		return diff_below(g, 100);
	}
}

/* A step that waits, as the generator sees it. */
static void waits(struct diff_gen *g, int end, int actor, long needs)
{
	g->waits[end] = actor;
	g->needs[end] = needs;
}

static bool would_wait(struct diff_gen *g, int end, int len, uint32_t words)
{
	long needs = words & DW_WAITALL ? len : 1;

	return !g->nonblock[end] && !(words & (DW_DONTWAIT | DW_OOB | DW_ERRQUEUE)) &&
	       g->unread[end] < needs && !g->shut[!end] && !g->gone[!end];
}

static void took(struct diff_gen *g, int end, int len, uint32_t words)
{
	if (words & (DW_PEEK | DW_OOB | DW_BAD | DW_ERRQUEUE))
		return;
	g->unread[end] -= g->unread[end] < len ? g->unread[end] : len;
}

void diff_gen_recv(struct diff_gen *g, int end)
{
	static const uint8_t codes[] = {
		DO_RECV, DO_RECV, DO_RECV, DO_RECV, DO_READ, DO_READ, DO_READV, DO_RECVMSG,
		DO_RECVMSG, DO_RECVFROM, DO_RECVMMSG, DO_SPLICEOUT, DO_DRAIN, DO_ZCRECV
	};
	int actor = diff_pick_actor(g, end), len = recv_length(g, end);
	int code = pick_code(g, codes, sizeof(codes));
	uint32_t words = recv_words(g);

	if (actor < 0)
		return;
	if (!has_flags(code))
		words = code == DO_READ || code == DO_READV ? words & (DW_BAD | DW_NULL) : 0;
	if (would_wait(g, end, len, words)) {
		if (g->waits[end] >= 0 || !(g->features & GF_WAITS) || diff_percent(g, 50)) {
			if (!has_flags(code))
				code = DO_RECV;
			words |= DW_DONTWAIT;
		} else {
			waits(g, end, actor, words & DW_WAITALL ? len : 1);
		}
	}
	diff_emit(g, actor, code, len, words);
	if (g->waits[end] != actor)
		took(g, end, len, words);
}

/*
 * More than the first window, up to four times the ring. The reader takes it in pieces
 * whose sizes are chance, then the rest.
 */
void diff_gen_big(struct diff_gen *g, int end)
{
	static const uint8_t codes[] = { DO_SEND, DO_SEND, DO_SEND, DO_WRITEV, DO_SENDFILE };
	int from = diff_pick_actor(g, end), to = diff_pick_actor(g, !end), i, n, len;
	uint32_t most = diff_percent(g, 30) ? 1000000 : 300000;

	if (from < 0 || to < 0 || g->gone[!end] || g->shut[end] || g->waits[!end] >= 0)
		return;
	len = g->features & GF_SMALL ? 4000 + diff_below(g, 16000) : 20000 + diff_below(g, most);
	diff_emit(g, from, pick_code(g, codes, sizeof(codes)), len, 0);
	n = diff_below(g, 4);
	for (i = 0; i < n; i++) {
		if (g->features & GF_HIDDEN && diff_percent(g, 50))
			diff_gen_hidden(g);
		if (diff_percent(g, 50))
			diff_emit(g, to, DO_RECV, diff_below(g, 2 * len), 0);
		else
			diff_emit(g, to, DO_DRAIN, diff_below(g, len / 4), 0);
	}
	if (diff_percent(g, 15))
		return;
	diff_emit(g, to, DO_DRAIN, 0, 0);
	if (len > 200000 || (g->features & GF_SMALL))
		diff_emit(g, from, DO_JOIN, 0, 0);
	g->unread[!end] = 0;
}
