/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tester knows of a connection while a program runs: not what TCP does, but
 * how many bytes are under way, what would wait, and where results may differ.
 *
 * A direction is "loose" from the moment that more may be unread than TCP surely
 * delivers: then the size of a read is chance, and from there on two bounds tell what is
 * unread. All that decides what is done next depends on the bounds and on the program,
 * never on what is chance, so both runs of a program take the same way.
 */
#ifndef SPEED_SELFTESTS_DIFF_MODEL_H
#define SPEED_SELFTESTS_DIFF_MODEL_H

#include "diff_op.h"
#include "diff_work.h"

/* A stretch of the source that a send offered, and the stream took. */
struct diff_piece {
	uint32_t src;
	uint32_t len;
};

/**
 * struct diff_dir - a direction; of end 0 to end 1 is 0
 * @sent: bytes taken by sends that are done
 * @offered: by one that is under way
 * @read: bytes read
 * @least: of what is unread, not less is unread
 * @most: nor more
 * @loose: sizes of reads are chance
 * @cut: what was sent may not have arrived whole
 * @urgent: there was an urgent byte, or another reason why counts are not exact
 * @deaf: what is sent reaches nobody
 * @dirty: sent to since it was last known to have arrived
 * @ended: so was the end of it
 */
struct diff_dir {
	uint64_t sent;
	uint64_t offered;
	uint64_t read;
	uint64_t least;
	uint64_t most;
	bool loose;
	bool cut;
	bool urgent;
	bool deaf;
	bool dirty;
	bool ended;
	int pieces;
	struct diff_piece piece[DIFF_STEPS_MAX];
};

/**
 * struct diff_side - an end
 * @connecting: connect was begun, or the other end accepted
 * @shut: DW_RD and DW_WR
 * @gone: closed, reset or disconnected
 * @hit: what was sent from here is answered by a reset
 * @zerocopy: sends whose completions were not taken
 * @fastopen: its connection begins with its first bytes
 */
struct diff_side {
	bool connecting;
	bool nonblock;
	bool peekoff;
	bool cork;
	uint32_t shut;
	bool gone;
	bool hit;
	bool linger0;
	bool fastopen;
	int zerocopy;
	int sndbuf;
	int rcvbuf;
	int maxseg;
	int lowat;
	int rcvtimeo;
	int sndtimeo;
};

/**
 * struct diff_busy - an actor's operation that has not come back
 * @async: it may come back at any time
 * @number: of bytes, as ordered
 */
struct diff_busy {
	bool is;
	bool async;
	uint32_t number;
	struct diff_step step;
};

/**
 * struct diff_model - all of it
 * @listener: what the accepted end will be like
 * @defer: a connection is there only once bytes are
 * @async: somebody wants SIGIO
 */
struct diff_model {
	struct diff_dir dir[2];
	struct diff_side side[2];
	struct diff_side listener;
	struct diff_busy busy[DIFF_ACTORS];
	bool defer;
	bool async;
	int connects;
	int accepts;
};

static inline bool diff_is(const struct diff_step *s, unsigned int what)
{
	return diff_codes[s->code].is & what;
}

/* The direction that a step reads from, and the one that it sends to. */
static inline struct diff_dir *diff_in(struct diff_model *m, const struct diff_step *s)
{
	return &m->dir[!diff_end(s->actor)];
}

static inline struct diff_dir *diff_out(struct diff_model *m, const struct diff_step *s)
{
	return &m->dir[diff_end(s->actor)];
}

static inline uint64_t diff_unread(const struct diff_dir *d)
{
	return d->sent + d->offered - d->read;
}

/* Could the step wait, as the descriptor stands? */
bool diff_may_wait(const struct diff_model *m, const struct diff_step *s);
/* It waits for something, and that is there; unknown is false. */
bool diff_expected(const struct diff_model *m, const struct diff_step *s, uint32_t number);
/* Of an end's operations under way the one after @last, or the first; NULL: no more. */
const struct diff_busy *diff_next_busy(const struct diff_model *m, int end,
				       const struct diff_busy *last);
#define for_each_busy(b, m, end)	\
	for (b = diff_next_busy(m, end, NULL); b; b = diff_next_busy(m, end, b))
/* One of an end's actors is in an operation of that kind. */
bool diff_end_busy(const struct diff_model *m, int end, unsigned int what);
/* A send that TCP may not take whole without a reader. */
bool diff_is_async(const struct diff_model *m, const struct diff_step *s);
/* A send that waits for nothing, and so may leave some bytes out. */
bool diff_takes_chance(const struct diff_model *m, const struct diff_step *s);
/* All that is unread in a direction has surely arrived. */
bool diff_fits(const struct diff_model *m, int dir);
/* A read that waits for all its bytes. */
bool diff_reads_all(const struct diff_model *m, const struct diff_step *s);
/* NULL, or why the step is left out: its result would be chance. */
const char *diff_refused(struct diff_model *m, const struct diff_step *s);
/* The bytes that a read is to ask for. */
uint32_t diff_read_size(const struct diff_model *m, const struct diff_step *s);

/* A step begins, and a step has its result. */
void diff_begin(struct diff_model *m, const struct diff_step *s, uint32_t src, bool async);
void diff_note(struct diff_model *m, const struct diff_step *s, uint32_t number,
	       const struct diff_result *r);
/* The last descriptor of an end has gone, or the connection by another way. */
void diff_note_gone(struct diff_model *m, int end, bool abort);
void diff_note_killed(struct diff_model *m, int actor);

/* The bytes of a direction from a place on, as they were sent. */
void diff_expect_bytes(const struct diff_dir *d, uint64_t from, size_t n, unsigned char *out);
/* What was received is not what was sent: where, or -1. */
long diff_wrong_byte(const struct diff_dir *d, const unsigned char *got);

#endif
