/* SPDX-License-Identifier: GPL-2.0 */
/* The actors as their coordinator has them: started, ordered, awaited, killed. */
#ifndef SPEED_SELFTESTS_DIFF_POOL_H
#define SPEED_SELFTESTS_DIFF_POOL_H

#include "diff_work.h"

enum diff_await { DIFF_DONE, DIFF_ASLEEP, DIFF_HUNG, DIFF_DIED };

/* On one processor, where an order costs half as much, or on all. */
void diff_pool_start(bool one);
void diff_pool_stop(void);
/* Kills a process and returns once it and its descriptors are gone. */
void diff_pool_kill(int proc);
/* Starts again what was killed, and ends what was forked. */
void diff_pool_revive(void);
/* A fork has been done: learns of the child. */
void diff_pool_adopt(int proc);

bool diff_alive(int actor);
/* It sleeps at this instant, in an operation that it has begun. */
bool diff_asleep(int actor);
/* Its process ended, which no program asked for. */
bool diff_died(int actor);
bool diff_done(int actor);
void diff_order(int actor, const struct diff_order *o);
/*
 * Waits for the result. One that is expected to come has some time without being looked
 * at; then, or at once, a few looks at the thread tell whether it sleeps. It sleeps in
 * its operation, because nothing else of it sleeps between RUNNING and DONE.
 */
enum diff_await diff_await(int actor, long expected_us);
/* Takes the result of one that is done. */
struct diff_result diff_taken(int actor);
void diff_interrupt(int actor, int sig);

/* A descriptor of an end for the coordinator, or -1: to be closed before the next order. */
int diff_borrow(int end);
/* How many descriptors an end's processes have. */
int diff_held(int end);

long diff_now_us(void);
void diff_nap(long us);

#endif
