// SPDX-License-Identifier: GPL-2.0
/* The command line of an experiment. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "transport.h"

struct options opt = { .runs = 5 };

enum {
	OPT_TRANSPORTS = 256, OPT_SIZE, OPT_TOUCH, OPT_SILENT, OPT_BATCH, OPT_CONNECTIONS,
	OPT_CPUS, OPT_RUNS, OPT_TARGET, OPT_ACCEL, OPT_DETAIL, OPT_DELAY, OPT_NONBLOCKING,
	OPT_SENDBUF, OPT_RECVBUF, OPT_MESSAGES, OPT_THREADS, OPT_MAX, OPT_ICOUNT, OPT_HELP,
};

static const struct option options[] = {
	{ "transports", required_argument, NULL, OPT_TRANSPORTS },
	{ "size", required_argument, NULL, OPT_SIZE },
	{ "touch", no_argument, NULL, OPT_TOUCH },
	{ "silent", no_argument, NULL, OPT_SILENT },
	{ "batch", no_argument, NULL, OPT_BATCH },
	{ "connections", required_argument, NULL, OPT_CONNECTIONS },
	{ "cpus", required_argument, NULL, OPT_CPUS },
	{ "runs", required_argument, NULL, OPT_RUNS },
	{ "target", required_argument, NULL, OPT_TARGET },
	{ "accel", required_argument, NULL, OPT_ACCEL },
	{ "detail", no_argument, NULL, OPT_DETAIL },
	{ "nodelay", required_argument, NULL, OPT_DELAY },
	{ "nonblocking", no_argument, NULL, OPT_NONBLOCKING },
	{ "sendbufsz", required_argument, NULL, OPT_SENDBUF },
	{ "recvbufsz", required_argument, NULL, OPT_RECVBUF },
	{ "messages", required_argument, NULL, OPT_MESSAGES },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "max", required_argument, NULL, OPT_MAX },
	{ "icount", no_argument, NULL, OPT_ICOUNT },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

void options_help(void)
{
	const struct transport *const *t;

	printf("\n"
		"  --transports A,B,...  which; all that are able if not given:\n                       ");
	for (t = transports; *t; t++)
		printf(" %s", (*t)->name);
	printf("\n"
		"  --size BYTES          a message\n"
		"  --max BYTES           sweep: the biggest message (1 MiB)\n"
		"  --messages N          iobench, jipc\n"
		"  --threads N           iobench: so many connections, each with a thread at each end\n"
		"  --detail              latency: percentiles and a histogram of each call\n"
		"  --touch               stream: every byte is written and read by the programs\n"
		"  --silent              connect: no byte goes over a connection\n"
		"  --batch               who wakes waits for the processor: SCHED_BATCH\n"
		"  --nodelay yes|no      TCP_NODELAY (yes)\n"
		"  --nonblocking         sockets: calls do not wait, poll() does; others are left out\n"
		"  --sendbufsz BYTES     SO_SNDBUF of sockets, --recvbufsz SO_RCVBUF\n"
		"  --connections N\n"
		"  --cpus one|two        where the two processes run (one)\n"
		"  --runs N              runs, of which median, min and max are told (5)\n"
		"  --target MS           a run takes about so long (200; icount: 20)\n"
		"  --accel NAME          tcg, icount, kvm or native ($SPEED_ACCEL)\n"
		"  --icount              --accel icount\n\n"
		"Prints one JSON object a line. Where NAME is icount the clock counts\n"
		"instructions, and so do the results. They are the same each time where nothing\n"
		"depends on the host (tools/vm/run --sealed); elsewhere interrupts come where\n"
		"the host has them come, and counts differ a little from boot to boot.\n");
}

static unsigned long number(const char *name, const char *text, unsigned long max)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || !n || n > max)
		die("--%s: '%s' is not a number from 1 to %lu", name, text, max);
	return n;
}

static bool second_of(const char *name, const char *text, const char *first, const char *second)
{
	if (strcmp(text, first) && strcmp(text, second))
		die("--%s: %s or %s, not '%s'", name, first, second, text);
	return !strcmp(text, second);
}

/*
 * QEMU's emulated processor says what it is; another one of a virtual machine has a flag
 * that no real one has.
 */
