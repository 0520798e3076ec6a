// SPDX-License-Identifier: GPL-2.0
/*
 * memory: what the kernel holds for a connection that has carried data and is
 * idle, both ends together: --connections (10,000) are opened, carry a
 * kilobyte each way, and are left alone until memory has settled.
 *
 * All of it counts, from whatever allocator: what MemFree, Buffers and Cached of
 * /proc/meminfo and the processors' lists of free pages lost. The part that is
 * slab is told too. Needs root, to drop caches and to shrink slabs before each
 * reading.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "crowd.h"
#include "transport.h"

/*
 * Idle rings go back after some seconds; memory is settled when it stays within
 * some bytes a connection.
 */
#define SETTLE_FIRST	4	/* seconds */
#define SETTLE_LAST	20
#define SETTLE_SAME	2
#define SETTLE_BYTES	16

struct memory {
	double used;	/* bytes */
	double slab;
};

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die("memory: %s: %m", path);
	close(fd);
}

/* Empty slabs and free lists are not the connections'. */
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

/* Waits until two readings a second apart are alike, some times in a row. */
static struct memory settled(unsigned int first, unsigned int connections)
{
	struct memory last = { 0, 0 }, m;
	double alike = (double)SETTLE_BYTES * connections;
	unsigned int second, same = 0;

	sleep(first);
	for (second = first; second < SETTLE_LAST && same < SETTLE_SAME; second++) {
		sleep(1);
		tidy();
		m = read_memory();
		if (m.used > last.used - alike && m.used < last.used + alike)
			same++;
		else
			same = 0;
		last = m;
	}
	return last;
}

static void one_run(const struct transport *t, unsigned int connections, int result)
{
	struct memory before, after, each;
	struct crowd c;

	crowd_prepare(&c, connections);
	before = settled(0, connections);
	crowd_open(&c, t);
	after = settled(SETTLE_FIRST, connections);
	crowd_close(&c);
	each.used = (after.used - before.used) / connections;
	each.slab = (after.slab - before.slab) / connections;
	if (write(result, &each, sizeof(each)) != sizeof(each))
		die("memory: %m");
}

static void run(struct series *used, struct series *slab, unsigned int n)
{
	struct words *said = shared_memory(sizeof(*said));
	struct memory each = { 0, 0 };
	int result[2], status;
	pid_t pid;

	if (pipe2(result, O_CLOEXEC))
		die("memory: pipe: %m");
	guard_use(said);
	pid = fork();
	if (pid < 0)
		die("memory: fork: %m");
	if (!pid) {
		guard_enter();
		one_run(used->transport, used->connections, result[1]);
		loopback_restore();
		_exit(0);
	}
	guard_use(NULL);
	close(result[1]);
	if (waitpid(pid, &status, 0) != pid || status ||
	    read(result[0], &each, sizeof(each)) != sizeof(each)) {
		guard_failed(used, status, said);
		slab->failed = used->failed;
	}
	close(result[0]);
	munmap(said, sizeof(*said));
	used->value[n] = each.used;
	slab->value[n] = each.slab;
}

void exp_memory(void)
{
	struct series used[SERIES_MAX], slab[SERIES_MAX];
	unsigned int count = series_make(used, ABLE_MEMORY);
	unsigned int i, n;

	for (i = 0; i < count; i++) {
		if (!used[i].connections)
			used[i].connections = 10000;
		slab[i] = used[i];
	}
	for (n = 0; n < opt.runs; n++)
		for (i = 0; i < count; i++) {
			if (used[i].failed)
				continue;
			progress("memory %s: run %u of %u", used[i].transport->name, n + 1,
				 opt.runs);
			run(&used[i], &slab[i], n);
		}
	progress_done();
	for (i = 0; i < count; i++) {
		emit("memory", &used[i], "idle_connection", "bytes");
		emit("memory", &slab[i], "idle_connection_slab", "bytes");
	}
}
