// SPDX-License-Identifier: GPL-2.0
/* The clock, and where processes run. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Of n readings. */
static uint64_t readings_cost(uint64_t n)
{
	uint64_t total = 0, i;

	for (i = 0; i < n; i++) {
		uint64_t start = now_ns();

		total += now_ns() - start;
	}
	return total;
}

/* Few of them last longer for an interrupt: one of several times is without. */
uint64_t clock_cost(uint64_t n)
{
	uint64_t shortest = UINT64_MAX, cost;
	int i;

	for (i = 0; i < 10; i++) {
		cost = readings_cost(n);
		shortest = cost < shortest ? cost : shortest;
	}
	return shortest;
}

/* Of a loop of two instructions, and ten more that do nothing, in thousandths of a ns. */
static uint64_t round_cost(bool longer)
{
	const uint64_t rounds = 50000;
	uint64_t start, left = rounds;

	start = now_ns();
	if (longer)
		asm volatile("1: .rept 10; nop; .endr; dec %0; jnz 1b" : "+r" (left) : : "cc");
	else
		asm volatile("1: dec %0; jnz 1b" : "+r" (left) : : "cc");
	return (now_ns() - start) * 1000 / rounds;
}

/* The timer's interrupt costs more now and then: one of several times is without. */
bool clock_counts(void)
{
	uint64_t shortest = UINT64_MAX, longest = UINT64_MAX, cost;
	int i;

	for (i = 0; i < 10; i++) {
		cost = round_cost(false);
		shortest = cost < shortest ? cost : shortest;
		cost = round_cost(true);
		longest = cost < longest ? cost : longest;
	}
	return shortest >= 2000 && shortest < 2100 && longest >= 12000 && longest < 12100;
}

/* Asked once: cpu_pin() narrows what the answer would be. */
static const cpu_set_t *allowed(void)
{
	static cpu_set_t first;

	if (!CPU_COUNT(&first) && sched_getaffinity(0, sizeof(first), &first))
		die("sched_getaffinity: %m");
	return &first;
}

int cpus_allowed(void)
{
	return CPU_COUNT(allowed());
}

/* The number of the one that has so many allowed ones before it. */
static int cpu_number(int before)
{
	int cpu = 0;

	while (!CPU_ISSET(cpu, allowed()) || before--)
		cpu++;
	return cpu;
}

static void run_on(const cpu_set_t *set)
{
	if (sched_setaffinity(0, sizeof(*set), set))
		die("cannot run on the processors wanted: %m");
}

/* Several threads get every second processor, so that their number can tell. */
void cpu_pin(int side, unsigned int threads)
{
	int nth = opt.two_cpus ? side : 0, step = opt.two_cpus ? 2 : cpus_allowed();
	cpu_set_t set;

	CPU_ZERO(&set);
	do {
		CPU_SET(cpu_number(nth), &set);
		nth += step;
	} while (threads > 1 && nth < cpus_allowed());
	run_on(&set);
}

void cpu_unpin(void)
{
	run_on(allowed());
}

void cpu_batch(void)
{
	const struct sched_param none = { .sched_priority = 0 };

	if (sched_setscheduler(0, SCHED_BATCH, &none))
		die("SCHED_BATCH: %m");
}

void raise_file_limit(unsigned int files)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		die("getrlimit");
	if (limit.rlim_cur >= files)
		return;
	limit.rlim_cur = files;
	if (limit.rlim_max < files)
		limit.rlim_max = files;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("cannot open %u files: raise the limit (ulimit -n)", files);
}
