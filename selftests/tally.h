/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of several senders on one connection, and what came of them. TCP does not
 * keep a call's bytes together where its buffer is full: those of another thread may
 * come between them. There each byte tells whose it is, and which.
 */
#ifndef SPEED_TALLY_H
#define SPEED_TALLY_H

#include <string.h>
#include <sys/mman.h>

#include "harness.h"

#define SENDERS		4
#define RECORD		32	/* bytes */

/**
 * struct record - what is sent; a stream is cut into these
 * @sender: who
 * @number: which of his
 * @check: made of the two
 * @fill: made of @check
 */
struct record {
	uint32_t sender;
	uint32_t number;
	uint64_t check;
	unsigned char fill[RECORD - 16];
};

static inline void record_make(struct record *r, uint32_t sender, uint32_t number)
{
	r->sender = sender;
	r->number = number;
	r->check = (uint64_t)sender * 0x100000001b3ull ^ number * 0x9e3779b9ull;
	stream_fill(r->fill, sizeof(r->fill), r->check % 4096);
}

/* The same where calls are parted: two bits tell the sender, six the place in his bytes. */
#define PLACES		61

static inline void bytes_make(struct record *r, uint32_t sender, uint32_t number)
{
	unsigned char *b = (unsigned char *)r;
	size_t k;

	for (k = 0; k < sizeof(*r); k++)
		b[k] = sender << 6 | ((uint64_t)number * sizeof(*r) + k) % PLACES;
}

static inline bool record_good(const struct record *r)
{
	struct record want;

	record_make(&want, r->sender, r->number);
	return r->sender < SENDERS && !memcmp(r, &want, sizeof(want));
}

/**
 * struct tally - what the readers saw, in memory that processes share
 * @seen: of each record, how often it came
 * @bytes: of each sender, how many came where calls are parted
 * @wrong: records that nobody sent, or out of their sender's order; or bytes
 * @parted: calls may be
 */
struct tally {
	unsigned char *seen;
	uint64_t bytes[SENDERS];
	long wrong;
	bool parted;
};

static inline struct tally *tally_create(const struct transport *t, int count)
{
	size_t size = sizeof(struct tally) + (size_t)SENDERS * count;
	struct tally *y = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			       -1, 0);

	MUST(y != MAP_FAILED);
	y->seen = (unsigned char *)(y + 1);
	y->parted = tp_is_tcp(t);
	return y;
}

static inline void tally_note(const struct tally *y, int count)
{
	long missing = 0, doubled = 0, i;

	for (i = 0; i < SENDERS && y->parted; i++) {
		int64_t more = y->bytes[i] - (uint64_t)count * RECORD;

		missing -= more < 0 ? more : 0;
		doubled += more > 0 ? more : 0;
	}
	for (i = 0; i < (long)SENDERS * count && !y->parted; i++) {
		missing += y->seen[i] == 0;
		doubled += y->seen[i] > 1;
	}
	trace_num(missing, "missing");
	trace_num(doubled, "doubled");
	trace_num(y->wrong, "wrong");
}

/* Of one reader: a stream has no more. */
static inline void note_bytes(struct tally *y, const struct record *r)
{
	const unsigned char *b = (const unsigned char *)r;
	size_t k;

	for (k = 0; k < sizeof(*r); k++) {
		uint64_t *bytes = &y->bytes[b[k] >> 6];

		y->wrong += (b[k] & 63) != *bytes % PLACES;
		++*bytes;
	}
}

/* @last: of each sender, the number of the last that this reader got */
static inline void note_record(struct tally *y, int count, const struct record *r, int64_t last[])
{
	if (!record_good(r) || r->number >= (uint32_t)count ||
	    (int64_t)r->number <= last[r->sender]) {
		__atomic_add_fetch(&y->wrong, 1, __ATOMIC_RELAXED);
		return;
	}
	last[r->sender] = r->number;
	__atomic_add_fetch(&y->seen[r->sender * count + r->number], 1, __ATOMIC_RELAXED);
}

#endif
