// SPDX-License-Identifier: GPL-2.0
/* The memory that the coordinator and the actors share: see diff_work.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "diff_work.h"

struct diff_shared *diff_shared;
unsigned char *diff_source;
int diff_source_fd;
unsigned char *diff_capture[2];
int diff_passage[2][2];

void diff_die(const char *what)
{
	fprintf(stderr, "# the tester itself failed (%s): %s\n", strerror(errno), what);
	fflush(stdout);
	_exit(1);
}

void diff_futex_wait(uint32_t *word, uint32_t value, long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	syscall(SYS_futex, word, FUTEX_WAIT, value, us < 0 ? NULL : &t, NULL, 0);
}

void diff_futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void *map_shared(size_t size, int fd)
{
	void *m = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	DIFF_MUST(m != MAP_FAILED);
	return m;
}

/* The bytes of all sends: no two stretches of it are alike. */
static void fill_source(void)
{
	uint64_t *w = (uint64_t *)diff_source, state = 88172645463325252ull;
	size_t i;

	for (i = 0; i < DIFF_SOURCE_BYTES / sizeof(*w); i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		w[i] = state;
	}
}

void diff_share(void)
{
	int i;

	diff_source_fd = memfd_create("source", MFD_CLOEXEC);
	DIFF_MUST(diff_source_fd >= 0 && !ftruncate(diff_source_fd, DIFF_SOURCE_BYTES));
	diff_source = map_shared(DIFF_SOURCE_BYTES, diff_source_fd);
	fill_source();
	diff_shared = map_shared(sizeof(*diff_shared), -1);
	for (i = 0; i < 2; i++) {
		diff_capture[i] = map_shared(DIFF_CAPTURE_BYTES, -1);
		DIFF_MUST(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, diff_passage[i]));
	}
}

void *diff_bad_memory(void)
{
	static unsigned char *bad;

	if (!bad) {
		bad = mmap(NULL, 2 * DIFF_SENT_MOST, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		DIFF_MUST(bad != MAP_FAILED);
		DIFF_MUST(!mprotect(bad + DIFF_SENT_MOST, DIFF_SENT_MOST, PROT_NONE));
	}
	return bad + DIFF_SENT_MOST;
}

/* By words, so that a megabyte costs little under emulation. */
void diff_hash_bytes(struct diff_result *r, const void *bytes, size_t n)
{
	uint64_t hash = 0xcbf29ce484222325ull, word;
	const unsigned char *at = bytes;

	for (; n >= sizeof(word); n -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	for (; n; n--)
		hash = (hash ^ *at++) * 0x100000001b3ull;
	r->hash = hash ^ hash >> 32;
	r->has |= DR_HASH;
}
