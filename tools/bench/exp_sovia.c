// SPDX-License-Identifier: GPL-2.0
/*
 * sovia: latency and bandwidth against the size of a message, with small messages
 * sent as they come, and gathered by the sender (TCP without TCP_NODELAY; others
 * do not gather). The latency is half a round trip. The files through an FTP server
 * are an experiment of tools/bench/apps.
 */
#include "bench.h"
#include "transport.h"

static const size_t sizes[] = { 4, 64, 512, 2048, 8192, 32768 };

static unsigned int make(struct series *all, unsigned int able,
			 uint64_t (*trial)(struct series *s, uint64_t n))
{
	unsigned int found = series_make(all, able), count = 0, i;

	for (i = 0; i < found; i++) {
		/* Only TCP has something to gather. */
		if (opt.delay && !(all[i].transport->family == family_inet))
			continue;
		all[count] = all[i];
		all[count++].trial = trial;
	}
	return count;
}

static void latencies(void)
{
	struct series all[SERIES_MAX];
	unsigned int count = make(all, ABLE_LINK, latency_trial), i, run;

	measure(all, count);
	for (i = 0; i < count; i++) {
		for (run = 0; run < opt.runs; run++)
			all[i].value[run] /= 2;
		emit("sovia", &all[i], "one_way", unit_of_time());
	}
}

static void bandwidths(void)
{
	struct series all[SERIES_MAX];
	unsigned int count = make(all, ABLE_STREAM, stream_trial), i;

	measure(all, count);
	for (i = 0; i < count; i++) {
		to_bandwidth(&all[i]);
		emit("sovia", &all[i], opt.delay ? "bandwidth_gathered" : "bandwidth",
		     unit_of_bandwidth());
	}
}

void exp_sovia(void)
{
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		opt.size = sizes[i];
		opt.delay = false;
		latencies();
		bandwidths();
		opt.delay = true;
		bandwidths();
	}
}
