// SPDX-License-Identifier: GPL-2.0
/*
 * Fused TCP: net.speed.loopback, which makes the module carry new TCP connections,
 * and what the module says of a connection. A figure of fused TCP whose bytes
 * went by TCP all the same would look fine and mean nothing, so it is asked.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/speed.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "transport.h"

#define SWITCH		"/proc/sys/net/speed/loopback"
#define COUNTERS	"/proc/net/speed_stat"

static char before;	/* what the switch was; 0: this process has not touched it */

static void write_switch(char value)
{
	int fd = open(SWITCH, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, &value, 1) != 1)
		die(SWITCH ": %m");
	close(fd);
}

/* '0' also where there is no module: TCP is plain then. */
static char read_switch(void)
{
	int fd = open(SWITCH, O_RDONLY | O_CLOEXEC);
	char value;

	if (fd < 0 && errno == ENOENT)
		return '0';
	if (fd < 0 || read(fd, &value, 1) != 1)
		die(SWITCH ": %m");
	close(fd);
	return value;
}

/* From die() and from a signal, so it tells of an error in its own way. */
void loopback_restore(void)
{
	static const char text[] = "speedbench: " SWITCH " is not as it was\n";
	int fd;

	if (!before)
		return;
	fd = open(SWITCH, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, &before, 1) != 1)
		write(2, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	before = 0;
}

char loopback_remember(void)
{
	return read_switch();
}

void loopback_repair(char was)
{
	if (read_switch() != was)
		write_switch(was);
}

static void on_signal(int number)
{
	loopback_restore();
	raise(number);	/* SA_RESETHAND: the end that it would have been */
}

/* However the program ends, the machine's other programs get back what they had. */
static void restore_at_end(void)
{
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };

	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

void loopback_set(bool on)
{
	char value = on ? '1' : '0', is = read_switch();

	if (is == value)
		return;
	if (!before) {
		before = is;
		restore_at_end();
	}
	write_switch(value);
}

static struct speed_fusion ask(int fd, const char *name)
{
	struct speed_fusion f;
	socklen_t len = sizeof(f);

	if (getsockopt(fd, SOL_SPEED, SPEED_FUSION, &f, &len))
		die("%s: not fused, the module does not know this socket: %m", name);
	if (len != sizeof(f))
		die("%s: struct speed_fusion of %u bytes", name, (unsigned int)len);
	return f;
}

static void check(int fd, const char *name, uint32_t flags)
{
	struct speed_fusion f = ask(fd, name);

	if ((f.flags & flags) != flags)
		die("%s: not fused: flags 0x%x, reason %u, %llu times on the ring and %llu back",
		    name, f.flags, f.reason, (unsigned long long)f.fused,
		    (unsigned long long)f.unfused);
}

void fused_check(int fd, const char *name)
{
	check(fd, name, SPEED_FUSION_PAIRED | SPEED_FUSION_TX | SPEED_FUSION_RX);
}

void fused_check_sender(int fd, const char *name)
{
	check(fd, name, SPEED_FUSION_PAIRED | SPEED_FUSION_TX);
}

/* A sender that does not wait fills its ring at once; of long messages anyone does. */
bool fused_fills(size_t size)
{
	return opt.nonblocking || size > BUFFER_MAX;
}

/* What a full ring leads to: its rest by TCP, and until that has arrived no ring. */
static bool only_full(const struct speed_fusion *f)
{
	return f->reason == SPEED_TCP_FUSED || f->reason == SPEED_TCP_FULL ||
	       f->reason == SPEED_TCP_BUSY;
}

static double share;
static bool lets_off;
static bool *let_off;	/* of either side */

void fused_lets_off(bool on)
{
	if (!let_off)
		let_off = shared_memory(sizeof(*let_off));
	lets_off = on;
	*let_off = false;
}

bool fused_let_off(void)
{
	return *let_off;
}

/*
 * A stream may fill a ring now and then; what follows goes by TCP until it is drained.
 * Where that may be nearly all, it is what fused TCP does, and measured: the share is
 * told beside the figure.
 */
void fused_check_share(const struct end *e)
{
	const char *name = e->transport->name;
	struct speed_fusion f = ask(e->in, name);
	bool fills = fused_fills(e->size), full = only_full(&f);
	uint64_t least;
	int role;

	for (role = 0; role < SPEED_ROLES; role++) {
		least = fills ? !!e->bytes[role] : e->bytes[role] / 10 * 9;
		if (f.bytes[role] >= least && (full || !fills))
			continue;
		if (!lets_off || fills || !full)
			die("%s: not fused: role %d moved %llu of %llu bytes by its ring, reason %u",
			    name, role, (unsigned long long)f.bytes[role],
			    (unsigned long long)e->bytes[role], f.reason);
		*let_off = true;
	}
	share = (double)(f.bytes[SPEED_ROLE_TX] + f.bytes[SPEED_ROLE_RX]) /
		(double)(e->bytes[SPEED_ROLE_TX] + e->bytes[SPEED_ROLE_RX]);
}

double fused_share(void)
{
	return share;
}

uint64_t fused_count(const char *counter)
{
	FILE *f = fopen(COUNTERS, "re");
	unsigned long long count, found = 0;
	char line[256], name[64];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %llu", name, &count) == 2 && !strcmp(name, counter))
			found = count;
	if (f)
		fclose(f);
	return found;
}