static const char *guess_accel(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	bool emulated = false, guest = false;
	char *line = NULL;
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0) {
		if (strstr(line, "QEMU TCG"))
			emulated = true;
		if (!strncmp(line, "flags", 5) && strstr(line, " hypervisor"))
			guest = true;
	}
	if (f)
		fclose(f);
	free(line);
	return emulated ? "tcg" : guest ? "kvm" : "native";
}

static bool known_accel(const char *text)
{
	static const char *const accels[] = { "tcg", "icount", "kvm", "native" };
	size_t i;

	for (i = 0; i < sizeof(accels) / sizeof(accels[0]); i++)
		if (!strcmp(text, accels[i]))
			return true;
	return false;
}

static void parse_flag(int c)
{
	switch (c) {
	case OPT_TOUCH:
		opt.touch = true;
		break;
	case OPT_SILENT:
		opt.silent = true;
		break;
	case OPT_BATCH:
		opt.batch = true;
		break;
	case OPT_DETAIL:
		opt.detail = true;
		break;
	case OPT_NONBLOCKING:
		opt.nonblocking = true;
		break;
	case OPT_ICOUNT:
		opt.accel = "icount";
		break;
	case OPT_HELP:
		options_help();
		exit(0);
	default:
		exit(2);
	}
}

static void parse_one(int c, const char *name, uint64_t *target)
{
	switch (c) {
	case OPT_TRANSPORTS:
		opt.transports = optarg;
		break;
	case OPT_SIZE:
		opt.size = number(name, optarg, MESSAGE_MAX);
		break;
	case OPT_MAX:
		opt.max = number(name, optarg, MESSAGE_MAX);
		break;
	case OPT_CONNECTIONS:
		opt.connections = (unsigned int)number(name, optarg, 1u << 20);
		break;
	case OPT_CPUS:
		opt.two_cpus = second_of(name, optarg, "one", "two");
		break;
	case OPT_DELAY:
		opt.delay = second_of(name, optarg, "yes", "no");
		break;
	case OPT_RUNS:
		opt.runs = (unsigned int)number(name, optarg, RUNS_MAX);
		break;
	case OPT_TARGET:
		*target = number(name, optarg, 60000);
		break;
	case OPT_SENDBUF:
		opt.sendbuf = (int)number(name, optarg, 1u << 30);
		break;
	case OPT_RECVBUF:
		opt.recvbuf = (int)number(name, optarg, 1u << 30);
		break;
	case OPT_MESSAGES:
		opt.messages = (unsigned int)number(name, optarg, 1u << 30);
		break;
	case OPT_THREADS:
		opt.threads = (unsigned int)number(name, optarg, THREADS_MAX);
		break;
	case OPT_ACCEL:
		opt.accel = optarg;
		break;
	default:
		parse_flag(c);
	}
}

static void conclude(uint64_t target)
{
	if (!opt.accel || !*opt.accel)
		opt.accel = guess_accel();
	if (!known_accel(opt.accel))
		die("an accelerator is tcg, icount, kvm or native, not '%s'", opt.accel);
	opt.icount = !strcmp(opt.accel, "icount");
	if (opt.icount && !clock_counts())
		die("icount: the clock does not count instructions here (QEMU's -icount shift=0)");
	if (!target)
		target = opt.icount ? 20 : 200;
	opt.target_ns = target * 1000000;
	if (opt.icount && opt.two_cpus)
		die("instructions are counted on one processor (--cpus one)");
	if (opt.two_cpus && cpus_allowed() < 2)
		die("--cpus two, but one is allowed");
}

void options_parse(int argc, char **argv)
{
	uint64_t target = 0;
	int c, which = 0;

	opt.accel = getenv("SPEED_ACCEL");
	opt.spin = getenv("SPEED_SPIN");
	while ((c = getopt_long(argc, argv, "", options, &which)) != -1)
		parse_one(c, options[which].name, &target);
	if (optind != argc)
		die("what is '%s'?", argv[optind]);
	conclude(target);
}
