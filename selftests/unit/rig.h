/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring with both of its sides in one address space: the data twice in a row
 * between two guard areas, the index pages and the kernel page.
 */
#ifndef RIG_H
#define RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/speed_ring.h>

#define RIG_GUARD	65536

/* Each on a line of its own, as in pages of their own. */
#define RIG_APART	__attribute__((aligned(128)))

struct rig {
	struct speed_index	head RIG_APART;
	struct speed_index	tail RIG_APART;
	struct speed_kern	kern RIG_APART;
	struct speed_side	prod RIG_APART;
	struct speed_side	cons RIG_APART;
	unsigned char		*area;
	size_t			area_bytes;
};

static inline void rig_fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Both sides as they are when @start bytes have gone through the ring. */
static inline void rig_restart(struct rig *r, __u64 start)
{
	r->head.index = start;
	r->tail.index = start;
	r->prod.own = start;
	r->prod.other = start;
	r->cons.own = start;
	r->cons.other = start;
	memset(&r->kern, 0, sizeof(r->kern));
}

static inline void rig_wire(struct rig *r, unsigned char *data, size_t size)
{
	r->prod = (struct speed_side){
		.mine = &r->head, .theirs = &r->tail, .kern = &r->kern, .data = data, .size = size,
	};
	r->cons = (struct speed_side){
		.mine = &r->tail, .theirs = &r->head, .kern = &r->kern, .data = data, .size = size,
	};
}

static inline void rig_open(struct rig *r, size_t size, __u64 start)
{
	int fd = memfd_create("rig", MFD_CLOEXEC);
	unsigned char *data;
	int i;

	memset(r, 0, sizeof(*r));
	if (fd < 0 || ftruncate(fd, size))
		rig_fail("memfd");
	r->area_bytes = 2 * size + 2 * RIG_GUARD;
	r->area = mmap(NULL, r->area_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->area == MAP_FAILED)
		rig_fail("mmap");
	data = r->area + RIG_GUARD;
	for (i = 0; i < 2; i++)
		if (mmap(data + i * size, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			 fd, 0) == MAP_FAILED)
			rig_fail("mmap");
	close(fd);
	rig_wire(r, data, size);
	rig_restart(r, start);
}

static inline void rig_close(struct rig *r)
{
	munmap(r->area, r->area_bytes);
}

/* A generator of test input: the same numbers in each run (xorshift64*). */
static inline __u64 rig_random(__u64 *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ull;
}

#endif /* RIG_H */
