// SPDX-License-Identifier: GPL-2.0
/* speedbench: measures transports between two processes on one machine. */
#define _GNU_SOURCE
#include <errno.h>
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
	{ "latency", exp_latency, "round trip of a message of --size bytes (64); --detail" },
	{ "stream", exp_stream, "messages of --size bytes (512) one way; --touch" },
	{ "connect", exp_connect, "connect, accept, one byte each way, close; --silent" },
	{ "capacity", exp_capacity, "bytes that a sender can write while nobody reads" },
	{ "memory", exp_memory, "memory of --connections (10000) idle connections" },
	{ "epoll", exp_epoll, "one active among --connections (100 and 10000)" },
	{ "native", exp_native, "the ring alone against a bare one, without the module" },
	{ "iobench", exp_iobench, "messages of 70 to 7000 bytes: each side's time" },
	{ "sweep", exp_sweep, "throughput of messages of 16 bytes to --max, every byte touched" },
	{ "poller", exp_poller, "select, poll, epoll, io_uring: one active among --connections" },
	{ "jipc", exp_jipc, "four-byte messages: one connection, one for each, call" },
	{ "sovia", exp_sovia, "latency and bandwidth against size, small messages gathered or not" },
	{ "lmbench", exp_lmbench, "latency, bandwidth, connecting; copy and memory bandwidth" },
	{ "process", exp_process, "what a process pays to run under speedrun; --detail" },
	{ "scale", exp_scale, "how costs grow with --connections and --threads" },
};

#define SOME_FAILED	3	/* and records say which */
#define LINE_NS		10000000000u

#define EXPERIMENTS	(sizeof(experiments) / sizeof(experiments[0]))

void die(const char *format, ...)
{
	char text[240];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	guard_note(text);
	loopback_restore();
	fflush(stdout);
	progress_done();
	fprintf(stderr, "speedbench: %s\n", text);
	_exit(1);
}

/* Where lines stay, like in a guest's log, not all of them. */
static bool is_time_for_line(void)
{
	static uint64_t last;
	uint64_t now = now_ns();

	if (!getenv("SPEED_PROGRESS") || (last && now - last < LINE_NS))
		return false;
	last = now;
	return true;
}

void progress(const char *format, ...)
{
	bool terminal = isatty(2);
	va_list list;

	if (!terminal && !is_time_for_line())
		return;
	fprintf(stderr, terminal ? "\r\033[K" : "bench:   ");
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	if (!terminal)
		fputc('\n', stderr);
}

/* Takes it away. */
void progress_done(void)
{
	if (isatty(2))
		fprintf(stderr, "\r\033[K");
}

/* Written in another language: the report, and unmodified programs. */
static const struct {
	const char *name;
	const char *path;
	const char *help;
} scripts[] = {
	{ "apps", SCRIPTS "/apps", "PROGRAM: redis, memcached, nginx, pgbench or ftp; --help" },
	{ "report", SCRIPTS "/report", "JSON... -o DIR: a page and a table of what all that printed" },
};

#define SCRIPT_COUNT	(sizeof(scripts) / sizeof(scripts[0]))

static void become_script(char **argv)
{
	size_t i;

	for (i = 0; i < SCRIPT_COUNT; i++) {
		if (strcmp(argv[0], scripts[i].name))
			continue;
		argv[0] = (char *)scripts[i].path;
		execv(argv[0], argv);
		die("%s: %m", argv[0]);
	}
}

static void usage(void)
{
	size_t i;

	printf("usage: speedbench EXPERIMENT [OPTION...]\n\n");
	for (i = 0; i < EXPERIMENTS; i++)
		printf("  %-10s%s\n", experiments[i].name, experiments[i].help);
	for (i = 0; i < SCRIPT_COUNT; i++)
		printf("  %-10s%s\n", scripts[i].name, scripts[i].help);
	options_help();
}

int main(int argc, char **argv)
{
	size_t i;

	apart_serve();
	if (argc < 2) {
		dup2(2, 1);
		usage();
		return 2;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		usage();
		return 0;
	}
	become_script(argv + 1);
	for (i = 0; i < EXPERIMENTS; i++) {
		if (strcmp(argv[1], experiments[i].name))
			continue;
		opt.experiment = argv[1];
		options_parse(argc - 1, argv + 1);
		experiments[i].run();
		loopback_restore();
		return guard_failures() ? SOME_FAILED : 0;
	}
	die("no experiment is called '%s'", argv[1]);
}
