// SPDX-License-Identifier: GPL-2.0
/*
 * How often who spins looks: as often as it can, but not where it waits for space, nor
 * where what it reads comes in a row. All in one thread: what is looked for is there
 * already, or never comes.
 */
#include "rig.h"
#include "tap.h"
#include "../../userspace/lib/role.h"

#define SIZE	4096
#define LIMIT	1000000u	/* ns */

static struct speed *end[2];

/* One message there and seen, as who waits for it sees it. */
static void get(void)
{
	char byte;

	need(speed_send(end[1], "x", 1, 0) == 1);
	need(spd_spin(end[0], SPEED_ROLE_RX, 1, LIMIT));
	need(speed_recv(end[0], &byte, 1, 0) == 1);
}

static bool flow(void)
{
	return end[0]->role[SPEED_ROLE_RX].spin.flow;
}

static void open_pair(void)
{
	int i;

	if (speed_pair(SOCK_STREAM, SIZE, end))
		rig_fail("speed_pair");
	for (i = 0; i < 2; i++) {
		/* Each has a lease, and a second processor, whatever this machine has. */
		need(speed_send(end[i], "x", 1, 0) == 1);
		need(speed_recv(end[!i], (char[1]){ 0 }, 1, 0) == 1);
	}
	for (i = 0; i < SPEED_ROLES; i++) {
		end[0]->role[i].spin.cpus = true;
		end[0]->role[i].spin.now_ns = LIMIT;
	}
}

static void close_pair(void)
{
	speed_detach(end[0]);
	speed_detach(end[1]);
}

static void test_flow(void)
{
	int i;

	open_pair();
	get();
	get();
	need(flow());
	for (i = 0; i < 100; i++)
		get();
	need(flow());
	close_pair();
	ok("what comes in a row is a flow");
}

static void test_answers(void)
{
	int i;

	open_pair();
	get();
	get();
	need(flow());
	for (i = 0; i < 100; i++) {
		need(speed_send(end[0], "y", 1, 0) == 1);
		get();
		need(!flow());
	}
	get();
	need(flow());
	close_pair();
	ok("answers are none");
}

static void test_nothing(void)
{
	open_pair();
	get();
	get();
	need(flow());
	need(!spd_spin(end[0], SPEED_ROLE_RX, 1, LIMIT));
	need(!flow());
	close_pair();
	ok("what does not come ends it");
}

/* As long without as with: it is the clock that ends a look. */
static void test_time(void)
{
	__u64 since, took[2];
	int i;

	open_pair();
	for (i = 0; i < 2; i++) {
		end[0]->role[SPEED_ROLE_RX].spin.now_ns = LIMIT;
		end[0]->role[SPEED_ROLE_RX].spin.flow = i;
		since = spd_spin_now();
		need(!spd_spin(end[0], SPEED_ROLE_RX, 1, LIMIT));
		took[i] = spd_spin_now() - since;
		need(took[i] >= LIMIT);
	}
	close_pair();
	ok("no look is shorter than its time");
}

int main(void)
{
	test_flow();
	test_answers();
	test_nothing();
	test_time();
	return tap_done();
}
