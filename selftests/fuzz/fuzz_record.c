// SPDX-License-Identifier: GPL-2.0
/*
 * A sender or receiver of records (SOCK_SEQPACKET), whose other side is the
 * fuzzer.
 */
#include "drive.h"

static unsigned char user[SIZE];

static int64_t put_record(struct speed_side *s, uint64_t len)
{
	struct speed_record rec = { .len = len };
	uint64_t bytes = SPEED_RECORD_BYTES(len);
	int64_t can = speed_prod_free(s, bytes);

	if (can < (int64_t)bytes)
		return can < 0 ? -1 : 0;
	memcpy(speed_ring_span(s, 0), &rec, sizeof(rec));
	memcpy(speed_ring_span(s, sizeof(rec)), user, len);
	speed_ring_publish(s, bytes);
	return bytes;
}

/* The record @ahead bytes from here: its header into @rec, the bytes it takes. */
static int64_t look(struct speed_side *s, uint64_t ahead, struct speed_record *rec)
{
	int64_t ready = speed_cons_ready(s, ahead + 1);
	uint64_t bytes;

	if (ready < 0)
		return -1;
	if ((uint64_t)ready <= ahead)
		return 0;
	ready -= ahead;
	if (ready < (int64_t)sizeof(*rec))
		return -1;
	memcpy(rec, speed_ring_span(s, ahead), sizeof(*rec));
	bytes = speed_record_check(rec, ready);
	return bytes ? (int64_t)bytes : -1;
}

static int64_t get_record(struct speed_side *s, uint64_t room, int peek)
{
	struct speed_record rec;
	int64_t bytes = look(s, 0, &rec);

	if (bytes <= 0)
		return bytes;
	must(rec.len < bytes);
	/* A hostile peer writes while the bytes are copied: only @rec is used. */
	arena_meddle();
	memcpy(user, speed_ring_span(s, sizeof(rec)), rec.len < room ? rec.len : room);
	if (peek)
		return 0;
	speed_ring_publish(s, bytes);
	return bytes;
}

/* As FIONREAD or a reader of several messages does it: walk all that is there. */
static int64_t walk(struct speed_side *s)
{
	struct speed_record rec;
	uint64_t ahead = 0, rounds = 0;
	int64_t bytes;

	while (ahead < SIZE && (bytes = look(s, ahead, &rec)) > 0) {
		must(rounds++ <= SIZE / sizeof(rec));
		memcpy(user, speed_ring_span(s, ahead + sizeof(rec)), rec.len);
		ahead += bytes;
		must(ahead <= SIZE);
	}
	return 0;
}

static int64_t honest(struct speed_side *s, int role, uint8_t what)
{
	uint64_t len = take(2) % (SIZE - sizeof(struct speed_record) + 1);

	if (role == SPEED_ROLE_TX)
		return put_record(s, len);
	if (what % 4 == 3)
		return walk(s);
	return get_record(s, len, what % 4 == 2);
}
