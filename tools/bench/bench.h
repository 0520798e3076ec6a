/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of speedbench share: options, the two sides of a trial, and
 * series of trials.
 *
 * An experiment makes one series for each transport and hands them to
 * measure(), which finds a count of operations that takes long enough, runs
 * the trials of all series in turn (so that a disturbance hits all of them
 * alike; one series after the other where instructions are counted), and leaves
 * one value a run in each series. emit() writes a line.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUNS_MAX	101
#define SERIES_MAX	32

struct transport;
struct link;
struct end;

struct options {
	const char *transports;	/* comma separated, or NULL: all that fit */
	size_t size;		/* bytes a message, 0: the experiment's own */
	unsigned int runs;
	unsigned int connections;	/* 0: the experiment's own */
	bool two_cpus;
	bool touch;		/* stream: write and read every byte */
	bool silent;		/* connect: nothing is sent */
	bool batch;		/* both processes in SCHED_BATCH */
	const char *accel;	/* tcg, icount, kvm, native */
	bool icount;		/* the clock counts instructions */
	uint64_t target_ns;	/* a trial takes at least so long */
	const char *experiment;	/* for messages */
};

extern struct options opt;

/* ---- main.c ---- */
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- cpu.c: clock and processors ---- */
uint64_t now_ns(void);
int cpus_online(void);
/* Pins the caller: side 0 to the first processor, side 1 to the second if two are asked for. */
void cpu_pin(int side);
/*
 * On one processor a stream has two gaits: the receiver runs at each message, or
 * when the sender has filled what there is to fill. The scheduler changes from one
 * to the other as it likes, at three times the instructions; this leaves the latter.
 */
void cpu_batch(void);
void raise_file_limit(unsigned int files);

/* ---- sides.c: the two processes of a trial ---- */
typedef uint64_t (*side_fn)(struct end *e, size_t size, uint64_t n);
/*
 * Runs server in a new process and client in this one, each on its end of a
 * new link and pinned; returns what the client returned.
 */
uint64_t sides_run(const struct transport *t, size_t size, uint64_t n,
		   side_fn client, side_fn server);
void side_limit(void);

/* ---- measure.c: series of trials ---- */
struct series {
	const struct transport *transport;
	size_t size;
	unsigned int connections;
	uint64_t n;		/* operations in a trial */
	uint64_t n_max;		/* 0: no bound */
	/* Runs n operations; returns nanoseconds (instructions under icount). */
	uint64_t (*trial)(struct series *s, uint64_t n);
	double value[RUNS_MAX];	/* of one operation, one a run */
	void *private;
};

void measure(struct series *all, unsigned int count);
double median(const struct series *s);
/* Makes a series for each transport chosen that is able to do what is asked. */
unsigned int series_make(struct series *all, unsigned int able);

/* ---- json.c ---- */
const char *unit_of_time(void);
void emit(const char *experiment, const struct series *s, const char *metric, const char *unit);

/* ---- exp_*.c: one a subcommand ---- */
void exp_latency(void);
void exp_stream(void);
void exp_connect(void);
void exp_capacity(void);
void exp_memory(void);
void exp_epoll(void);
void exp_native(void);

#endif /* BENCH_H */
