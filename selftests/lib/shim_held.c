// SPDX-License-Identifier: GPL-2.0
/* What the loopback shim holds: see shim_held.h. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "procfile.h"
#include "shim_held.h"
#include "task.h"
#include "trace.h"

#define SLAB		"/sys/kernel/slab/shim_conn"
#define SLACK_PAGES	272	/* that each processor may keep at hand, and a few */

void shim_orphans_brief(void)
{
	MUST(file_write("/proc/sys/net/ipv4/tcp_fin_timeout", "1") == 0);
}

/* A number of the line "TCP:" of this namespace's sockstat. */
static long sockstat(const char *name)
{
	char text[2048], *at;

	MUST(file_read("/proc/net/sockstat", text, sizeof(text)) == 0);
	at = strstr(text, "\nTCP:");
	MUST(at);
	at = strstr(at, name);
	MUST(at);
	return strtol(at + strlen(name), NULL, 10);
}

long tcp_mem_pages(void)
{
	return sockstat(" mem ");
}

/* A slab that a processor keeps at hand counts as full: shrinking takes it away. */
static long conns(void)
{
	char text[256];

	MUST(file_write(SLAB "/shrink", "1") == 0);
	MUST(file_read(SLAB "/objects", text, sizeof(text)) == 0);
	return strtol(text, NULL, 10);
}

static void count_sockets(struct shim_held *h)
{
	h->references = held_references();
	h->orphans = sockstat(" orphan ");
	if (h->counted)
		h->conns = conns();
}

static void count(struct shim_held *h)
{
	count_sockets(h);
	if (h->counted)
		held_count(&h->held);
}

/* Nothing but the orphan is left of a socket that had left the shim. */
static void settle(struct shim_held *h)
{
	long until = now_ms() + HELD_SETTLE_MS;

	held_settle(&h->held);
	count_sockets(h);
	while ((h->orphans || h->conns) && now_ms() < until) {
		sleep_ms(50);
		count_sockets(h);
	}
}

void shim_held_begin(struct shim_held *h)
{
	memset(h, 0, sizeof(*h));
	h->counted = held_can_count() && !access(SLAB, F_OK);
	if (!h->counted)
		printf("# memory is not counted: needs CONFIG_SLUB_DEBUG\n");
	settle(h);
}

static bool all_back(const struct shim_held *now, const struct shim_held *before)
{
	return now->references <= before->references && now->orphans <= before->orphans &&
	       now->conns <= before->conns &&
	       (!now->counted || !memcmp(&now->held, &before->held, sizeof(now->held)));
}

void shim_held_end(const struct shim_held *before)
{
	long until = now_ms() + HELD_SETTLE_MS;
	struct shim_held now = { .counted = before->counted };

	count(&now);
	while (!all_back(&now, before) && now_ms() < until) {
		sleep_ms(100);
		count(&now);
	}
	WANT(now.references, before->references, 0, "references to the module");
	WANT(now.orphans, before->orphans, 0, "sockets that no file holds");
	WANT_TRUE(tcp_mem_pages() <= SLACK_PAGES * sysconf(_SC_NPROCESSORS_ONLN),
		  "TCP's pages: %ld", tcp_mem_pages());
	if (!before->counted)
		return;
	WANT(now.conns, before->conns, 0, "struct shim_conn held");
	WANT(now.held.data, before->held.data, 0, "bytes of data pages held");
	WANT(now.held.mapped, before->held.mapped, 0, "bytes of rings mapped");
}
