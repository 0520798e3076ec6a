// SPDX-License-Identifier: GPL-2.0
/* What waits, and what would be chance: see diff_model.h. */
#define _GNU_SOURCE
#include "diff_model.h"

#define SMALL_BUFFER	32768	/* below it, TCP's own overhead decides */
#define EXACT_BYTES	40000	/* fits the first window */
#define TAKEN_BYTES	200000	/* TCP takes megabytes with default buffers */
#define TAKEN_SMALL	500
#define ONE_SEGMENT	16000
#define LONG_TIME	1000	/* ms; a longer time limit is as good as none */

/* So many unread bytes have surely all arrived. */
static uint64_t exact_bytes(const struct diff_model *m, int dir)
{
	const struct diff_side *to = &m->side[!dir];

	if (!to->rcvbuf)
		return EXACT_BYTES;
	if (2 * to->rcvbuf < SMALL_BUFFER)
		return 0;
	return 2 * to->rcvbuf / 8 < EXACT_BYTES ? 2 * to->rcvbuf / 8 : EXACT_BYTES;
}

static bool is_small(int bytes)
{
	return bytes && 2 * bytes < SMALL_BUFFER;
}

/* So many unread bytes a sender can surely get rid of. */
static uint64_t taken_bytes(const struct diff_model *m, int dir)
{
	const struct diff_side *from = &m->side[dir], *to = &m->side[!dir];

	if (is_small(from->sndbuf))
		return TAKEN_SMALL;
	if (from->sndbuf || from->maxseg || to->maxseg)
		return exact_bytes(m, dir) ?: TAKEN_SMALL;
	return TAKEN_BYTES;
}

static bool is_nonblocking(const struct diff_model *m, const struct diff_step *s)
{
	const struct diff_side *e = &m->side[diff_end(s->actor)];

	if (s->code == DO_READ || s->code == DO_READV || s->code == DO_WRITE ||
	    s->code == DO_WRITEV || s->code == DO_SENDFILE || s->code == DO_SPLICEOUT)
		return e->nonblock;
	return e->nonblock || (s->words & DW_DONTWAIT);
}

static bool is_timed(const struct diff_model *m, const struct diff_step *s)
{
	const struct diff_side *e = s->code == DO_ACCEPT ? &m->listener :
							   &m->side[diff_end(s->actor)];
	int ms = diff_is(s, DC_SEND) ? e->sndtimeo : e->rcvtimeo;

	return ms && ms < LONG_TIME;
}

bool diff_may_wait(const struct diff_model *m, const struct diff_step *s)
{
	if (diff_is(s, DC_READ))
		return !is_nonblocking(m, s) && s->code != DO_FINISH && s->code != DO_ZCRECV &&
		       !(s->words & (DW_OOB | DW_ERRQUEUE)) && !is_timed(m, s);
	if (s->code == DO_ACCEPT)
		return !m->listener.nonblock && !is_timed(m, s);
	return s->words & DW_WAIT;
}

/* Bytes without which a read waits. */
static uint64_t needed(const struct diff_model *m, const struct diff_step *s, uint32_t number)
{
	uint64_t lowat = m->side[diff_end(s->actor)].lowat ?: 1;

	if ((s->words & DW_WAITALL) || s->code == DO_DRAIN)
		return number ?: 1;
	if (s->code == DO_SPLICEOUT)
		return 1;
	/* One that sleeps already is not woken for less, even if it asked for less. */
	if (m->busy[s->actor].is)
		return lowat;
	return number < lowat ? number ?: 1 : lowat;
}

static bool at_end(const struct diff_model *m, int end)
{
	return (m->side[end].shut & DW_RD) || m->side[end].gone || m->dir[!end].ended;
}

static bool expects_bytes(const struct diff_model *m, const struct diff_step *s, uint64_t n)
{
	const struct diff_dir *in = &m->dir[!diff_end(s->actor)];

	if (at_end(m, diff_end(s->actor)))
		return true;
	if (s->code == DO_DRAIN && !s->number)
		return true;
	if (in->urgent || m->side[diff_end(s->actor)].peekoff)
		return false;
	return in->loose ? in->least >= n : diff_unread(in) >= n;
}

bool diff_expected(const struct diff_model *m, const struct diff_step *s, uint32_t number)
{
	if (!diff_may_wait(m, s))
		return true;
	if (diff_is(s, DC_READ))
		return expects_bytes(m, s, needed(m, s, number));
	if (s->code == DO_ACCEPT)
		return m->connects > m->accepts && (!m->defer || m->dir[0].sent);
	if (s->code == DO_EPWAIT)
		return false;
	return ((s->words & DW_IN) && expects_bytes(m, s, needed(m, s, INT32_MAX))) ||
	       ((s->words & DW_OUT) && !m->dir[diff_end(s->actor)].loose);
}

