/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differential tester's processes. One coordinates; the others are actors:
 * each waits for one operation, does it, and tells what came of it. They live as
 * long as the tester, except those that a program kills.
 *
 * An actor's slot is in shared memory, and its "turn" says whose it is:
 *
 *	IDLE -> ORDERED		by the coordinator, with an operation in the slot
 *	ORDERED -> RUNNING	by the actor, before the first system call of it
 *	RUNNING -> DONE		by the actor, with the result in the slot
 *	DONE -> IDLE		by the coordinator, which has taken the result
 *
 * The actor waits on its turn, the coordinator on the bell that each DONE rings.
 */
#ifndef SPEED_SELFTESTS_DIFF_WORK_H
#define SPEED_SELFTESTS_DIFF_WORK_H

#include <stdint.h>
#include <sys/types.h>

#include "diff_op.h"

#define DIFF_SOURCE_BYTES	(2u << 20)	/* what all sends take their bytes from */
#define DIFF_SENT_MOST		(1u << 20)	/* of one send */
#define DIFF_CAPTURE_BYTES	(8u << 20)	/* what one end can receive in a program */
#define DIFF_FDS		2

enum diff_turn { TURN_IDLE, TURN_ORDERED, TURN_RUNNING, TURN_DONE };

/* What a deliberately wrong run does wrong: see diff_break.c. */
enum diff_break {
	DB_NOTHING, DB_BYTE, DB_LOST, DB_ERRNO, DB_MASK, DB_SIGNAL, DIFF_BREAKS
};

/**
 * struct diff_order - what an actor is to do
 * @src: where in the source its bytes begin
 * @dst: where in the capture bytes belong
 * @net: how the ends speak to each other
 * @signals: the signals of what has arrived are to be taken, too
 * @wrong: do it deliberately wrong
 */
struct diff_order {
	struct diff_step step;
	uint32_t src;
	uint32_t dst;
	enum diff_net net;
	bool signals;
	enum diff_break wrong;
};

/* Which of the fields of a result count. */
#define DR_HASH		(1u << 0)
#define DR_MASK		(1u << 1)
#define DR_VALUE	(1u << 2)
#define DR_INQ		(1u << 3)
#define DR_FLAGS	(1u << 4)

/**
 * struct diff_result - what came of an operation
 * @err: errno, where @ret is negative, and of what ended a drain
 * @moved: bytes that left or entered the stream
 * @signals: 1 << number of those that came
 * @has: DR_*
 * @hash: of the bytes received
 * @mask: DW_* of a poll; @mask2 of the second descriptor in an epoll
 * @value: of an option or a question
 * @inq: in TCP_INQ's control message
 * @flags: msg_flags
 * @early: it returned before its time limit
 * @dirty: memory behind the received bytes was written
 */
struct diff_result {
	long ret;
	int err;
	uint32_t moved;
	uint32_t signals;
	uint32_t has;
	uint32_t hash;
	uint32_t mask;
	uint32_t mask2;
	long value;
	int inq;
	int flags;
	bool early;
	bool dirty;
};

struct diff_slot {
	uint32_t turn;
	pid_t tid;
	struct diff_order order;
	struct diff_result result;
};

/**
 * struct diff_proc_state - what a process holds; it writes, the coordinator reads
 */
struct diff_proc_state {
	pid_t pid;
	int fd[DIFF_FDS];
	int listener;
	int epoll;
	int pipe[2][2];	/* of the first thread, and the second */
};

struct diff_shared {
	uint32_t bell;
	uint16_t port;
	struct diff_slot slot[DIFF_ACTORS];
	struct diff_proc_state proc[DIFF_PROCS];
};

extern struct diff_shared *diff_shared;
extern unsigned char *diff_source;
extern int diff_source_fd;
/* What end 0 or 1 has received in this program. */
extern unsigned char *diff_capture[2];
/* Between the first and the second process of each end, to pass descriptors. */
extern int diff_passage[2][2];

void diff_futex_wait(uint32_t *word, uint32_t value, long us);
void diff_futex_wake(uint32_t *word);

/* Makes the shared memory; once, before the first process. */
void diff_share(void);
/* The body of a process; returns in no case. */
void diff_work(int proc) __attribute__((noreturn));

/* The operations, each family in its file; all run in an actor. */
struct diff_call {
	const struct diff_order *o;
	const struct diff_step *s;
	struct diff_proc_state *p;
	struct diff_result *r;
	int fd;
	int end;
};

void diff_do_connection(struct diff_call *c);
void diff_do_send(struct diff_call *c);
void diff_do_recv(struct diff_call *c);
void diff_do_holder(struct diff_call *c);
void diff_do_ready(struct diff_call *c);
void diff_do_option(struct diff_call *c);
void diff_do_question(struct diff_call *c);

void diff_take_signals(struct diff_result *r, bool arrived);
/* A child with the same descriptors, an actor of its own: its pid or -1. */
pid_t diff_fork(int proc);
void diff_hash_bytes(struct diff_result *r, const void *bytes, size_t n);
/* What memory is not there. */
void *diff_bad_memory(void);
/* The connection is over, and nothing more will be acknowledged. */
bool diff_is_closed(int fd);
/* Of an error the tester cannot go on after. */
void diff_die(const char *what) __attribute__((noreturn));

#define DIFF_MUST(cond)							\
	do {								\
		if (!(cond))						\
			diff_die(__FILE__ ": " #cond);			\
	} while (0)

#endif
