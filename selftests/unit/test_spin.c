// SPDX-License-Identifier: GPL-2.0
/*
 * How often who spins looks at the peer's index: at each pause, but where it waits for
 * space, or where what it reads comes in a row. All in one thread: what is looked for is
 * there already, or never comes. spin.c is built in here, and what it does is counted.
 */
#include <stdint.h>

static unsigned int looks, pauses;

/* An acquire is a look at the peer's index; see speed_ring.h. */
#define speed_load_acquire(p)		(looks++, __atomic_load_n(p, __ATOMIC_ACQUIRE))
#define speed_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define speed_load(p)			__atomic_load_n(p, __ATOMIC_RELAXED)
#define speed_full_barrier()		__atomic_thread_fence(__ATOMIC_SEQ_CST)

#include "rig.h"
#include "tap.h"
#include "../../userspace/lib/cpu.h"

#undef spd_relax
#define spd_relax()	((void)pauses++)

#include "../../userspace/lib/spin.c"

#define SIZE	4096
#define LIMIT	1000000u	/* ns */
#define WAITS	10000

static struct speed *end[2];

static void open_pair(void)
{
	char byte;
	int i;

	if (speed_pair(SOCK_STREAM, SIZE, end))
		rig_fail("speed_pair");
	/* Each has its leases, and a second processor, whatever this machine has. */
	for (i = 0; i < 2; i++) {
		need(speed_send(end[i], "x", 1, 0) == 1);
		need(speed_recv(end[!i], &byte, 1, 0) == 1);
	}
	for (i = 0; i < SPEED_ROLES; i++)
		end[0]->role[i].spin.cpus = true;
}

static void close_pair(void)
{
	speed_detach(end[0]);
	speed_detach(end[1]);
}

/* So many messages come, are waited for at once and taken one by one. */
static void get(int n)
{
	char byte;
	int i;

	for (i = 0; i < n; i++)
		need(speed_send(end[1], "x", 1, 0) == 1);
	end[0]->role[SPEED_ROLE_RX].spin.now_ns = LIMIT;
	need(spd_spin(end[0], SPEED_ROLE_RX, 1, LIMIT));
	for (i = 0; i < n; i++)
		need(speed_recv(end[0], &byte, 1, 0) == 1);
}

/* What comes in a row: one, then two to a look. */
static void get_flow(void)
{
	int i;

	get(1);
	get(1);
	for (i = 0; i < 100; i++)
		get(2);
}

/* Waits for what does not come, for as long as it may. Return: pauses to a look. */
static unsigned int apart(int role, __u64 want)
{
	unsigned int looked = looks, paused = pauses;
	__u64 since = spd_spin_now();

	end[0]->role[role].spin.now_ns = LIMIT;
	need(!spd_spin(end[0], role, want, LIMIT));
	need(spd_spin_now() - since >= LIMIT);
	looked = looks - looked;
	paused = pauses - paused;
	return need(looked) ? (paused + looked / 2) / looked : 0;
}

static void test_flow(void)
{
	open_pair();
	need(apart(SPEED_ROLE_RX, 1) == 1);
	get_flow();
	need(apart(SPEED_ROLE_RX, 1) == SPIN_APART);
	need(apart(SPEED_ROLE_RX, 1) == 1);
	close_pair();
	ok("who reads a flow looks less often, until nothing comes");
}

static void test_answer(void)
{
	open_pair();
	get_flow();
	need(speed_send(end[0], "y", 1, 0) == 1);
	need(apart(SPEED_ROLE_RX, 1) == 1);
	get_flow();
	/* As by a plain call. */
	end[0]->calls++;
	need(apart(SPEED_ROLE_RX, 1) == 1);
	close_pair();
	ok("who has sent something does not");
}

/* The answers go by another way: what comes is always one. */
static void test_one_by_one(void)
{
	int i, flows = 0;

	open_pair();
	for (i = 0; i < WAITS; i++) {
		get(1);
		flows += end[0]->role[SPEED_ROLE_RX].spin.flow;
	}
	need(flows > 0 && flows < 40);
	close_pair();
	ok("who gets one message to a look soon does not");
}

static void test_space(void)
{
	char some[SIZE] = { 0 };

	open_pair();
	need(speed_send(end[0], some, SIZE, MSG_DONTWAIT) == SIZE);
	need(apart(SPEED_ROLE_TX, SIZE / 4) == SPIN_APART);
	need(apart(SPEED_ROLE_TX, SIZE / 2) == SPIN_APART);
	need(apart(SPEED_ROLE_TX, SIZE / 2 + 1) == 1);
	close_pair();
	ok("who waits for space looks less often, but not for nearly all of it");
}

static void woken(struct speed *s, unsigned int which)
{
	(void)s;
	(void)which;
}

static void test_paid(void)
{
	struct spd_ops ops;

	open_pair();
	ops = *end[0]->ops;
	ops.wake = woken;
	end[0]->ops = &ops;
	get_flow();
	end[0]->role[SPEED_ROLE_RX].owed = SPEED_WAKE_WRITER;
	need(apart(SPEED_ROLE_RX, 1) == 1);
	need(!end[0]->role[SPEED_ROLE_RX].owed);
	close_pair();
	ok("who has woken the peer looks at once");
}

int main(void)
{
	test_flow();
	test_answer();
	test_one_by_one();
	test_space();
	test_paid();
	return tap_done();
}
