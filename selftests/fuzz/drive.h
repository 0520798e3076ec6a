/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fuzz targets share: run the input as a list of operations, of which
 * half are the honest side's and half the hostile side's, and hold the honest
 * side to its promises after each.
 */
#ifndef DRIVE_H
#define DRIVE_H

#include "arena.h"

static struct arena arenas[SPEED_ROLES];

/* One operation of the honest side; returns bytes, 0 for "not now" or -1 for a lie found. */
static int64_t honest(struct speed_side *s, int role, uint8_t what);

/* The kernel takes a role back: its index page is as hostile as the peer's. */
static int64_t take_back(struct speed_side *s, int role)
{
	uint64_t mine = speed_load(&s->mine->index);
	uint64_t theirs = speed_load_acquire(&s->theirs->index);

	if (!(role == SPEED_ROLE_TX ? speed_ring_sane(mine, theirs, s->size) :
				      speed_ring_sane(theirs, mine, s->size)))
		return -1;
	s->own = mine;
	s->other = theirs;
	return 0;
}

/* After a publication: every question that a holder asks. */
static void ask(struct speed_side *s, int role)
{
	speed_ring_publish_fence();
	if (role == SPEED_ROLE_TX)
		speed_prod_must_wake(s);
	else
		speed_cons_must_wake(s);
	speed_ring_counts(s, role, 1);
}

/* Own index and the last look always make a ring, whatever happened. */
static void hold_to_promises(struct speed_side *s, int role)
{
	uint64_t live = role == SPEED_ROLE_TX ? s->own - s->other : s->other - s->own;

	must(live <= SIZE);
	must(s->size == SIZE);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	uint64_t before;
	int64_t moved;
	uint8_t op;

	if (!arenas[0].side.data) {
		arena_open(&arenas[SPEED_ROLE_TX], SPEED_ROLE_TX);
		arena_open(&arenas[SPEED_ROLE_RX], SPEED_ROLE_RX);
	}
	input = (struct cursor){ bytes, count };
	meddle_after = 0;
	op = take8();
	arena_restart(&arenas[op % SPEED_ROLES], op & 2 ? -(uint64_t)take(2) : take(8) & ~7ull);
	while (input.left && !arena->spoilt) {
		struct speed_side *s = &arena->side;

		op = take8();
		if (op < 0x70) {
			hostile_write(op);
		} else if (op < 0x80) {
			hostile_later(op, take8());
		} else if (op < 0x88) {
			arena->spoilt = take_back(s, arena->role) < 0;
			hold_to_promises(s, arena->role);
		} else {
			before = s->own;
			moved = honest(s, arena->role, op);
			arena->spoilt = moved < 0;
			must(moved <= SIZE && moved >= -1);
			must(s->own - before == (moved > 0 ? (uint64_t)moved : 0));
			if (moved > 0 && !arena->defaced)
				must(s->mine->index == s->own);
			ask(s, arena->role);
			hold_to_promises(s, arena->role);
		}
	}
	return 0;
}

#endif /* DRIVE_H */
