// SPDX-License-Identifier: GPL-2.0
/*
 * A trial: one copy a byte. The receiver says where it wants its bytes and waits; the sender
 * has the kernel put them there (process_vm_writev()), which is what a kernel path that
 * writes into a waiting receiver's pages would do, but for its own locks and checks. Both
 * spin, so that nothing but the copy and the entry is measured. What it is held against is
 * the ring, which copies twice, on two processors at once.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bench.h"
#include "transport.h"

/* One direction. The receiver writes the first four, the sender the last two. */
struct onecopy_way {
	pid_t pid;
	void *to;
	size_t len;
	uint64_t wanted;	/* requests so far */
	char pad[128];
	uint64_t done;		/* requests that were met */
	size_t got;		/* bytes of the last one */
	char more[112];
};

/* Shared by both ends: ways[side] is what that side sends by. */
struct rival {
	struct onecopy_way way[2];
};

static void onecopy_open(const struct transport *t, struct link *l)
{
	struct rival *r;

	if (!opt.two_cpus)
		die("%s spins: it needs two processors (--cpus two)", t->name);
	r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE,
		 -1, 0);
	if (r == MAP_FAILED)
		die("mmap: %m");
	l->end[0].rival = r;
	l->end[1].rival = r;
}

static void onecopy_enter(struct end *e)
{
	/* Where only a child may be written to; there is nobody else here. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	e->rival->way[!e->side].pid = getpid();
}

static void onecopy_leave(struct end *e)
{
	munmap(e->rival, sizeof(*e->rival));
}

static void onecopy_put(struct end *e, const void *from, size_t len)
{
	struct onecopy_way *way = &e->rival->way[e->side];
	uint64_t done = way->done;

	while (len) {
		struct iovec mine, theirs;
		ssize_t n;

		while (__atomic_load_n(&way->wanted, __ATOMIC_ACQUIRE) == done)
			bare_pause();
		mine.iov_base = (void *)from;
		mine.iov_len = len < way->len ? len : way->len;
		theirs.iov_base = way->to;
		theirs.iov_len = mine.iov_len;
		n = process_vm_writev(way->pid, &mine, 1, &theirs, 1, 0);
		if (n <= 0)
			die("process_vm_writev: %m");
		way->got = n;
		__atomic_store_n(&way->done, ++done, __ATOMIC_RELEASE);
		from = (const char *)from + n;
		len -= n;
	}
}

static size_t onecopy_get_some(struct end *e, void *to, size_t len)
{
	struct onecopy_way *way = &e->rival->way[!e->side];
	uint64_t wanted = way->wanted + 1;

	way->to = to;
	way->len = len;
	__atomic_store_n(&way->wanted, wanted, __ATOMIC_RELEASE);
	while (__atomic_load_n(&way->done, __ATOMIC_ACQUIRE) != wanted)
		bare_pause();
	return way->got;
}

static void onecopy_get(struct end *e, void *to, size_t len)
{
	while (len) {
		size_t n = onecopy_get_some(e, to, len);

		to = (char *)to + n;
		len -= n;
	}
}

const struct transport transport_onecopy = {
	.name = "onecopy",
	.able = ABLE_LINK | ABLE_STREAM | ABLE_NATIVE,
	.open = onecopy_open,
	.enter = onecopy_enter,
	.leave = onecopy_leave,
	.put = onecopy_put,
	.get = onecopy_get,
	.get_some = onecopy_get_some,
};
