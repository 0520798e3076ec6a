// SPDX-License-Identifier: GPL-2.0
/* What the module holds: see held.h. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "held.h"
#include "procfile.h"
#include "task.h"
#include "trace.h"

#define SLABS		"/sys/kernel/slab/"

long held_references(void)
{
	char text[32];

	if (file_read("/sys/module/speed/refcnt", text, sizeof(text)))
		return 0;
	return strtol(text, NULL, 10);
}

bool held_can_count(void)
{
	return !geteuid() && !access(SLABS "speed_pair/objects", R_OK);
}

/* A slab that a processor keeps at hand counts as full: shrinking takes it away. */
static long slab_objects(const char *cache)
{
	char path[128], text[256];

	snprintf(path, sizeof(path), SLABS "%s/shrink", cache);
	MUST(file_write(path, "1") == 0);
	snprintf(path, sizeof(path), SLABS "%s/objects", cache);
	MUST(file_read(path, text, sizeof(text)) == 0);
	return strtol(text, NULL, 10);
}

/* Each buffer is mapped twice in a row, and a page that guards it follows. */
static long data_mapped(void)
{
	FILE *f = fopen("/proc/vmallocinfo", "r");
	long page = sysconf(_SC_PAGESIZE), bytes, all = 0;
	char line[512];

	MUST(f);
	while (fgets(line, sizeof(line), f)) {
		if (strstr(line, "[speed]") && strstr(line, " vmap") &&
		    sscanf(line, "%*s %ld", &bytes) == 1)
			all += (bytes - page) / 2;
	}
	fclose(f);
	return all;
}

void held_empty_pool(void)
{
	long until = now_ms() + HELD_SETTLE_MS;

	if (geteuid())
		trace_skip("needs root, to empty the pool");
	while (stat_number("pool_bytes")) {
		MUST(now_ms() < until);
		MUST(file_write("/proc/sys/vm/drop_caches", "2") == 0);
	}
}

static void count_once(struct held *h)
{
	/* What is in the pool is mapped, too. */
	held_empty_pool();
	h->pairs = slab_objects("speed_pair");
	h->socks = slab_objects("SPEED");
	h->data = stat_number("data_bytes") - stat_number("pool_bytes");
	h->mapped = data_mapped();
}

/*
 * The list of mappings is told in pieces, and what goes in between shifts the
 * rest: one that was passed over is not passed over twice.
 */
void held_count(struct held *h)
{
	long until = now_ms() + HELD_SETTLE_MS;
	struct held last;

	count_once(h);
	do {
		last = *h;
		count_once(h);
	} while (memcmp(&last, h, sizeof(last)) && now_ms() < until);
}

static void count_where_allowed(struct held *h)
{
	*h = (struct held){ 0 };
	if (held_can_count())
		held_count(h);
}

/* Counting shrinks slabs, so not where references alone say that it is too early. */
static bool some_held(struct held *h)
{
	if (held_references())
		return true;
	count_where_allowed(h);
	return h->pairs || h->socks || h->data || h->mapped;
}

void held_settle(struct held *h)
{
	long until = now_ms() + HELD_SETTLE_MS;

	while (some_held(h)) {
		if (now_ms() > until) {
			count_where_allowed(h);
			printf("# something is held that does not go\n");
			return;
		}
		sleep_ms(50);
	}
}

void held_begin(struct held *h)
{
	held_settle(h);
	if (held_can_count())
		return;
	h->pairs = -1;
	printf("# memory is not counted: needs root and CONFIG_SLUB_DEBUG\n");
}

void held_end(const struct held *before)
{
	long until = now_ms() + HELD_SETTLE_MS;
	struct held now;

	if (before->pairs < 0)
		return;
	held_count(&now);
	while (memcmp(&now, before, sizeof(now)) && now_ms() < until) {
		sleep_ms(100);
		held_count(&now);
	}
	WANT(now.pairs, before->pairs, 0, "struct speed_pair held");
	WANT(now.socks, before->socks, 0, "struct speed_sock held");
	WANT(now.data, before->data, 0, "bytes of data pages held");
	WANT(now.mapped, before->mapped, 0, "bytes of rings mapped");
}
