/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A call of another process, instruction by instruction: its path is learned by
 * single steps once, and then a fork that makes the same call is brought to any
 * instruction of it. On x86-64.
 */
#ifndef SPEED_SELFTESTS_STEPPER_H
#define SPEED_SELFTESTS_STEPPER_H

#include <stdbool.h>
#include <sys/types.h>

#define STEPS_MAX	20000

/**
 * struct stepper - a path
 * @done: shared with the process, which sets it when the call is over
 * @count: instructions of the call
 * @path: where each is; one that repeats itself (a copy) is one entry
 * @repeats: which do
 */
struct stepper {
	volatile bool *done;
	int count;
	unsigned long path[STEPS_MAX];
	bool repeats[STEPS_MAX];
};

/* Waits for a traced process: true where it stopped, false where it ended. */
bool stepper_stopped(pid_t pid, int *status);
/* Steps a stopped process through its call. */
void stepper_learn(struct stepper *s, pid_t pid);
/* Brings another one that has stopped in the same place to the k-th instruction. */
void stepper_to(struct stepper *s, pid_t pid, int k);
/* Ends it where it is. */
void stepper_kill(pid_t pid);
/* Lets it run to its end, with a signal first where one is given: its status. */
int stepper_let_go(pid_t pid, int sig);

#endif
