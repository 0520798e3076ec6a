/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tasks: a thread or a process that does something beside the body, and a way
 * to know that it is asleep, which does not depend on how fast the machine is.
 */
#ifndef SPEED_SELFTESTS_TASK_H
#define SPEED_SELFTESTS_TASK_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

/**
 * struct task - a call made by another thread
 * @fn: the call; its result and errno are kept
 */
struct task {
	long (*fn)(void *arg);
	void *arg;
	pthread_t thread;
	pid_t tid;
	bool done;
	long ret;
	int err;
	int sigpipes;
};

void task_start(struct task *k, long (*fn)(void *arg), void *arg);
/* Returns once the task sleeps (true) or has ended (false). */
bool task_sleeps(struct task *k);
/* The same of one that waits for a lock, which is no sleep that a signal ends. */
bool task_queues(struct task *k);
/* Does it sleep at this instant? */
bool task_asleep(const struct task *k);
/* Waits so long for its end: whether it has come. */
bool task_ends(const struct task *k, int ms);
/* Its result, with errno as the task had it. */
long task_join(struct task *k);

/* A process that runs fn, whose result (0 to 255) is its exit status. */
pid_t process_start(int (*fn)(void *arg), void *arg);
/* Its exit status, or minus the signal that ended it. */
int process_join(pid_t pid);
bool process_sleeps(pid_t pid);

/* One call of an end, to be made by a task. */
struct end;
struct call {
	struct end *e;
	void *buf;
	size_t len;
	int flags;
};

long call_send(void *call);
long call_recv(void *call);
long call_send_all(void *call);
long call_recv_all(void *call);

/* The status of a shell's command, whose words are kept quiet. */
int shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* For those who take turns: nobody waits for another processor to wake up. */
void on_one_processor(void);
/* On that one of those there were at the first such call, counted round and round. */
void on_processor(int n);

void sleep_ms(int ms);
long now_ms(void);
/* What this thread has run, in microseconds: neither sleep nor a wait for the processor. */
long cpu_us(void);

/*
 * The time as the last tick left it. A socket's time limits are counted in ticks: where
 * those came late, as on a busy machine, a limit ends early by the clock, but not by this.
 */
long ticked_ms(void);

#endif
