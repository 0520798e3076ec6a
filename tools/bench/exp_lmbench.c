// SPDX-License-Identifier: GPL-2.0
/*
 * lmbench: its table. The latency of a byte's round trip, the bandwidth of 64 KiB
 * messages, the cost of a connection; beside them copying memory, reading and writing
 * it: several times what the last cache holds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "transport.h"

#define CACHES		4	/* so many times the biggest cache */
/* An emulated processor tells of caches that nobody has: those of the real one may be bigger. */
#define MEMORY_LEAST	((size_t)128 << 20)
#define CACHE_SIZE	"/sys/devices/system/cpu/cpu0/cache/index%d/size"
#define CACHE_LEVELS	8

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
		if (!(found[i].transport->able & ABLE_DOOR)) {
			if (found[i].transport->why_unable)
				emit_impossible(found[i].transport->name,
						found[i].transport->why_unable);
			continue;
		}
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

/* What no cache holds. */
static size_t memory_bytes(void)
{
	size_t most = MEMORY_LEAST / CACHES, kilobytes;
	char path[64];
	FILE *f;
	int i;

	for (i = 0; i < CACHE_LEVELS; i++) {
		snprintf(path, sizeof(path), CACHE_SIZE, i);
		f = fopen(path, "re");
		if (f && fscanf(f, "%zuK", &kilobytes) == 1 && kilobytes << 10 > most)
			most = kilobytes << 10;
		if (f)
			fclose(f);
	}
	return CACHES * most;
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
	memory("copy", memory_bytes(), copy_trial);
	memory("read", memory_bytes(), read_trial);
	memory("write", memory_bytes(), write_trial);
}
