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
#define EXTRAS_MAX	24
#define BLOB_BYTES	16384
#define THREADS_MAX	8

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
	bool detail;		/* latency: what each call takes */
	bool delay;		/* TCP gathers small messages: no TCP_NODELAY */
	bool nonblocking;	/* calls never wait; poll() does */
	int sendbuf;		/* SO_SNDBUF and SO_RCVBUF; 0: as they are */
	int recvbuf;
	unsigned int messages;	/* 0: the experiment's own */
	unsigned int threads;	/* 0: the experiment's own */
	size_t max;		/* sweep: the biggest message; 0: the experiment's own */
	const char *accel;	/* tcg, icount; kvm: any real virtual machine; native */
	const char *spin;	/* $SPEED_SPIN, which programs under the library obey, or NULL */
	bool icount;		/* the clock counts instructions */
	uint64_t target_ns;	/* a trial takes at least so long */
	const char *experiment;	/* for messages */
};

extern struct options opt;

/* ---- options.c ---- */
void options_parse(int argc, char **argv);
void options_help(void);

/* ---- main.c ---- */
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);
/* On a terminal; with SPEED_PROGRESS set, elsewhere too, a line from time to time. */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_done(void);

/* ---- cpu.c: clock and processors ---- */
uint64_t now_ns(void);
/* What n readings of the clock before and after something add to it. */
uint64_t clock_cost(uint64_t n);
/* Whether the clock tells instructions: QEMU with -icount shift=0. */
bool clock_counts(void);
/* Those that this program may run on, whatever their numbers are. */
int cpus_allowed(void);
/*
 * Pins the caller: side 0 to the first processor allowed, side 1 to the second if two are
 * asked for.
 */
void cpu_pin(int side, unsigned int threads);
/* To all that are allowed, as it was: what a program starts takes its own for that. */
void cpu_unpin(void);
/*
 * On one processor a stream has two gaits: the receiver runs at each message, or
 * when the sender has filled what there is to fill. The scheduler changes from one
 * to the other as it likes, at three times the instructions; this leaves the latter.
 */
void cpu_batch(void);
void raise_file_limit(unsigned int files);

/* ---- maps.c ---- */
/* How many regions of this process's memory are of what has that in its name. */
unsigned int regions_of(const char *name);

/* ---- sides.c: the two processes of a trial ---- */
typedef uint64_t (*side_fn)(struct end *e, size_t size, uint64_t n);
/*
 * Runs server in a new process and client in this one, each on its end of a
 * new link and pinned; returns what the client returned.
 */
uint64_t sides_run(const struct transport *t, size_t size, uint64_t n,
		   side_fn client, side_fn server);
/* The same with a link for each of so many threads; both functions run in each. */
uint64_t sides_threads(const struct transport *t, size_t size, uint64_t n,
		       unsigned int threads, side_fn client, side_fn server);
/* Waits until all threads of both sides are here. */
void sides_meet(struct end *e);
/* The same; returns when the first thread of this side went on: one clock for all. */
uint64_t sides_start(struct end *e);
/* n messages to the other side and back, and the other side's part. */
void sides_ask(struct end *e, size_t size, uint64_t n);
void sides_answer(struct end *e, size_t size, uint64_t n);
void side_limit(void);
/* Memory that processes forked later share; zeroes. */
void *shared_memory(size_t bytes);

/* ---- measure.c: series of trials ---- */
struct series {
	const struct transport *transport;
	size_t size;
	unsigned int connections;
	unsigned int threads;
	unsigned int messages;
	unsigned int param;	/* the experiment's own, for its trial */
	uint64_t n;		/* operations in a trial */
	uint64_t n_min;		/* a run has at least so many */
	uint64_t n_max;		/* 0: no bound */
	/* Runs n operations; returns nanoseconds (instructions under icount). */
	uint64_t (*trial)(struct series *s, uint64_t n);
	double value[RUNS_MAX];	/* of one operation, one a run */
	double extra[EXTRAS_MAX];	/* what else the last trial told */
	double (*kept)[EXTRAS_MAX];	/* the same of each run */
	bool fills;		/* told in its records: it fills its ring by how it sends */
	bool failed;		/* it has no more trials, and no figures */
	unsigned char *blob;	/* BLOB_BYTES that the last trial left, or NULL */
	void *private;		/* not with transports that have a process of their own */
};

