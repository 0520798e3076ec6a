// SPDX-License-Identifier: GPL-2.0
/* The bare ring as a transport; see bare.h. It spins and never sleeps. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "bench.h"
#include "transport.h"

static void bare_open(const struct transport *t, struct link *l)
{
	struct bare_ring *way;

	if (!opt.two_cpus)
		die("%s spins: it needs two processors (--cpus two)", t->name);
	/* Shared with the process to be forked, and gone with the last of both. */
	way = mmap(NULL, 2 * sizeof(*way), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (way == MAP_FAILED)
		die("mmap: %m");
	l->end[0].bare.tx.ring = &way[0];
	l->end[0].bare.rx.ring = &way[1];
	l->end[1].bare.tx.ring = &way[1];
	l->end[1].bare.rx.ring = &way[0];
}

static void bare_leave(struct end *e)
{
	struct bare_ring *tx = e->bare.tx.ring, *rx = e->bare.rx.ring;

	munmap(tx < rx ? tx : rx, 2 * sizeof(*tx));
}

static void end_put(struct end *e, const void *from, size_t len)
{
	while (len) {
		size_t n = len < BARE_BYTES ? len : BARE_BYTES;

		bare_put(&e->bare.tx, from, n);
		from = (const char *)from + n;
		len -= n;
	}
}

static size_t end_get_some(struct end *e, void *to, size_t len)
{
	return bare_get(&e->bare.rx, to, len);
}

static void end_get(struct end *e, void *to, size_t len)
{
	while (len) {
		size_t n = bare_get(&e->bare.rx, to, len);

		to = (char *)to + n;
		len -= n;
	}
}

const struct transport transport_bare = {
	.name = "bare",
	.able = ABLE_LINK | ABLE_STREAM | ABLE_NATIVE,
	.open = bare_open,
	.leave = bare_leave,
	.put = end_put,
	.get = end_get,
	.get_some = end_get_some,
};
