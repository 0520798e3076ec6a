// SPDX-License-Identifier: GPL-2.0
/*
 * Pipes fed by vmsplice(): the reader copies straight from the sender's pages, so
 * the sender must leave them alone until they have been read. Messages shorter than
 * a page go by write(), as they do where vmsplice() is used in earnest.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "transport.h"

#define PAGE		4096u	/* SPLICED of report_data.py */
#define PIPE_BYTES	65536u	/* what a pipe holds; the sender's pages are free beyond that */

struct rival {
	unsigned char *pages;
	size_t bytes;
	size_t at;
};

static void vmsplice_enter(struct end *e)
{
	struct rival *r = calloc(1, sizeof(*r));

	if (!r)
		die("no memory");
	/* Room for a message, and for the one before that is still in the pipe. */
	r->bytes = 2 * (BUFFER_MAX + PIPE_BYTES);
	r->pages = shared_memory(r->bytes);
	e->rival = r;
}

static void vmsplice_leave(struct end *e)
{
	munmap(e->rival->pages, e->rival->bytes);
	free(e->rival);
}

static void vmsplice_put(struct end *e, const void *from, size_t len)
{
	struct iovec part = { .iov_base = (void *)from, .iov_len = len };

	if (len < PAGE) {
		pipe_put(e, from, len);
		return;
	}
	while (part.iov_len) {
		ssize_t n = vmsplice(e->out, &part, 1, 0);

		if (n <= 0)
			die("vmsplice: %m");
		part.iov_base = (char *)part.iov_base + n;
		part.iov_len -= (size_t)n;
	}
}

/* Each message has pages that no message in the pipe has, unless write() copies it. */
static void vmsplice_put_filled(struct end *e, size_t len, uint64_t seed)
{
	struct rival *r = e->rival;

	if (len < PAGE) {
		fill(e->buffer, len, seed);
		pipe_put(e, e->buffer, len);
		return;
	}
	if (len > BUFFER_MAX)
		die("vmsplice: messages of at most %u bytes", BUFFER_MAX);
	if (r->at + len > r->bytes)
		r->at = 0;
	fill(r->pages + r->at, len, seed);
	vmsplice_put(e, r->pages + r->at, len);
	r->at += (len + PAGE - 1) / PAGE * PAGE;
}

const struct transport transport_vmsplice = {
	.name = "vmsplice",
	.why_unable = "a pipe comes with both its ends: nobody connects",
	.able = ABLE_LINK | ABLE_STREAM,
	.most = BUFFER_MAX,
	.why_most = "messages of at most 1 MiB: its pages are set apart for two of that size",
	.open = pipe_open,
	.enter = vmsplice_enter,
	.leave = vmsplice_leave,
	.put = vmsplice_put,
	.get = pipe_get,
	.get_some = pipe_get_some,
	.put_filled = vmsplice_put_filled,
};
