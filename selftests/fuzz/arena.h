/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pages of one role as an honest process maps them, and the same pages as
 * a hostile one would like to have them: all of them writable.
 *
 * The honest view has a guard area around each region and no write access to
 * what the role does not own, so that a stray access is a fault. The input of
 * the fuzzer is read through a cursor: hostile writes may come between the
 * operations, or after any load of shared memory inside one (meddling).
 */
#ifndef ARENA_H
#define ARENA_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/speed_ring.h>

#define PAGE		4096
#define SIZE		(2 * PAGE)		/* of the ring */
#define GUARD		(16 * SIZE)

#define must(cond) do {							\
	if (!(cond)) {							\
		fprintf(stderr, "%s:%d: must be so: %s\n", __FILE__, __LINE__, #cond);	\
		abort();						\
	}								\
} while (0)

/* The memory: own index, kernel page, other index, data. */
struct pages {
	struct speed_index	own[PAGE / sizeof(struct speed_index)];
	struct speed_kern	kern[PAGE / sizeof(struct speed_kern)];
	struct speed_index	theirs[PAGE / sizeof(struct speed_index)];
	unsigned char		data[SIZE];
};

struct arena {
	struct speed_side	side;	/* the honest view */
	struct speed_side	*live;	/* and where it is worked on */
	struct pages		*hostile;
	int			role;
	int			spoilt;	/* a lie was found: the connection is reset */
	int			defaced;	/* the own index page was written by the other */
};

static struct arena *arena;		/* of the current input */

struct cursor {
	const uint8_t	*at;
	size_t		left;
};

static struct cursor input;

static uint8_t take8(void)
{
	if (!input.left)
		return 0;
	input.left--;
	return *input.at++;
}

static uint64_t take(int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | take8();
	return v;
}

static void *arena_region(int fd, size_t at, size_t bytes, int prot, int times)
{
	unsigned char *area = mmap(NULL, 2 * GUARD + times * bytes, PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	must(area != MAP_FAILED);
	for (i = 0; i < times; i++)
		must(mmap(area + GUARD + i * bytes, bytes, prot, MAP_SHARED | MAP_FIXED, fd, at) !=
		     MAP_FAILED);
	return area + GUARD;
}

static void arena_open(struct arena *a, int role)
{
	int fd = memfd_create("arena", MFD_CLOEXEC);
	int writable = role == SPEED_ROLE_TX ? PROT_WRITE : 0;

	must(fd >= 0 && !ftruncate(fd, sizeof(struct pages)));
	a->role = role;
	a->hostile = mmap(NULL, sizeof(struct pages), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(a->hostile != MAP_FAILED);
	a->side.mine = arena_region(fd, 0, PAGE, PROT_READ | PROT_WRITE, 1);
	a->side.kern = arena_region(fd, PAGE, 2 * PAGE, PROT_READ, 1);
	a->side.theirs = (const struct speed_index *)((const char *)a->side.kern + PAGE);
	a->side.data = arena_region(fd, 3 * PAGE, SIZE, PROT_READ | writable, 2);
	a->side.size = SIZE;
	a->live = &a->side;
	close(fd);
}

/* The state after @start bytes, in which the peer has not lied yet. */
static void arena_restart(struct arena *a, uint64_t start)
{
	memset(a->hostile, 0, sizeof(*a->hostile));
	a->hostile->own->index = start;
	a->hostile->theirs->index = start;
	a->side.own = start;
	a->side.other = start;
	a->spoilt = 0;
	a->defaced = 0;
	arena = a;
}

/* An index that is likely to be near a bound. */
static uint64_t take_index(void)
{
	uint64_t own = arena->live->own;
	uint8_t how = take8();

	switch (how % 8) {
	case 0: return own + (int8_t)take8();
	case 1: return own + SIZE + (int8_t)take8();
	case 2: return own - SIZE + (int8_t)take8();
	case 3: return own + (int16_t)take(2);
	case 4: return own + (1ull << how / 8) + (int8_t)take8();
	case 5: return own - (1ull << how / 8) + (int8_t)take8();
	case 6: return arena->live->other + (int16_t)take(2);
	default: return take(8);
	}
}

static void hostile_record(void)
{
	struct speed_record rec = { .len = take(1), .reserved = 0 };
	uint8_t how = take8();
	size_t at = arena->live->own & (SIZE - 1) & ~(size_t)7;

	if (how & 1)
		rec.len |= take(3) << 8;
	if (how & 2)
		rec.reserved = take(4);
	if (how & 4)
		at = take(2) % (SIZE - sizeof(rec));
	memcpy(arena->hostile->data + at, &rec, sizeof(rec));
}

/* One write by the hostile process. */
static void hostile_write(uint8_t what)
{
	struct pages *p = arena->hostile;
	uint64_t v;

	switch (what % 8) {
	case 0:
	case 1:
		v = take_index();
		p->theirs->index = v;
		break;
	case 2:
		p->kern->flags = take(4);
		break;
	case 3:
		p->kern->wake_free = take(8);
		break;
	case 4:
		p->kern->epoch[take8() % SPEED_ROLES] = take(1);
		break;
	case 5:
		v = take(2);
		p->data[v % SIZE] = take8();
		break;
	case 6:
		hostile_record();
		break;
	case 7:
		v = take(2) % offsetof(struct pages, data);
		((unsigned char *)p)[v] = take8();
		arena->defaced |= v < offsetof(struct pages, kern);
		break;
	}
}

/* Writes that wait for a load: after @meddle_after loads comes @meddle_what. */
static unsigned int meddle_after;
static uint8_t meddle_what;

void arena_meddle(void)
{
	if (meddle_after && !--meddle_after)
		hostile_write(meddle_what);
}

static void hostile_later(uint8_t loads, uint8_t what)
{
	meddle_after = loads % 8 + 1;
	meddle_what = what;
}

#endif /* ARENA_H */