/*
 * A trial, in a process of its own unless this is one already. Of one that fails
 * nothing is to be taken: s->failed is set then.
 */
uint64_t trial_run(struct series *s, uint64_t n);
void measure(struct series *all, unsigned int count);
/* To be said before measure(): what each run tells beside its time is wanted. */
void keep_extras(struct series *s);
/* The same with a count of operations that is given: n of each series. */
void measure_given(struct series *all, unsigned int count);
double median(const struct series *s);
/* For qsort(), of doubles or of what begins with one. */
int by_double(const void *a, const void *b);

/* ---- choose.c ---- */
/* Makes a series for each transport chosen that is able to do what is asked. */
unsigned int series_make(struct series *all, unsigned int able);

/* ---- guard.c: who fails, fails alone ---- */
struct words {
	bool taken;
	char why[240];	/* what the first die() said */
};

/* Runs all that is to be done with a transport; a record says if that failed. */
void guard(struct series *s, void (*run)(struct series *s));
/* The same, of trials that share what one process holds: under the library, if need be. */
void guard_program(struct series *s, void (*run)(struct series *s));
/* Whether a failure ends this process, and somebody else goes on. */
bool guard_inside(void);
void guard_enter(void);
/* Where guard_note() leaves its text from now on; returns where it did before. */
struct words *guard_use(struct words *shared);
void guard_note(const char *text);
void guard_failed(struct series *s, int status, const struct words *said);
unsigned int guard_failures(void);

/* ---- apart.c: a trial in a process of its own, perhaps under a preloaded library ---- */
const char *apart_library(void);
uint64_t apart_run(struct series *s, uint64_t n);
/* All of an experiment with one transport, its records too. */
void apart_whole(struct series *s, void (*run)(struct series *s));
/* Its trials belong under the library, and this program is not. */
bool apart_needed(const struct transport *t);
/* What main() does first: in such a program it does not return. */
void apart_serve(void);

/* ---- json.c ---- */
const char *unit_of_time(void);
void emit(const char *experiment, const struct series *s, const char *metric, const char *unit);

void emit_extra(const char *experiment, const struct series *s, unsigned int extra,
		const char *metric, const char *unit);
/* One figure, not of a series: runs values of it. */
void emit_value(const char *experiment, const struct series *like, const double *values,
		const char *metric, const char *unit);
/* The same in each run. */
void emit_count(const char *experiment, const struct series *like, const char *metric,
		double count, const char *unit);
/* Lines that say why there are no figures of a transport: here, ever, and this time. */
void emit_missing(const char *transport, const char *why);
void emit_impossible(const char *transport, const char *why);
void emit_failed(const struct series *s, const char *why);
void emit_head(const char *experiment, const struct series *s);

/* ---- exp_latency.c, exp_stream.c, exp_connect.c: their trials, for other experiments ---- */
uint64_t latency_trial(struct series *s, uint64_t n);
/* What a trial of stream tells beside its time. */
enum { STREAM_BY_RING, STREAM_LEASES };
uint64_t stream_trial(struct series *s, uint64_t n);
uint64_t connect_trial(struct series *s, uint64_t n);
/* From the time of a message to megabytes a second, unless instructions are counted. */
void to_bandwidth(struct series *s);
const char *unit_of_bandwidth(void);

/* ---- limits.c: copying and memory, as fast as one processor does it ---- */
extern const struct transport transport_memcpy;
uint64_t copy_trial(struct series *s, uint64_t n);

/* ---- exp_*.c: one a subcommand ---- */
void exp_latency(void);
void exp_stream(void);
void exp_connect(void);
void exp_capacity(void);
void exp_memory(void);
void exp_epoll(void);
void exp_native(void);
void exp_iobench(void);
void exp_sweep(void);
void exp_poller(void);
void exp_jipc(void);
void exp_sovia(void);
void exp_lmbench(void);
void exp_process(void);
void exp_scale(void);
void exp_detail(void);

#endif /* BENCH_H */
