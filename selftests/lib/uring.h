/* SPDX-License-Identifier: GPL-2.0 */
/*
 * io_uring by its system calls: as much of it as the tests need, so that they
 * need no library.
 */
#ifndef SPEED_SELFTESTS_URING_H
#define SPEED_SELFTESTS_URING_H

#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>

struct uring {
	int fd;
	unsigned int *sq_head, *sq_tail, *sq_mask, *sq_array;
	unsigned int *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
	unsigned int queued;
};

/* False, with errno, where the kernel has none or does not let us. */
bool uring_open(struct uring *u, unsigned int entries);
void uring_close(struct uring *u);
/* A cleared entry; it goes with the next uring_submit(). */
struct io_uring_sqe *uring_prepare(struct uring *u, int op, int fd, const void *addr,
				   unsigned int len, uint64_t data);
int uring_submit(struct uring *u);
/* The next completion within so many ms; false: none. */
bool uring_wait(struct uring *u, struct io_uring_cqe *cqe, int ms);
bool uring_has(int op);	/* does the kernel know this operation? */

#define URING_SOON_MS	20000	/* what must come comes, however slow the machine */
#define URING_NEVER_MS	50	/* what must not come, has not */

/* A ring, or the body is skipped. */
void need_uring(struct uring *u);
/* Write down the next completion, or that there is none. */
void note_completion(struct uring *u, const char *what);
void note_none(struct uring *u, const char *what);

#endif
