// SPDX-License-Identifier: GPL-2.0
/*
 * memory: what the kernel holds for a connection that has carried data and is
 * idle, both ends together: --connections (10,000) are opened, carry a
 * kilobyte each way, and are left alone until memory has settled. Where a program, or
 * the library, maps connections they are mapped then and stay so: what the process
 * has for them counts too, and mapped_ends tells how many ends there were at the end.
 *
 * All of it counts, from whatever allocator: what MemFree, Buffers and Cached of
 * /proc/meminfo and the processors' lists of free pages lost. The part that is
 * slab is told too. Needs root, to drop caches, to shrink slabs and to have the
 * processors' counts added up before each reading.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "crowd.h"
#include "transport.h"

/*
 * Idle rings go back after some seconds; memory is settled when it stays within
 * some bytes a connection. Of few connections that is less than what comes and goes on
 * an idle machine, some pages a second: as much is alike, too, and one reading says
 * little, so that medians are held against each other.
 */
#define SETTLE_FIRST	4	/* seconds */
#define SETTLE_LAST	60
#define SETTLE_OF	3	/* readings to a median */
#define SETTLE_BYTES	16
#define SETTLE_IDLE	(4 * 4096)	/* bytes */

enum { USED, SLAB, ENDS };

struct memory {
	double used;	/* bytes; the first, for by_double() */
	double slab;
};

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die("memory: %s: %m", path);
	close(fd);
}

/*
 * Empty slabs and free lists are not the connections'. Each processor keeps what it counted
 * for a second or until it is much, so that the sums of an idle machine come and go by dozens
 * of pages; what writes to stat_refresh has all of it added up, last of all. See
 * vmstat_refresh() in mm/vmstat.c.
 */
static void tidy(void)
{
	DIR *dir = opendir("/sys/kernel/slab");
	struct dirent *entry;
	char path[512];

	write_file("/proc/sys/vm/drop_caches", "3");
	if (!dir)
		die("memory: /sys/kernel/slab: %m");
	while ((entry = readdir(dir))) {
		/* Merged caches stand there once under each of their names. */
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/sys/kernel/slab/%s/shrink", entry->d_name);
		write_file(path, "1");
	}
	closedir(dir);
	/* Where there is one processor only it is not there, nor needed. */
	if (!access("/proc/sys/vm/stat_refresh", F_OK))
		write_file("/proc/sys/vm/stat_refresh", "1");
}

/* Free pages that a processor keeps at hand; MemFree leaves them out. */
static double pages_at_hand(void)
{
	FILE *f = fopen("/proc/zoneinfo", "re");
	double pages = 0, count;
	char line[256];

	if (!f)
		die("memory: /proc/zoneinfo: %m");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " count: %lf", &count) == 1)
			pages += count;
	fclose(f);
	return pages * (double)sysconf(_SC_PAGESIZE);
}

static struct memory read_memory(void)
{
	struct memory m = { 0, 0 };
	double total = 0, gone = 0, kilobytes;
	FILE *f = fopen("/proc/meminfo", "re");
	char line[256], name[64];

	if (!f)
		die("memory: /proc/meminfo: %m");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63[^:]: %lf", name, &kilobytes) != 2)
			continue;
		if (!strcmp(name, "MemTotal"))
			total = kilobytes;
		else if (!strcmp(name, "MemFree") || !strcmp(name, "Buffers") ||
			 !strcmp(name, "Cached"))
			gone += kilobytes;
		else if (!strcmp(name, "Slab"))
			m.slab = 1024 * kilobytes;
	}
	fclose(f);
	m.used = 1024 * (total - gone) - pages_at_hand();
	return m;
}

/* How many bytes more or less are no difference. */
static double alike_bytes(unsigned int connections)
{
	double bytes = (double)SETTLE_BYTES * connections;

	return bytes > SETTLE_IDLE ? bytes : SETTLE_IDLE;
}

/* That of readings which as many used more of as less. */
static struct memory middle(const struct memory *readings)
{
	struct memory sorted[SETTLE_OF];

	memcpy(sorted, readings, sizeof(sorted));
	qsort(sorted, SETTLE_OF, sizeof(sorted[0]), by_double);
	return sorted[SETTLE_OF / 2];
}

/*
 * Waits until some readings, a second apart, have the median that as many before them
 * had; dies if none do.
 */
