// SPDX-License-Identifier: GPL-2.0
/* What the model learns from steps and their results: see diff_model.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "diff_model.h"

/* After shutdown(SHUT_RD) a read ends wherever it finds nothing for a moment. */
static void look_if_loose(struct diff_model *m, int dir, bool chance)
{
	struct diff_dir *d = &m->dir[dir];

	d->loose |= chance || !diff_fits(m, dir);
	d->cut |= d->loose && (m->side[!dir].shut & DW_RD);
}

void diff_begin(struct diff_model *m, const struct diff_step *s, uint32_t src, bool async)
{
	struct diff_dir *out = diff_out(m, s);

	m->busy[s->actor] = (struct diff_busy){ true, async, diff_read_size(m, s), *s };
	if (!diff_is(s, DC_SEND))
		return;
	out->piece[out->pieces++] = (struct diff_piece){ src, async ? s->number : 0 };
	if (!async)
		return;
	out->offered = s->number;
	out->least += s->number;
	out->most += s->number;
	/* What does not fit follows once the sender runs, or TCP alone sees room. */
	look_if_loose(m, diff_end(s->actor), true);
}

static void note_sent(struct diff_model *m, const struct diff_step *s,
		      const struct diff_result *r, bool async)
{
	int dir = diff_end(s->actor);
	struct diff_dir *out = &m->dir[dir];

	out->piece[out->pieces - 1].len = r->moved;
	out->offered = 0;
	if (r->moved && out->deaf) {
		out->pieces--;
		m->side[dir].hit = true;
		return;
	}
	out->sent += r->moved;
	if (!async && diff_takes_chance(m, s)) {
		out->most += s->number;
		look_if_loose(m, dir, true);
	} else if (!async) {
		out->least += r->moved;
		out->most += r->moved;
		look_if_loose(m, dir, false);
	}
	if (!r->moved)
		return;
	out->dirty = true;
	out->urgent |= !!(s->words & DW_OOB);
	m->side[dir].zerocopy += !!(s->words & DW_ZEROCOPY);
}

static uint64_t less(uint64_t n, uint64_t by)
{
	return n > by ? n - by : 0;
}

/* One that may not wait may have stopped anywhere. */
static void note_drained(struct diff_dir *in, bool whole)
{
	in->least = 0;
	if (whole) {
		in->most = 0;
		in->loose = false;
	}
}

/* Where the size is chance, the step decides what the bounds become, not the result. */
static void note_read(struct diff_model *m, const struct diff_step *s, uint32_t number,
		      const struct diff_result *r)
{
	struct diff_dir *in = diff_in(m, s);

	if (r->err == EBADF || (s->words & (DW_PEEK | DW_OOB | DW_ERRQUEUE)))
		return;
	in->read += r->moved;
	if (!in->loose) {
		in->least = diff_unread(in);
		in->most = in->least;
	} else if (s->code == DO_DRAIN && !s->number) {
		note_drained(in, diff_reads_all(m, s) && !in->cut);
	} else if (diff_reads_all(m, s)) {
		in->least = less(in->least, number);
		in->most = less(in->most, number);
	} else {
		in->least = less(in->least, number);
		in->most = less(in->most, diff_may_wait(m, s) && number);
	}
}

static void note_shutdown(struct diff_model *m, const struct diff_step *s)
{
	int end = diff_end(s->actor);

	m->side[end].shut |= s->words & (DW_RD | DW_WR);
	look_if_loose(m, !end, false);
	if (s->words & DW_WR) {
		m->dir[end].ended = true;
		m->dir[end].dirty = true;
		m->dir[end].cut |= m->dir[end].offered;
	}
	if (m->side[end].shut == (DW_RD | DW_WR))
		m->dir[!end].deaf = true;
}

