// SPDX-License-Identifier: GPL-2.0
/* speedbench: measures transports between two processes on one machine. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "transport.h"

static const struct {
	const char *name;
	void (*run)(void);
	const char *help;
} experiments[] = {
	{ "latency", exp_latency, "round trip of a message of --size bytes (64)" },
	{ "stream", exp_stream, "messages of --size bytes (512) one way; --touch" },
	{ "connect", exp_connect, "connect, accept, one byte each way, close; --silent" },
	{ "capacity", exp_capacity, "bytes that a sender can write while nobody reads" },
	{ "memory", exp_memory, "memory of --connections (10000) idle connections" },
	{ "epoll", exp_epoll, "one active among --connections (100 and 10000)" },
	{ "native", exp_native, "the ring alone against a bare one, without the module" },
};

#define EXPERIMENTS	(sizeof(experiments) / sizeof(experiments[0]))

struct options opt = { .runs = 5 };

void die(const char *format, ...)
{
	int error = errno;
	va_list list;

	loopback_restore();
	fflush(stdout);
	if (isatty(2))
		fprintf(stderr, "\r\033[K");
	fprintf(stderr, "speedbench: ");
	errno = error;	/* for %m */
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fprintf(stderr, "\n");
	_exit(1);
}

void progress(const char *format, ...)
{
	va_list list;

	if (!isatty(2))
		return;
	fprintf(stderr, "\r\033[K");
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
}

static void usage(FILE *to)
{
	const struct transport *const *t;
	size_t i;

	fprintf(to, "usage: speedbench EXPERIMENT [OPTION...]\n\n");
	for (i = 0; i < EXPERIMENTS; i++)
		fprintf(to, "  %-10s%s\n", experiments[i].name, experiments[i].help);
	fprintf(to, "\n"
		"  --transports A,B,...  which; all that are able if not given:\n                       ");
	for (t = transports; *t; t++)
		fprintf(to, " %s", (*t)->name);
	fprintf(to, "\n"
		"  --size BYTES          a message\n"
		"  --touch               stream: every byte is written and read by the programs\n"
		"  --silent              connect: no byte goes over a connection\n"
		"  --batch               who wakes waits for the processor: SCHED_BATCH\n"
		"  --connections N\n"
		"  --cpus one|two        where the two processes run (one)\n"
		"  --runs N              runs, of which median, min and max are told (5)\n"
		"  --target MS           a run takes about so long (200; icount: 20)\n"
		"  --accel NAME          tcg, icount, kvm or native ($SPEED_ACCEL)\n\n"
		"Prints one JSON object a line. Where NAME is icount the clock counts\n"
		"instructions, and so do the results.\n");
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

/* QEMU's emulated processor says what it is. */
static const char *guess_accel(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	const char *accel = "native";
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "QEMU TCG"))
			accel = "tcg";
	if (f)
		fclose(f);
	return accel;
}

static bool one_of(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(text, *words))
			return true;
	return false;
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "transports", required_argument, NULL, 't' },
		{ "size", required_argument, NULL, 's' },
		{ "touch", no_argument, NULL, 'w' },
		{ "silent", no_argument, NULL, 'q' },
		{ "batch", no_argument, NULL, 'b' },
		{ "connections", required_argument, NULL, 'n' },
		{ "cpus", required_argument, NULL, 'c' },
		{ "runs", required_argument, NULL, 'r' },
		{ "target", required_argument, NULL, 'm' },
		{ "accel", required_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	static const char *const cpus[] = { "one", "two", NULL };
	static const char *const accels[] = { "tcg", "icount", "kvm", "native", NULL };
	unsigned long target = 0;
	int c;

	opt.accel = getenv("SPEED_ACCEL");
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 't':
			opt.transports = optarg;
			break;
		case 's':
			opt.size = number("size", optarg, BUFFER_MAX);
			break;
		case 'w':
			opt.touch = true;
			break;
		case 'q':
			opt.silent = true;
			break;
		case 'b':
			opt.batch = true;
			break;
		case 'n':
			opt.connections = (unsigned int)number("connections", optarg, 1u << 20);
			break;
		case 'c':
			if (!one_of(optarg, cpus))
				die("--cpus: one or two, not '%s'", optarg);
			opt.two_cpus = !strcmp(optarg, "two");
			break;
		case 'r':
			opt.runs = (unsigned int)number("runs", optarg, RUNS_MAX);
			break;
		case 'm':
			target = number("target", optarg, 60000);
			break;
		case 'a':
			opt.accel = optarg;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			exit(2);
		}
	}
	if (optind != argc)
		die("what is '%s'?", argv[optind]);
	if (!opt.accel || !*opt.accel)
		opt.accel = guess_accel();
	if (!one_of(opt.accel, accels))
		die("an accelerator is tcg, icount, kvm or native, not '%s'", opt.accel);
	opt.icount = !strcmp(opt.accel, "icount");
	if (!target)
		target = opt.icount ? 20 : 200;
	opt.target_ns = target * 1000000;
	if (opt.icount && opt.two_cpus)
		die("instructions are counted on one processor (--cpus one)");
	if (opt.two_cpus && cpus_online() < 2)
		die("--cpus two, but there is one");
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return 0;
	}
	for (i = 0; i < EXPERIMENTS; i++) {
		if (strcmp(argv[1], experiments[i].name))
			continue;
		opt.experiment = argv[1];
		parse(argc - 1, argv + 1);
		experiments[i].run();
		loopback_restore();
		return 0;
	}
	die("no experiment is called '%s'", argv[1]);
}
