// SPDX-License-Identifier: GPL-2.0
/*
 * sweep: throughput of messages of 16 bytes to --max (1 MiB; at most 64 MiB). The
 * sender writes every byte of a message before it sends it, the receiver reads every
 * byte when the message is complete. memcpy: one process writes, copies and reads in turn,
 * which two processors of a transport may do at the same time, and then do faster.
 * Of fused TCP a record more tells how much went by a ring ("fills": it was filled by how
 * the sender sends), and one of speedrun how often the library was lent one.
 */
#include <string.h>

#include "bench.h"
#include "transport.h"

#define SMALLEST	16
#define BIGGEST		(1u << 20)

static void emit_share(const struct series *s)
{
	struct series share = *s;

	share.fills = fused_fills(s->size);
	emit_extra("sweep", &share, STREAM_BY_RING, "by_ring", "share");
}

static void one_size(size_t size)
{
	struct series all[SERIES_MAX];
	unsigned int count, i;

	touch_check(size);
	opt.size = size;
	count = series_make(all, ABLE_STREAM);
	for (i = 0; i < count; i++) {
		all[i].trial = stream_trial;
		if (all[i].transport->fused)
			keep_extras(&all[i]);
	}
	if (count < SERIES_MAX) {
		memset(&all[count], 0, sizeof(all[count]));
		all[count].transport = &transport_memcpy;
		all[count].size = size;
		all[count++].trial = copy_trial;
	}
	measure(all, count);
	for (i = 0; i < count; i++) {
		to_bandwidth(&all[i]);
		emit("sweep", &all[i], "throughput", unit_of_bandwidth());
		if (all[i].transport->fused)
			emit_share(&all[i]);
		if (all[i].transport->preload)
			emit_extra("sweep", &all[i], STREAM_LEASES, "leases", "count");
	}
}

void exp_sweep(void)
{
	size_t size, last = opt.max ? opt.max : BIGGEST;

	opt.touch = true;
	if (opt.size) {
		one_size(opt.size);
		return;
	}
	for (size = SMALLEST; size <= last; size *= 4)
		one_size(size);
}