static void note_option(struct diff_side *e, const struct diff_step *s)
{
	switch (diff_opts[s->opt].id) {
	case OI_SNDBUF:
		e->sndbuf = s->number;
		break;
	case OI_RCVBUF:
		e->rcvbuf = s->number;
		break;
	case OI_LOWAT:
		e->lowat = s->number;
		break;
	case OI_RCVTIMEO:
		e->rcvtimeo = s->number;
		break;
	case OI_SNDTIMEO:
		e->sndtimeo = s->number;
		break;
	case OI_NONBLOCK:
		e->nonblock = s->number;
		break;
	case OI_LINGER:
		e->linger0 = !s->number;
		break;
	case OI_FASTOPEN:
		e->fastopen = s->number;
		break;
	case OI_PEEKOFF:
		e->peekoff = s->number >= 0;
		break;
	case OI_MAXSEG:
		e->maxseg = s->number;
		break;
	default:
		break;
	}
}

/* The other end has what its listener had. */
static void note_connected(struct diff_model *m)
{
	if (m->side[0].connecting)
		return;
	m->side[0].connecting = true;
	m->connects++;
	m->side[1] = m->listener;
	m->side[1].nonblock = false;
}

static void note_rest(struct diff_model *m, const struct diff_step *s,
		      const struct diff_result *r)
{
	struct diff_side *e = &m->side[diff_end(s->actor)];

	if (s->code == DO_CONNECT && !(s->words & DW_REFUSED) &&
	    (!r->ret || r->err == EINPROGRESS))
		note_connected(m);
	if (s->code == DO_SENDTO && (s->words & DW_FASTOPEN) && r->ret >= 0)
		note_connected(m);
	if (r->ret < 0)
		return;
	if (s->code == DO_LISTEN)
		m->defer = s->words & DW_DEFER;
	else if (s->code == DO_LSET)
		note_option(&m->listener, s);
	else if (s->code == DO_SET)
		note_option(e, s);
	else if (s->code == DO_SHUTDOWN)
		note_shutdown(m, s);
	else if (s->code == DO_ZCDONE)
		e->zerocopy = 0;
	else if (s->code == DO_SOCKET)
		e->nonblock = s->words & DW_NONBLOCK;
	else if (s->code == DO_DISCONNECT)
		diff_note_gone(m, diff_end(s->actor), true);
	m->async |= s->code == DO_SET && diff_opts[s->opt].kind == DK_ASYNC;
	if (s->code != DO_ACCEPT)
		return;
	m->accepts++;
	e->connecting = true;
	e->nonblock = s->words & DW_NONBLOCK;
}

void diff_note(struct diff_model *m, const struct diff_step *s, uint32_t number,
	       const struct diff_result *r)
{
	bool async = m->busy[s->actor].async;

	m->busy[s->actor].is = false;
	if (diff_is(s, DC_SEND))
		note_sent(m, s, r, async);
	if (diff_is(s, DC_READ))
		note_read(m, s, number, r);
	else
		note_rest(m, s, r);
}

void diff_note_gone(struct diff_model *m, int end, bool abort)
{
	struct diff_dir *out = &m->dir[end], *in = &m->dir[!end];

	abort |= m->side[end].linger0 || in->most;
	m->side[end].gone = true;
	out->ended = true;
	out->dirty = true;
	out->cut |= abort && out->loose;
	in->deaf = true;
	in->cut |= in->loose || in->offered;
	in->ended = true;
}

void diff_note_killed(struct diff_model *m, int actor)
{
	struct diff_busy *b = &m->busy[actor];
	struct diff_dir *out = &m->dir[diff_end(actor)];

	if (b->is && diff_is(&b->step, DC_SEND)) {
		out->cut = true;
		out->loose = true;
		out->least = 0;
		out->sent += out->offered;
		out->offered = 0;
	}
	/* What a reader had taken before it died, nobody knows. */
	if (b->is && diff_is(&b->step, DC_READ))
		m->dir[!diff_end(actor)].urgent = true;
	b->is = false;
}
