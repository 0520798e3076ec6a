// SPDX-License-Identifier: GPL-2.0
/*
 * The differences that TCP itself allows, all of them: what may differ between two runs
 * of one program on plain TCP, and why. What no rule names must agree.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>

#include "diff_pool.h"
#include "diff_run.h"

#define COUNT(a)	((int)(sizeof(a) / sizeof((a)[0])))

static bool reads_loosely(struct diff_model *m, const struct diff_step *s,
			  const struct diff_result *r)
{
	return diff_is(s, DC_READ) && diff_in(m, s)->loose && !(s->words & DW_OOB);
}

/* There are bytes, for which there is no place: with none it would be EAGAIN. */
static bool finds_no_memory(const struct diff_step *s, const struct diff_result *r)
{
	return r->err == EFAULT && (s->words & (DW_NULL | DW_BAD | DW_TAIL));
}

static bool some_or_none(struct diff_model *m, const struct diff_step *s,
			 const struct diff_result *r)
{
	return s->code == DO_DRAIN || s->code == DO_FINISH || r->ret > 0 ||
	       (!r->ret && !s->number) || (r->err == EAGAIN && !diff_may_wait(m, s)) ||
	       finds_no_memory(s, r);
}

static void drop_size(struct diff_model *m, const struct diff_step *s, struct diff_result *r)
{
	r->has &= DR_FLAGS;
	if ((diff_reads_all(m, s) && s->number) || !some_or_none(m, s, r))
		return;
	r->ret = DIFF_SOME;
	r->has = 0;
	if (s->code != DO_FINISH && (r->err == EAGAIN || finds_no_memory(s, r)))
		r->err = 0;
}

static bool reads_cut(struct diff_model *m, const struct diff_step *s,
		      const struct diff_result *r)
{
	return diff_is(s, DC_READ) && diff_in(m, s)->cut;
}

static bool sends_cut(struct diff_model *m, const struct diff_step *s,
		      const struct diff_result *r)
{
	return diff_is(s, DC_SEND) && diff_out(m, s)->loose &&
	       (diff_out(m, s)->cut || diff_out(m, s)->deaf);
}

static void drop_all(struct diff_model *m, const struct diff_step *s, struct diff_result *r)
{
	*r = (struct diff_result){ .ret = DIFF_ANY };
}

static bool sends_what_fits(struct diff_model *m, const struct diff_step *s,
			    const struct diff_result *r)
{
	return diff_is(s, DC_SEND) && diff_takes_chance(m, s) &&
	       (r->ret > 0 || r->err == EAGAIN);
}

static void drop_ret(struct diff_model *m, const struct diff_step *s, struct diff_result *r)
{
	r->ret = DIFF_SOME;
	r->err = 0;
}

static bool polls(const struct diff_step *s)
{
	return s->code == DO_POLL || s->code == DO_SELECT || s->code == DO_EPWAIT;
}

static bool polls_loosely(struct diff_model *m, const struct diff_step *s,
			  const struct diff_result *r)
{
	return polls(s) && diff_in(m, s)->loose;
}

static void drop_in(struct diff_model *m, const struct diff_step *s, struct diff_result *r)
{
	if (diff_in(m, s)->least && s->code != DO_EPWAIT && !diff_in(m, s)->cut)
		return;
	r->mask &= ~(DW_IN | DW_RDHUP);
	r->mask2 &= ~(DW_IN | DW_RDHUP);
	r->ret = DIFF_SOME;
}

static bool polls_full(struct diff_model *m, const struct diff_step *s,
		       const struct diff_result *r)
{
	return polls(s) && diff_out(m, s)->loose;
}

static void drop_out(struct diff_model *m, const struct diff_step *s, struct diff_result *r)
{
	r->mask &= ~DW_OUT;
	r->mask2 &= ~DW_OUT;
	r->ret = DIFF_SOME;
}

static bool counts_in(struct diff_model *m, const struct diff_step *s,
		      const struct diff_result *r)
{
	return (s->code == DO_INQ || s->code == DO_INFO) && diff_in(m, s)->loose;
}

static bool counts_out(struct diff_model *m, const struct diff_step *s,
		       const struct diff_result *r)
{
	return s->code == DO_OUTQ &&
	       (diff_out(m, s)->loose || diff_out(m, s)->deaf || m->side[diff_end(s->actor)].gone);
}

/* It was never begun, and what TCP subtracts from is a random sequence number. */
static bool counts_nothing(struct diff_model *m, const struct diff_step *s,
			   const struct diff_result *r)
{
	const struct diff_dir *out = diff_out(m, s);

	return s->code == DO_OUTQ && m->side[diff_end(s->actor)].fastopen &&
	       !out->sent && !out->offered;
}

