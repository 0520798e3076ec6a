// SPDX-License-Identifier: GPL-2.0
/*
 * Barriers A to D under ThreadSanitizer: a producer and a consumer on two
 * threads, their bytes plain memory that only the indices order.
 *
 * The data is mapped once and no span crosses its end: ThreadSanitizer knows
 * bytes by their address, so that a second mapping would hide races from it.
 * With BREAK one of the letters is made a plain relaxed access; the program
 * must then be reported, and the check asserts that it is. Full fences mean
 * nothing to ThreadSanitizer: E to H are test_fence.c's, the models' and litmus tests'.
 */
#include <linux/types.h>

enum { PRODUCER = 1, CONSUMER };

static __thread int role;

#ifndef BREAK
#define BREAK		0
#endif

/* Whether the letter is in force on the thread that asks. */
#define IN_FORCE(letter, whose)	(BREAK != (letter) || role != (whose))

#define speed_load_acquire(p)						\
	(IN_FORCE('B', CONSUMER) && IN_FORCE('D', PRODUCER) ?		\
	 __atomic_load_n(p, __ATOMIC_ACQUIRE) : __atomic_load_n(p, __ATOMIC_RELAXED))
#define speed_store_release(p, v) do {					\
	if (IN_FORCE('A', PRODUCER) && IN_FORCE('C', CONSUMER))		\
		__atomic_store_n(p, v, __ATOMIC_RELEASE);		\
	else								\
		__atomic_store_n(p, v, __ATOMIC_RELAXED);		\
} while (0)
#define speed_load(p)			__atomic_load_n(p, __ATOMIC_RELAXED)
#define speed_full_barrier()		__atomic_thread_fence(__ATOMIC_SEQ_CST)

#include <pthread.h>
#include <sched.h>

#include "rig.h"
#include "tap.h"

#define SIZE	4096
#define CHUNK	64
#define CHUNKS	200000

static unsigned char data[SIZE] __attribute__((aligned(4096)));
static struct rig rig;
static int wrong;

static void *produce(void *unused)
{
	struct speed_side *s = &rig.prod;
	__u64 i, word;

	(void)unused;
	role = PRODUCER;
	for (i = 0; i < CHUNKS; i++) {
		while (speed_prod_free(s, CHUNK) < CHUNK)
			sched_yield();
		for (word = 0; word < CHUNK / 8; word++)
			((__u64 *)speed_ring_span(s, 0))[word] = i * 8 + word;
		speed_ring_publish(s, CHUNK);
	}
	return NULL;
}

static void *consume(void *unused)
{
	struct speed_side *s = &rig.cons;
	__u64 i, word;

	(void)unused;
	role = CONSUMER;
	for (i = 0; i < CHUNKS; i++) {
		while (speed_cons_ready(s, CHUNK) < CHUNK)
			sched_yield();
		for (word = 0; word < CHUNK / 8; word++)
			wrong += ((__u64 *)speed_ring_span(s, 0))[word] != i * 8 + word;
		speed_ring_publish(s, CHUNK);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	rig_wire(&rig, data, SIZE);
	rig_restart(&rig, -(__u64)CHUNK * 100);
	pthread_create(&threads[0], NULL, produce, NULL);
	pthread_create(&threads[1], NULL, consume, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	need(wrong == 0);
	need(rig.head.index == CHUNK * (CHUNKS - 100ull) && rig.tail.index == rig.head.index);
	ok("%d chunks cross from thread to thread in order", CHUNKS);
	return tap_done();
}
