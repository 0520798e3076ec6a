// SPDX-License-Identifier: GPL-2.0
/*
 * lmbench: its table. The latency of a byte's round trip, the bandwidth of 64 KiB
 * messages, the cost of a connection; beside them copying memory, reading and writing
 * it (8 MiB, which caches do not hold).
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "transport.h"

#define MEMORY_BYTES	(8u << 20)

static void latency(void)
{
	struct series all[SERIES_MAX];
	unsigned int count, i;

	opt.size = 1;
	count = series_make(all, ABLE_LINK);
	for (i = 0; i < count; i++)
		all[i].trial = latency_trial;
	measure(all, count);
	for (i = 0; i < count; i++)
		emit("lmbench", &all[i], "latency", unit_of_time());
}

static void bandwidth(void)
{
	struct series all[SERIES_MAX];
	unsigned int count, i;

	opt.size = 65536;
	count = series_make(all, ABLE_STREAM);
	for (i = 0; i < count; i++)
		all[i].trial = stream_trial;
	measure(all, count);
	for (i = 0; i < count; i++) {
		to_bandwidth(&all[i]);
		emit("lmbench", &all[i], "bandwidth", unit_of_bandwidth());
	}
}

static void connection(void)
{
	struct series found[SERIES_MAX], all[SERIES_MAX];
	unsigned int able, count = 0, i;

	/* --transports may name some that do not connect. */
	able = series_make(found, opt.transports ? 0 : ABLE_DOOR);
	for (i = 0; i < able; i++) {
		if (!(found[i].transport->able & ABLE_DOOR))
			continue;
		all[count] = found[i];
		all[count].size = 1;
		all[count].n_max = 3000;
		all[count++].trial = connect_trial;
	}
	measure(all, count);
	for (i = 0; i < count; i++)
		emit("lmbench", &all[i], "connection", unit_of_time());
}

static uint64_t read_trial(struct series *s, uint64_t n)
{
	unsigned char *at = malloc(s->size);
	volatile uint64_t total = 0;
	uint64_t start;

	if (!at)
		die("no memory");
	cpu_pin(0, 1);
	memset(at, 1, s->size);
	start = now_ns();
	while (n--)
		total += sum(at, s->size);
	start = now_ns() - start;
	free(at);
	return start;
}

static uint64_t write_trial(struct series *s, uint64_t n)
{
	unsigned char *at = malloc(s->size);
	uint64_t start;

	if (!at)
		die("no memory");
	cpu_pin(0, 1);
	memset(at, 1, s->size);
	start = now_ns();
	while (n--)
		fill(at, s->size, n);
	start = now_ns() - start;
	free(at);
	return start;
}

static void memory(const char *metric, size_t size, uint64_t (*trial)(struct series *, uint64_t))
{
	struct series one = { .transport = &transport_memcpy, .size = size, .trial = trial };

	measure(&one, 1);
	to_bandwidth(&one);
	emit("lmbench", &one, metric, unit_of_bandwidth());
}

void exp_lmbench(void)
{
	opt.touch = false;
	latency();
	bandwidth();
	connection();
	memory("copy_cached", 65536, copy_trial);
	memory("copy", MEMORY_BYTES, copy_trial);
	memory("read", MEMORY_BYTES, read_trial);
	memory("write", MEMORY_BYTES, write_trial);
}