static void drop_counts(struct diff_model *m, const struct diff_step *s, struct diff_result *r)
{
	if (s->code == DO_INFO)
		r->has &= ~DR_INQ;
	else
		r->has &= ~DR_VALUE;
}

static bool has_closing_state(struct diff_model *m, const struct diff_step *s,
			      const struct diff_result *r)
{
	return s->code == DO_INFO && (r->value == TCP_FIN_WAIT1 || r->value == TCP_FIN_WAIT2 ||
				      r->value == TCP_LAST_ACK || r->value == TCP_CLOSE);
}

static void merge_states(struct diff_model *m, const struct diff_step *s, struct diff_result *r)
{
	if (r->value == TCP_FIN_WAIT1)
		r->value = TCP_FIN_WAIT2;
	else if (r->value == TCP_LAST_ACK)
		r->value = TCP_CLOSE;
}

/* The other end's FIN, which has its place in the stream. */
static bool awaits_end(struct diff_model *m, const struct diff_step *s,
		       const struct diff_result *r)
{
	return s->code == DO_INFO && diff_in(m, s)->loose && diff_in(m, s)->ended &&
	       (r->value == TCP_ESTABLISHED || r->value == TCP_CLOSE_WAIT);
}

static void drop_end(struct diff_model *m, const struct diff_step *s, struct diff_result *r)
{
	r->value = TCP_CLOSE_WAIT;
}

/* How much of the buffer in which an urgent byte lies is left. */
static bool hints(struct diff_model *m, const struct diff_step *s,
		  const struct diff_result *r)
{
	return s->code == DO_ZCRECV && diff_in(m, s)->urgent;
}

static void drop_hint(struct diff_model *m, const struct diff_step *s, struct diff_result *r)
{
	r->has &= ~DR_VALUE;
}

static bool told_loosely(struct diff_model *m, const struct diff_step *s,
			 const struct diff_result *r)
{
	return diff_in(m, s)->loose || diff_out(m, s)->loose || !diff_held(!diff_end(s->actor));
}

static void drop_sigio(struct diff_model *m, const struct diff_step *s, struct diff_result *r)
{
	r->signals &= ~(1u << SIGIO);
}

static bool told_of_zerocopy(struct diff_model *m, const struct diff_step *s,
			     const struct diff_result *r)
{
	return m->side[diff_end(s->actor)].zerocopy ||
	       (diff_is(s, DC_SEND) && (s->words & DW_ZEROCOPY));
}

const struct diff_rule diff_rules[] = {
	{ "read size",
	  "more is unread than the first window holds: how much has come when it looks is chance",
	  reads_loosely, drop_size },
	{ "cut off",
	  "more was unread than the window holds, and an abrupt end threw away what had not left",
	  reads_cut, drop_all },
	{ "cut off while sending",
	  "the same for the sender: how much it got rid of before it learned of the end",
	  sends_cut, drop_all },
	{ "send size",
	  "a send that may not wait takes what fits, and buffers grow and count segments' overhead",
	  sends_what_fits, drop_ret },
	{ "ready to read", "as read size: whether some of it has come", polls_loosely, drop_in },
	{ "ready to write", "as send size: whether there is room", polls_full, drop_out },
	{ "bytes to read", "as read size, asked by ioctl or TCP_INFO", counts_in, drop_counts },
	{ "bytes to write",
	  "what is beyond the window, or has nobody to read it, may stay unacknowledged",
	  counts_out, drop_counts },
	{ "bytes to write of no connection",
	  "with TCP_FASTOPEN_CONNECT and no bytes TCP tells its random first sequence number",
	  counts_nothing, drop_counts },
	{ "closing states",
	  "the acknowledgment of a FIN may be delayed by 40 ms",
	  has_closing_state, merge_states },
	{ "the end of the stream",
	  "as read size: a FIN comes after all that was sent",
	  awaits_end, drop_end },
	{ "hint of a zerocopy receive",
	  "TCP merges buffers, or not, as the sender has or has not let go of them",
	  hints, drop_hint },
	{ "SIGIO",
	  "as read size and send size, told by a signal; and an end that a call alone holds goes "
	  "with it, a moment after the step that ends it",
	  told_loosely, drop_sigio },
	{ "SIGIO of zerocopy",
	  "tells of an acknowledgment, which may be delayed by 40 ms",
	  told_of_zerocopy, drop_sigio },
};

const int diff_rules_n = COUNT(diff_rules);

void diff_apply_rules(struct diff_model *m, const struct diff_step *s, struct diff_result *r)
{
	int i;

	for (i = 0; i < diff_rules_n; i++) {
		if (diff_rules[i].applies(m, s, r))
			diff_rules[i].apply(m, s, r);
	}
}