static bool exceeds(const struct diff_model *m, const struct diff_step *s)
{
	int dir = diff_end(s->actor);

	return m->dir[dir].most + s->number > taken_bytes(m, dir);
}

bool diff_is_async(const struct diff_model *m, const struct diff_step *s)
{
	return diff_is(s, DC_SEND) && !is_nonblocking(m, s) && exceeds(m, s) &&
	       m->side[diff_end(s->actor)].connecting;
}

const struct diff_busy *diff_next_busy(const struct diff_model *m, int end,
				       const struct diff_busy *last)
{
	const struct diff_busy *b = last ? last + 1 : &m->busy[end * 4];

	for (; b < &m->busy[end * 4 + 4]; b++) {
		if (b->is)
			return b;
	}
	return NULL;
}

bool diff_end_busy(const struct diff_model *m, int end, unsigned int what)
{
	const struct diff_busy *b;

	for_each_busy(b, m, end) {
		if (diff_is(&b->step, what))
			return true;
	}
	return false;
}

/* Another actor of this end is in an operation of that kind. */
static bool is_busy(const struct diff_model *m, const struct diff_step *s, unsigned int what)
{
	return diff_end_busy(m, diff_end(s->actor), what);
}

/* TCP lets a read of no bytes wait for some, and then end whatever woke it up. */
static bool is_empty(const struct diff_step *s)
{
	return s->code == DO_RECVMMSG ? s->number < 3 : !s->number && s->code != DO_DRAIN;
}

/*
 * A read that sleeps is not woken for less than the low-water mark, but by the
 * acknowledgment of its own end's FIN, which may be delayed by 40 ms: before bytes come, and
 * it goes on sleeping, or with them.
 */
static bool wakes_by_chance(const struct diff_model *m, int end)
{
	return m->side[end].lowat > 1;
}

static const char *refused_read(struct diff_model *m, const struct diff_step *s)
{
	struct diff_dir *in = diff_in(m, s);
	uint32_t number = diff_read_size(m, s);

	if (is_busy(m, s, DC_READ))
		return "another one reads";
	if (diff_may_wait(m, s) && is_busy(m, s, DC_LOOK))
		return "another one waits";
	if (s->number < 0 || s->number > (int)DIFF_SENT_MOST ||
	    in->read + number > DIFF_CAPTURE_BYTES)
		return "too much";
	if (s->code == DO_DRAIN && !s->number && in->urgent)
		return "all but the urgent byte";
	if (diff_may_wait(m, s) && is_empty(s) && !diff_expected(m, s, number))
		return "any wake-up would end it";
	if (diff_may_wait(m, s) && (m->side[diff_end(s->actor)].shut & DW_WR) &&
	    wakes_by_chance(m, diff_end(s->actor)) && !diff_expected(m, s, number))
		return "the acknowledgment of a FIN wakes it";
	if (!in->loose)
		return NULL;
	if (s->code == DO_ZCRECV)
		return "loose";
	if ((diff_may_wait(m, s) || is_timed(m, s)) && !diff_expected(m, s, number))
		return "loose";
	return NULL;
}

/* More than one segment, each of which wakes a reader up. */
static bool makes_segments(const struct diff_model *m, const struct diff_step *s)
{
	return s->code == DO_SENDMMSG || s->number > ONE_SEGMENT || m->side[0].maxseg ||
	       m->side[1].maxseg || is_small(m->side[diff_end(s->actor)].sndbuf);
}

/* A reader waits, and for less than all it asked for; while it does, there is no SIGIO. */
static bool wakes_reader(const struct diff_model *m, int end)
{
	const struct diff_busy *b;

	for_each_busy(b, m, end) {
		if (diff_is(&b->step, DC_READ) && (m->async || !diff_reads_all(m, &b->step)))
			return true;
	}
	return false;
}

/* A peek that waits: TCP restarts it where an urgent byte is passed over meanwhile. */
static bool peek_waits(const struct diff_model *m, int end)
{
	const struct diff_busy *b;

	for_each_busy(b, m, end) {
		if (b->step.words & DW_PEEK)
			return true;
	}
	return false;
}

/*
 * MSG_ZEROCOPY is completed by acknowledgments, for which nobody waits once more is unread
 * than surely fits.
 */
