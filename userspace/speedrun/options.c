// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Options become the environment that the library reads, which the program's own
 * children inherit.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "speedrun.h"

#define EXIT_USAGE	125
#define PORT_MAX	65535
#define SPIN_MAX	1000000		/* SPEED_SPIN_MAX */
#define MAPPINGS_MAX	(1 << 20)
#define AFTER_MAX	1000000000

static const char usage[] =
	"usage: speedrun [OPTION...] PROGRAM [ARG...]\n"
	"Runs a program with its local connections mapped: AF_SPEED, and TCP with the shim.\n"
	"\n"
	"  -p, --ports LIST     only TCP connections with one of these ports: 80,8000-8099;\n"
	"                       !22 is all but these\n"
	"  -s, --spin USEC      look for so long at most before sleeping; 0: never\n"
	"  -v, --stats          tell at the end of each process what was done\n"
	"      --mappings N     connections mapped at a time (1024)\n"
	"      --after N        transfers before a connection is mapped (32)\n"
	"  -h, --help\n"
	"      --version\n";

static const struct option longs[] = {
	{ "ports", required_argument, NULL, 'p' },
	{ "spin", required_argument, NULL, 's' },
	{ "stats", no_argument, NULL, 'v' },
	{ "mappings", required_argument, NULL, 'm' },
	{ "after", required_argument, NULL, 'a' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ }
};

static void wrong(const char *what, const char *value)
{
	fprintf(stderr, "speedrun: wrong %s: %s\n", what, value);
	exit(EXIT_USAGE);
}

static void put(const char *name, const char *value)
{
	if (setenv(name, value, 1))
		wrong("environment", value);
}

/* A number at the front of a text, moved on. Return: it, or -1. */
static long number(const char **text, long most)
{
	char *end;
	long n;

	if (**text < '0' || **text > '9')
		return -1;
	n = strtol(*text, &end, 10);
	*text = end;
	return n <= most ? n : -1;
}

static void put_number(const char *name, const char *what, const char *value, long least,
		       long most)
{
	const char *rest = value;

	if (number(&rest, most) < least || *rest)
		wrong(what, value);
	put(name, value);
}

/* Processes that had connections tell; this one, which the program will be, always. */
static void put_stats(void)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	put("SPEED_STATS", pid);
}

static void put_ports(const char *list)
{
	const char *rest = list + (*list == '!');
	long first, last;

	do {
		first = number(&rest, PORT_MAX);
		last = first;
		if (*rest == '-') {
			rest++;
			last = number(&rest, PORT_MAX);
		}
		if (first < 0 || last < first)
			wrong("list of ports", list);
	} while (*rest++ == ',');
	if (rest[-1])
		wrong("list of ports", list);
	put("SPEED_PORTS", list);
}

/**
 * options_take() - take over the options
 * @argc: main()'s
 * @argv: main()'s
 *
 * Return: where in argv the program is. Ends the process where there is none.
 */
int options_take(int argc, char **argv)
{
	int got;

	while ((got = getopt_long(argc, argv, "+p:s:vh", longs, NULL)) != -1)
		switch (got) {
		case 'p':
			put_ports(optarg);
			break;
		case 's':
			put_number("SPEED_SPIN", "spin limit", optarg, 0, SPIN_MAX);
			break;
		case 'v':
			put_stats();
			break;
		case 'm':
			put_number("SPEED_MAPPINGS", "number of mappings", optarg, 0, MAPPINGS_MAX);
			break;
		case 'a':
			put_number("SPEED_AFTER", "number of transfers", optarg, 1, AFTER_MAX);
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		case 'V':
			puts("speedrun " SPEED_VERSION);
			exit(0);
		default:
			fputs("Try speedrun --help.\n", stderr);
			exit(EXIT_USAGE);
		}
	if (optind == argc) {
		fputs(usage, stderr);
		exit(EXIT_USAGE);
	}
	return optind;
}
