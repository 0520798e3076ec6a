// SPDX-License-Identifier: GPL-2.0
/*
 * The verbs of the ring against a peer that lies: indices, records, flags.
 * Every load of shared memory is counted, because a word that is checked and
 * then loaded again was not checked.
 */
#include <linux/types.h>

static int loads;	/* of shared memory since the last reset */
static int changes;	/* whether shared words change after each load */

#define HOOKED_LOAD(p, order) ({					\
	__typeof__(*(p) + 0) hooked_v = __atomic_load_n(p, order);	\
	loads++;							\
	if (changes)							\
		*(__typeof__(hooked_v) *)(p) ^= ~(__typeof__(hooked_v))0;	\
	hooked_v;							\
})

#define speed_load_acquire(p)		HOOKED_LOAD(p, __ATOMIC_ACQUIRE)
#define speed_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define speed_load(p)			HOOKED_LOAD(p, __ATOMIC_RELAXED)
#define speed_full_barrier()		__atomic_thread_fence(__ATOMIC_SEQ_CST)

#include "rig.h"
#include "tap.h"

#define SIZE	4096
#define ROUNDS	2000000

/* The rule in arithmetic that cannot wrap: is b at most size ahead of a? */
static int within(__u64 a, __u64 b, __u64 size)
{
	unsigned __int128 ahead = (unsigned __int128)b + ((unsigned __int128)1 << 64) - a;

	ahead &= ~(__u64)0;
	return ahead <= size;
}

static const __u64 distances[] = {
	0, 1, 2, SIZE - 1, SIZE, SIZE + 1, 2 * SIZE, 65535, 65536, (1ull << 30) - 1, 1ull << 30,
	(1ull << 31) - 1, 1ull << 31, (1ull << 32) - 1, 1ull << 32, (1ull << 32) + SIZE,
	(1ull << 63) - 1, 1ull << 63, (1ull << 63) + 1, -1ull, -2ull, -(__u64)SIZE,
	-(__u64)SIZE - 1,
};

#define DISTANCES	(sizeof(distances) / sizeof(*distances))

/* A distance that is near one of the chosen ones more often than not. */
static __u64 some_distance(__u64 *seed)
{
	__u64 pick = rig_random(seed);

	if (pick % 4 == 0)
		return rig_random(seed) >> (pick >> 8) % 64;
	return distances[(pick >> 8) % DISTANCES] + (pick >> 32) % 5 - 2;
}

/* One look at a peer's index that may be a lie, from either side. */
static void look(struct speed_side *s, __u64 theirs, __u64 want, int producer)
{
	struct speed_index page = { .index = theirs };
	__u64 own = s->own, other = s->other, known, now;
	int honest;
	__s64 got;

	known = producer ? s->size - (own - other) : other - own;
	honest = producer ? within(theirs, own, s->size) : within(own, theirs, s->size);
	now = producer ? s->size - (own - theirs) : theirs - own;
	s->theirs = &page;
	loads = 0;
	got = producer ? speed_prod_free(s, want) : speed_cons_ready(s, want);
	need(loads <= 1);
	need(s->own == own);
	if (known >= want && (producer || known)) {
		need(loads == 0 && got == (__s64)known && s->other == other);
	} else if (honest) {
		need(loads == 1 && got == (__s64)now && s->other == theirs);
	} else {
		need(loads == 1 && got == -1 && s->other == other);
	}
	need(got <= (__s64)s->size);
}

static void test_indices(void)
{
	struct speed_side s = { .size = SIZE };
	__u64 seed = 42;
	size_t i, j;
	int round;

	for (i = 0; i < DISTANCES; i++) {
		for (j = 0; j < DISTANCES; j++) {
			s.own = distances[j];
			s.other = s.own;
			look(&s, s.own + distances[i], 1, 0);
			s.other = s.own - SIZE;
			look(&s, s.own - distances[i], 1, 1);
		}
	}
	ok("chosen lies about an index are found");

	for (round = 0; round < ROUNDS; round++) {
		s.size = 1ull << (12 + rig_random(&seed) % 19);
		s.own = some_distance(&seed);
		s.other = s.own - rig_random(&seed) % (s.size + 1);
		look(&s, s.own - some_distance(&seed), rig_random(&seed) % (s.size + 2), 1);
		s.other = s.own + rig_random(&seed) % (s.size + 1);
		look(&s, s.own + some_distance(&seed), rig_random(&seed) % (s.size + 2), 0);
	}
	ok("random lies about an index are found, each word is loaded once");
}