static bool completes_by_chance(const struct diff_model *m, const struct diff_step *s)
{
	int dir = diff_end(s->actor);

	return ((s->words & DW_ZEROCOPY) || m->side[dir].zerocopy) &&
	       (m->dir[dir].loose || m->dir[dir].most + s->number > exact_bytes(m, dir));
}

static const char *refused_send(struct diff_model *m, const struct diff_step *s)
{
	if (is_busy(m, s, DC_SEND))
		return "another one sends";
	if (s->number > (int)DIFF_SENT_MOST || s->number < 0)
		return "too much";
	if (m->dir[diff_end(s->actor)].pieces == DIFF_STEPS_MAX)
		return "too many";
	if (completes_by_chance(m, s))
		return "completed or not by chance";
	if (makes_segments(m, s) && wakes_reader(m, !diff_end(s->actor)))
		return "a reader would wake up in the middle";
	if ((s->words & DW_OOB) && s->code == DO_SENDMMSG &&
	    diff_end_busy(m, !diff_end(s->actor), DC_READ))
		return "a reader may pass an urgent byte before the next one comes";
	if ((s->words & DW_OOB) && m->dir[diff_end(s->actor)].urgent &&
	    peek_waits(m, !diff_end(s->actor)))
		return "some would be peeked twice";
	return NULL;
}

static const char *refused_wait(struct diff_model *m, const struct diff_step *s)
{
	bool loose = diff_in(m, s)->loose || diff_out(m, s)->loose;

	if (is_busy(m, s, DC_LOOK))
		return "another one waits";
	if (loose && (s->code == DO_EPWAIT || !diff_expected(m, s, 0)))
		return "loose";
	return NULL;
}

static const char *refused_accept(struct diff_model *m, const struct diff_step *s)
{
	if (is_busy(m, s, DC_ACCEPT))
		return "another one accepts";
	if (m->defer && !diff_expected(m, s, 0))
		return "a timer of seconds may end it";
	return NULL;
}

static const char *refused_join(struct diff_model *m, const struct diff_step *s)
{
	const struct diff_busy *b = &m->busy[s->actor];
	int dir = diff_end(s->actor);

	if (!b->is || !b->async)
		return "nothing to join";
	if (m->dir[dir].most > taken_bytes(m, dir) && !m->side[!dir].gone)
		return "too much unread";
	return NULL;
}

/* What a read that did not wait has left, if anything. */
static const char *refused_end(struct diff_model *m, const struct diff_step *s)
{
	const struct diff_dir *in = diff_in(m, s);

	return in->loose && !in->least && in->most ? "a reset by what is unread, or none" : NULL;
}

static const char *refused_shutdown(struct diff_model *m, const struct diff_step *s)
{
	if ((s->words & DW_WR) && wakes_by_chance(m, diff_end(s->actor)) && is_busy(m, s, DC_READ))
		return "its acknowledgment wakes a reader";
	return NULL;
}

const char *diff_refused(struct diff_model *m, const struct diff_step *s)
{
	if (s->code == DO_JOIN)
		return refused_join(m, s);
	if (s->code == DO_SIGNAL)
		return m->busy[s->actor].async ? "async" : NULL;
	if (s->code == DO_KILL)
		return refused_end(m, s);
	if (m->busy[s->actor].is)
		return "busy";
	if (s->code == DO_CLOSE)
		return refused_end(m, s);
	if (diff_is(s, DC_SEND))
		return refused_send(m, s);
	if (diff_is(s, DC_READ))
		return refused_read(m, s);
	if (s->code == DO_ACCEPT)
		return refused_accept(m, s);
	if (s->code == DO_SHUTDOWN)
		return refused_shutdown(m, s);
	return s->words & DW_WAIT ? refused_wait(m, s) : NULL;
}

uint32_t diff_read_size(const struct diff_model *m, const struct diff_step *s)
{
	const struct diff_dir *in = &m->dir[!diff_end(s->actor)];

	if (s->code == DO_DRAIN && !s->number)
		return diff_unread(in);
	return s->number;
}

bool diff_fits(const struct diff_model *m, int dir)
{
	return m->dir[dir].most <= exact_bytes(m, dir);
}

bool diff_takes_chance(const struct diff_model *m, const struct diff_step *s)
{
	return (is_nonblocking(m, s) || is_timed(m, s)) &&
	       (exceeds(m, s) || is_small(m->side[diff_end(s->actor)].sndbuf));
}

bool diff_reads_all(const struct diff_model *m, const struct diff_step *s)
{
	return diff_may_wait(m, s) && !(s->words & DW_PEEK) &&
	       ((s->words & DW_WAITALL) || s->code == DO_DRAIN);
}
