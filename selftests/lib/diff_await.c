// SPDX-License-Identifier: GPL-2.0
/* Orders and their results: see diff_pool.h. */
#define _GNU_SOURCE
#include "diff_pool.h"

#define FIRST_LOOK_US	300
#define LOOK_US		150
#define LOOKS		2
#define HUNG_US		20000000

bool diff_done(int actor)
{
	return __atomic_load_n(&diff_shared->slot[actor].turn, __ATOMIC_SEQ_CST) == TURN_DONE;
}

void diff_order(int actor, const struct diff_order *o)
{
	struct diff_slot *slot = &diff_shared->slot[actor];

	slot->order = *o;
	__atomic_store_n(&slot->turn, TURN_ORDERED, __ATOMIC_SEQ_CST);
	diff_futex_wake(&slot->turn);
}

/* Until it is done, or so long. */
static bool wait_done(int actor, long us)
{
	long until = diff_now_us() + us;
	uint32_t bell;

	while (us > 0) {
		bell = __atomic_load_n(&diff_shared->bell, __ATOMIC_SEQ_CST);
		if (diff_done(actor))
			return true;
		diff_futex_wait(&diff_shared->bell, bell, us);
		us = until - diff_now_us();
	}
	return diff_done(actor);
}

static bool is_running(int actor)
{
	return __atomic_load_n(&diff_shared->slot[actor].turn, __ATOMIC_SEQ_CST) == TURN_RUNNING;
}

enum diff_await diff_await(int actor, long expected_us)
{
	long until = diff_now_us() + HUNG_US;
	int looks = 0;

	if (wait_done(actor, expected_us ?: FIRST_LOOK_US))
		return DIFF_DONE;
	while (diff_now_us() < until) {
		looks = is_running(actor) && diff_asleep(actor) ? looks + 1 : 0;
		if (looks == LOOKS)
			return DIFF_ASLEEP;
		if (diff_died(actor))
			return DIFF_DIED;
		if (wait_done(actor, LOOK_US))
			return DIFF_DONE;
	}
	return DIFF_HUNG;
}

struct diff_result diff_taken(int actor)
{
	struct diff_slot *slot = &diff_shared->slot[actor];

	__atomic_store_n(&slot->turn, TURN_IDLE, __ATOMIC_SEQ_CST);
	return slot->result;
}
