// SPDX-License-Identifier: GPL-2.0
/* io_uring by its system calls: see uring.h. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace.h"
#include "uring.h"

static void *ring_map(int fd, size_t len, off_t offset)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);

	MUST(at != MAP_FAILED);
	return at;
}

bool uring_open(struct uring *u, unsigned int entries)
{
	struct io_uring_params p = { 0 };
	char *sq, *cq;

	memset(u, 0, sizeof(*u));
	u->fd = syscall(SYS_io_uring_setup, entries, &p);
	if (u->fd < 0)
		return false;
	sq = ring_map(u->fd, p.sq_off.array + p.sq_entries * sizeof(unsigned int),
		      IORING_OFF_SQ_RING);
	cq = ring_map(u->fd, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe),
		      IORING_OFF_CQ_RING);
	u->sqes = ring_map(u->fd, p.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	u->sq_head = (void *)(sq + p.sq_off.head);
	u->sq_tail = (void *)(sq + p.sq_off.tail);
	u->sq_mask = (void *)(sq + p.sq_off.ring_mask);
	u->sq_array = (void *)(sq + p.sq_off.array);
	u->cq_head = (void *)(cq + p.cq_off.head);
	u->cq_tail = (void *)(cq + p.cq_off.tail);
	u->cq_mask = (void *)(cq + p.cq_off.ring_mask);
	u->cqes = (void *)(cq + p.cq_off.cqes);
	return true;
}

/* The mappings go with the process: each body has its own. */
void uring_close(struct uring *u)
{
	close(u->fd);
}

struct io_uring_sqe *uring_prepare(struct uring *u, int op, int fd, const void *addr,
				   unsigned int len, uint64_t data)
{
	unsigned int tail = *u->sq_tail + u->queued;
	struct io_uring_sqe *sqe = &u->sqes[tail & *u->sq_mask];

	MUST(tail - __atomic_load_n(u->sq_head, __ATOMIC_ACQUIRE) <= *u->sq_mask);
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = op;
	sqe->fd = fd;
	sqe->addr = (uintptr_t)addr;
	sqe->len = len;
	sqe->user_data = data;
	u->sq_array[tail & *u->sq_mask] = tail & *u->sq_mask;
	u->queued++;
	return sqe;
}

int uring_submit(struct uring *u)
{
	unsigned int n = u->queued;

	__atomic_store_n(u->sq_tail, *u->sq_tail + n, __ATOMIC_RELEASE);
	u->queued = 0;
	return syscall(SYS_io_uring_enter, u->fd, n, 0, 0, NULL, 0);
}

bool uring_wait(struct uring *u, struct io_uring_cqe *cqe, int ms)
{
	struct pollfd p = { .fd = u->fd, .events = POLLIN };
	unsigned int head = *u->cq_head;

	if (head == __atomic_load_n(u->cq_tail, __ATOMIC_ACQUIRE)) {
		/* Completions that wait for this thread are made on entry. */
		syscall(SYS_io_uring_enter, u->fd, 0, 0, IORING_ENTER_GETEVENTS, NULL, 0);
		poll(&p, 1, ms);
		if (head == __atomic_load_n(u->cq_tail, __ATOMIC_ACQUIRE))
			return false;
	}
	*cqe = u->cqes[head & *u->cq_mask];
	__atomic_store_n(u->cq_head, head + 1, __ATOMIC_RELEASE);
	return true;
}

bool uring_has(int op)
{
	size_t size = sizeof(struct io_uring_probe) + 256 * sizeof(struct io_uring_probe_op);
	struct io_uring_probe *probe = calloc(1, size);
	struct uring u;
	bool has;

	MUST(probe && uring_open(&u, 2));
	MUST(syscall(SYS_io_uring_register, u.fd, IORING_REGISTER_PROBE, probe, 256) == 0);
	has = op <= probe->last_op && (probe->ops[op].flags & IO_URING_OP_SUPPORTED);
	uring_close(&u);
	free(probe);
	return has;
}

void need_uring(struct uring *u)
{
	if (!uring_open(u, 64))
		trace_skip("io_uring: %s", strerror(errno));
}

void note_completion(struct uring *u, const char *what)
{
	struct io_uring_cqe c;

	if (!uring_wait(u, &c, URING_SOON_MS)) {
		trace_str("never came", "%s", what);
		return;
	}
	if (c.res < 0)
		trace_str(strerrorname_np(-c.res), "%s", what);
	else
		trace_num(c.res, "%s", what);
	trace_num(c.user_data, "whose it is");
}

void note_none(struct uring *u, const char *what)
{
	struct io_uring_cqe c;

	trace_num(uring_wait(u, &c, URING_NEVER_MS), "%s", what);
}
