// SPDX-License-Identifier: GPL-2.0
/*
 * The verbs of the ring, one thread, honest sides.
 */
#include "rig.h"
#include "tap.h"

#define SIZE	4096

static void test_fresh(void)
{
	struct rig r;

	rig_open(&r, SIZE, 0);
	need(speed_prod_free(&r.prod, 1) == SIZE);
	need(speed_prod_free(&r.prod, SIZE) == SIZE);
	need(speed_cons_ready(&r.cons, 0) == 0);
	need(speed_cons_ready(&r.cons, 1) == 0);
	need(speed_ring_span(&r.prod, 0) == r.prod.data);
	need(!speed_prod_must_wake(&r.prod));
	need(!speed_cons_must_wake(&r.cons));
	ok("a new ring is empty and wakes nobody");
	rig_close(&r);
}

static void test_fill_and_drain(void)
{
	struct rig r;
	int i;

	rig_open(&r, SIZE, 0);
	for (i = 0; i < SIZE; i++) {
		need(speed_prod_free(&r.prod, 1) == SIZE - i);
		speed_ring_publish(&r.prod, 1);
		need(r.head.index == (__u64)i + 1 && r.prod.own == (__u64)i + 1);
	}
	need(speed_prod_free(&r.prod, 0) == 0);
	need(speed_prod_free(&r.prod, 1) == 0);
	need(speed_cons_ready(&r.cons, SIZE) == SIZE);
	for (i = 0; i < SIZE; i++) {
		need(speed_cons_ready(&r.cons, 1) == SIZE - i);
		speed_ring_publish(&r.cons, 1);
		need(r.tail.index == (__u64)i + 1);
		need(speed_prod_free(&r.prod, i + 1) == i + 1);
	}
	need(speed_cons_ready(&r.cons, 1) == 0);
	need(speed_prod_free(&r.prod, SIZE) == SIZE);
	ok("the ring takes exactly its size and gives it back");
	rig_close(&r);
}

static void test_cached_index(void)
{
	struct rig r;

	rig_open(&r, SIZE, 100);
	speed_ring_publish(&r.prod, 1000);
	need(speed_cons_ready(&r.cons, 1) == 1000);
	speed_ring_publish(&r.prod, 500);
	need(speed_cons_ready(&r.cons, 1000) == 1000);	/* the last look is enough */
	need(r.cons.other == 1100);
	need(speed_cons_ready(&r.cons, 1001) == 1500);	/* it is not: look again */
	need(r.cons.other == 1600);
	speed_ring_publish(&r.cons, 1500);
	need(speed_prod_free(&r.prod, SIZE - 1500) == SIZE - 1500);
	need(r.prod.other == 100);
	need(speed_prod_free(&r.prod, SIZE - 1499) == SIZE);
	need(r.prod.other == 1600);
	need(speed_cons_ready(&r.cons, 0) == 0);
	speed_ring_publish(&r.prod, 8);
	/* Where nothing is known, look, whatever is wanted. */
	need(speed_cons_ready(&r.cons, 0) == 8);
	ok("the other index is looked at only when the last look is not enough");
	rig_close(&r);
}

static void test_double_mapping(void)
{
	struct rig r;
	int i;

	rig_open(&r, SIZE, SIZE - 10);
	memset(speed_ring_span(&r.prod, 0), 'x', SIZE);
	for (i = 0; i < SIZE; i++)
		speed_ring_span(&r.prod, 0)[i] = i * 7;
	speed_ring_publish(&r.prod, SIZE);
	for (i = 0; i < SIZE; i++)
		need(speed_ring_span(&r.cons, i)[0] == (unsigned char)(i * 7));
	for (i = 0; i < SIZE; i++)
		need(speed_ring_span(&r.cons, 0)[i] == (unsigned char)(i * 7));
	need(speed_ring_span(&r.cons, SIZE) == speed_ring_span(&r.cons, 0));
	ok("a span is contiguous over the end of the data");
	rig_close(&r);
}

/* Bytes whose value is a function of their place in the stream go through. */
static void stream_over(__u64 start, size_t size, __u64 seed)
{
	__u64 put = 0, got = 0, n, i;
	__s64 can;
	struct rig r;

	rig_open(&r, size, start);
	while (got < 8 * size) {
		n = rig_random(&seed) % size + 1;
		can = speed_prod_free(&r.prod, n);
		need(can == (__s64)(size - (put - got)) || (can >= (__s64)n && can <= (__s64)size));
		n = (__s64)n < can ? n : (__u64)can;
		for (i = 0; i < n; i++)
			speed_ring_span(&r.prod, 0)[i] = (put + i) * 131 >> 3;
		speed_ring_publish(&r.prod, n);
		put += n;
		n = rig_random(&seed) % size + 1;
		can = speed_cons_ready(&r.cons, n);
		need(can > 0 ? can <= (__s64)(put - got) : !can && put == got);
		n = (__s64)n < can ? n : (__u64)can;
		for (i = 0; i < n; i++)
			need(speed_ring_span(&r.cons, i)[0] ==
			     (unsigned char)((got + i) * 131 >> 3));
		speed_ring_publish(&r.cons, n);
		got += n;
		need(r.head.index == start + put && r.tail.index == start + got);
	}
	rig_close(&r);
}