static struct memory settled(unsigned int first, unsigned int connections)
{
	double alike = alike_bytes(connections), more;
	struct memory m[SETTLE_LAST], last;
	unsigned int count = 0;

	sleep(first);
	while (first + count < SETTLE_LAST) {
		sleep(1);
		tidy();
		m[count++] = read_memory();
		if (count < 2 * SETTLE_OF)
			continue;
		last = middle(&m[count - SETTLE_OF]);
		more = last.used - middle(&m[count - 2 * SETTLE_OF]).used;
		if (more > -alike && more < alike)
			return last;
	}
	die("memory: not settled after %d seconds", SETTLE_LAST);
}

/* What an end costs that a program maps: its rings cannot be given back. */
static struct end *ends_new(const struct transport *t, const struct crowd *c)
{
	struct end *ends;

	if (!t->maps || t->preload)
		return NULL;
	ends = malloc(2 * c->count * sizeof(*ends));
	if (!ends)
		die("no memory");
	memset(ends, 0xff, 2 * c->count * sizeof(*ends));
	return ends;
}

static void ends_enter(struct end *ends, const struct transport *t, const struct crowd *c)
{
	unsigned int i;

	for (i = 0; ends && i < 2 * c->count; i++) {
		int fd = i % 2 ? c->server[i / 2] : c->client[i / 2];

		ends[i] = (struct end){ .transport = t, .in = fd, .out = fd };
		t->enter(&ends[i]);
	}
}

/* Dies if one of them did not stay mapped. */
static void ends_leave(struct end *ends, const struct transport *t, const struct crowd *c)
{
	unsigned int i;

	for (i = 0; ends && i < 2 * c->count; i++)
		t->leave(&ends[i]);
	free(ends);
}

static uint64_t trial(struct series *s, uint64_t n)
{
	const struct transport *t = s->transport;
	struct memory before, after;
	struct end *ends;
	struct crowd c;

	crowd_prepare(&c, s->connections);
	ends = ends_new(t, &c);
	before = settled(0, s->connections);
	crowd_open(&c, t);
	if (t->preload)
		crowd_warm(&c);
	ends_enter(ends, t, &c);
	after = settled(SETTLE_FIRST, s->connections);
	s->extra[USED] = (after.used - before.used) / s->connections;
	s->extra[SLAB] = (after.slab - before.slab) / s->connections;
	s->extra[ENDS] = crowd_mapped();
	ends_leave(ends, t, &c);
	crowd_close(&c);
	return n;
}

/* What a file of /proc/sys says. */
static double setting(const char *path)
{
	FILE *f = fopen(path, "re");
	double value = 0;

	if (!f || fscanf(f, "%lf", &value) != 1)
		die("memory: %s: %m", path);
	fclose(f);
	return value;
}

/* Why so many connections cannot be mapped at both ends, or NULL. */
static const char *too_many(const struct transport *t, unsigned int connections)
{
	if (!t->maps || t->preload)
		return NULL;
	if (2.0 * connections * setting("/proc/sys/net/speed/ring_bytes") >=
	    setting("/proc/sys/net/speed/mem_max"))
		return "the rings of so many mapped connections do not fit into net.speed.mem_max";
	if (2.0 * CROWD_REGIONS * connections >= setting("/proc/sys/vm/max_map_count"))
		return "both ends of so many take more mappings than vm.max_map_count allows";
	return NULL;
}

/* Those that can be measured with so many. */
static unsigned int series_of(struct series *all, unsigned int connections)
{
	unsigned int able = series_make(all, ABLE_MEMORY), count = 0, i;

	for (i = 0; i < able; i++) {
		const char *why = too_many(all[i].transport, connections);

		if (why) {
			emit_impossible(all[i].transport->name, why);
			continue;
		}
		all[count] = all[i];
		all[count].connections = connections;
		all[count].trial = trial;
		all[count++].n = 1;
	}
	return count;
}

void exp_memory(void)
{
	struct series all[SERIES_MAX];
	unsigned int count, i;

	count = series_of(all, opt.connections ? opt.connections : 10000);
	measure_given(all, count);
	for (i = 0; i < count; i++) {
		emit_extra("memory", &all[i], USED, "idle_connection", "bytes");
		emit_extra("memory", &all[i], SLAB, "idle_connection_slab", "bytes");
		if (all[i].transport->maps)
			emit_extra("memory", &all[i], ENDS, "mapped_ends", "ends");
	}
}