static void test_changing(void)
{
	struct rig r;
	__u64 i;

	rig_open(&r, SIZE, 1000);
	changes = 1;
	for (i = 0; i <= SIZE; i++) {
		r.cons.other = r.cons.own;
		r.head.index = 1000 + i;
		need(speed_cons_ready(&r.cons, SIZE) == (__s64)i);
		need(r.cons.other == 1000 + i);
		r.prod.other = r.prod.own - SIZE;
		r.tail.index = 1000 - i;
		need(speed_prod_free(&r.prod, SIZE + 1) == (__s64)(SIZE - i));
		need(r.prod.other == 1000 - i);
	}
	changes = 0;
	ok("an index that changes once it was looked at changes nothing");
	rig_close(&r);
}

/* The kernel page and the index of a peer may say anything: a wake-up too many or too few. */
static void test_wake_words(void)
{
	__u64 seed = 5;
	struct rig r;
	int round;

	rig_open(&r, SIZE, 0);
	for (round = 0; round < ROUNDS / 10; round++) {
		r.head.index = rig_random(&seed);
		r.kern.flags = rig_random(&seed);
		r.kern.wake_free = rig_random(&seed);
		loads = 0;
		need(speed_cons_must_wake(&r.cons) <= (int)!!(r.kern.flags & SPEED_NEED_SPACE));
		need(loads <= 3);
		loads = 0;
		need(speed_prod_must_wake(&r.prod) == !!(r.kern.flags & SPEED_NEED_DATA));
		need(loads == 1);
	}
	need(r.cons.own == 0 && r.prod.own == 0 && r.tail.index == 0);
	ok("flags and thresholds decide about a wake-up and nothing else");
	rig_close(&r);
}

static void test_records(void)
{
	static const __u32 lens[] = {
		0, 1, 7, 8, 9, SIZE - 17, SIZE - 16, SIZE - 9, SIZE - 8, SIZE - 7, SIZE, 0x3fffffff,
		0x7fffffff, 0x80000000, 0xfffffff7, 0xfffffff8, 0xfffffff9, 0xffffffff,
	};
	struct speed_record rec = { 0 };
	unsigned __int128 bytes;
	__u64 seed = 9, ready;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		rec.len = lens[rig_random(&seed) % (sizeof(lens) / sizeof(*lens))];
		if (round % 3 == 0)
			rec.len = rig_random(&seed) >> rig_random(&seed) % 64;
		bytes = ((unsigned __int128)rec.len + 15) / 8 * 8;
		ready = (__u64)bytes + rig_random(&seed) % 19 - 9;
		if (round % 5 == 0)
			ready = rig_random(&seed) % (SPEED_RING_MAX + 1ull);
		if ((__s64)ready < 0)
			ready = 0;
		need(speed_record_check(&rec, ready) == (bytes <= ready ? (__u64)bytes : 0));
	}
	ok("a record is taken only if the ring holds all of it");
	for (round = 0; round < 32; round++) {
		rec.len = 8;
		rec.reserved = 1u << round;
		need(speed_record_check(&rec, SIZE) == 0);
	}
	rec.reserved = 0;
	need(speed_record_check(&rec, SIZE) == 16);
	for (ready = 0; ready < 16; ready++)
		need(speed_record_check(&rec, ready) == 0);
	ok("reserved bits of a record must be zero");
}

int main(void)
{
	test_indices();
	test_changing();
	test_wake_words();
	test_records();
	return tap_done();
}