static void test_streams(void)
{
	static const __u64 starts[] = {
		0, 1, SIZE - 1, SIZE, 1ull << 32, (1ull << 32) - 77, 1ull << 63,
		(1ull << 63) - 5000, -1ull, -4095ull, -4096ull, -4097ull, -20000ull,
	};
	size_t size;
	size_t i;

	for (i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		stream_over(starts[i], SIZE, 7 + i);
	ok("a stream is exact wherever it starts, over 2^32, 2^63 and 2^64 too");
	for (size = SPEED_RING_MIN; size <= 1 << 20; size *= 4)
		stream_over(-3 * (__u64)size, size, size);
	ok("a stream is exact through rings of 4 KiB to 1 MiB");
}

/* The largest ring, without its memory: indices and addresses alone. */
static void test_largest(void)
{
	__u64 at = -((__u64)SPEED_RING_MAX / 2);
	struct rig r;

	memset(&r, 0, sizeof(r));
	rig_wire(&r, NULL, SPEED_RING_MAX);
	rig_restart(&r, at);
	speed_ring_publish(&r.prod, SPEED_RING_MAX);
	need(speed_prod_free(&r.prod, 1) == 0);
	need(speed_cons_ready(&r.cons, 1) == SPEED_RING_MAX);
	need((__u64)(unsigned long)speed_ring_span(&r.cons, 0) == SPEED_RING_MAX / 2);
	need((__u64)(unsigned long)speed_ring_span(&r.cons, SPEED_RING_MAX / 2) == 0);
	speed_ring_publish(&r.cons, SPEED_RING_MAX);
	need(r.tail.index == SPEED_RING_MAX / 2);
	need(speed_prod_free(&r.prod, SPEED_RING_MAX) == SPEED_RING_MAX);
	ok("a ring of 2^30 bytes wraps over 2^64");
}

static void test_wake(void)
{
	struct rig r;

	rig_open(&r, SIZE, -100);
	r.kern.flags = ~(__u32)SPEED_NEED_DATA;
	need(!speed_prod_must_wake(&r.prod));
	r.kern.flags = SPEED_NEED_DATA;
	need(speed_prod_must_wake(&r.prod) == 1);
	ok("a producer wakes when, and only when, a reader may sleep");

	speed_ring_publish(&r.prod, SIZE);
	need(speed_cons_ready(&r.cons, SIZE) == SIZE);
	r.kern.wake_free = 1000;
	r.kern.flags = ~(__u32)SPEED_NEED_SPACE;
	speed_ring_publish(&r.cons, 1500);
	need(!speed_cons_must_wake(&r.cons));
	r.kern.flags = SPEED_NEED_SPACE;
	need(speed_cons_must_wake(&r.cons) == 1);
	r.kern.wake_free = 1501;
	need(!speed_cons_must_wake(&r.cons));
	speed_ring_publish(&r.cons, 1);
	need(speed_cons_must_wake(&r.cons) == 1);
	r.kern.wake_free = SIZE;
	need(!speed_cons_must_wake(&r.cons));
	speed_ring_publish(&r.cons, SIZE - 1501);
	need(speed_cons_must_wake(&r.cons) == 1);
	r.kern.wake_free = 0;
	need(speed_cons_must_wake(&r.cons) == 1);
	ok("a consumer wakes from wake_free bytes on");
	rig_close(&r);
}

static void test_counts(void)
{
	struct rig r;

	rig_open(&r, SIZE, 0);
	r.kern.epoch[SPEED_ROLE_TX] = 7;
	r.kern.epoch[SPEED_ROLE_RX] = 1ull << 40;
	need(speed_ring_counts(&r.prod, SPEED_ROLE_TX, 7));
	need(speed_ring_counts(&r.cons, SPEED_ROLE_RX, 1ull << 40));
	need(!speed_ring_counts(&r.cons, SPEED_ROLE_RX, 7));
	need(!speed_ring_counts(&r.cons, SPEED_ROLE_RX, 0));
	r.kern.epoch[SPEED_ROLE_TX] = 0;
	need(!speed_ring_counts(&r.prod, SPEED_ROLE_TX, 7));
	r.kern.epoch[SPEED_ROLE_TX] = 7 + (1ull << 32);
	need(!speed_ring_counts(&r.prod, SPEED_ROLE_TX, 7));
	ok("a lease counts while its own epoch shows in its own role");
	rig_close(&r);
}

int main(void)
{
	test_fresh();
	test_fill_and_drain();
	test_cached_index();
	test_double_mapping();
	test_streams();
	test_largest();
	test_wake();
	test_counts();
	return tap_done();
}
