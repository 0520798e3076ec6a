// SPDX-License-Identifier: GPL-2.0
/*
 * iobench: --messages (100,000) of 70, 512 and 1000 bytes go to the server and come
 * back, one under way; and so many of 7000 bytes in all over five connections at once,
 * with a thread at each end. For client and server: elapsed time, user and system time, time
 * waited, context switches, and the share of a processor. memcpy: the copies alone
 * that any of them must make, two each way.
 *
 * Both sides begin at once, when everything is connected and mapped and some messages
 * have gone there and back: how one side waits for the other to get ready is not told.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"
#include "transport.h"

/* Each end has then made more transfers than the library waits for before it maps. */
#define WARM_UP		100

enum { ELAPSED, USER, SYSTEM, WAIT, SWITCHES, FORCED, SHARE, FIGURES };

static const char *const names[FIGURES] = {
	"elapsed", "user", "system", "wait", "switches", "forced_switches", "cpu_share",
};

struct usage {
	uint64_t at;	/* 0: nobody has begun */
	double user;
	double system;
	double switches;
	double forced;
};

/* Of both sides; from its first thread's begin to the end of the last one to tell. */
static double (*told)[FIGURES];

static struct usage begun;	/* of this side */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* of begun and told[] */

static double ns_of(struct timeval t)
{
	return 1e9 * (double)t.tv_sec + 1e3 * (double)t.tv_usec;
}

static struct usage usage_now(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (struct usage){
		.at = now_ns(), .user = ns_of(r.ru_utime), .system = ns_of(r.ru_stime),
		.switches = (double)r.ru_nvcsw, .forced = (double)r.ru_nivcsw,
	};
}

static void begin(void)
{
	pthread_mutex_lock(&lock);
	if (!begun.at)
		begun = usage_now();
	pthread_mutex_unlock(&lock);
}

static void tell_usage(double *f, const struct usage *to)
{
	double busy;

	f[ELAPSED] = (double)(to->at - begun.at);
	f[USER] = to->user - begun.user;
	f[SYSTEM] = to->system - begun.system;
	f[SWITCHES] = to->switches - begun.switches;
	f[FORCED] = to->forced - begun.forced;
	busy = f[USER] + f[SYSTEM];
	f[WAIT] = f[ELAPSED] > busy ? f[ELAPSED] - busy : 0;
	f[SHARE] = 100 * busy / f[ELAPSED];
}

/* Who tells last tells of the longest time. */
static uint64_t tell(int side)
{
	struct usage to;

	pthread_mutex_lock(&lock);
	to = usage_now();
	tell_usage(told[side], &to);
	pthread_mutex_unlock(&lock);
	return to.at - begun.at;
}

static uint64_t counted(struct end *e, size_t size, uint64_t n, int side,
			void (*exchange)(struct end *e, size_t size, uint64_t n))
{
	exchange(e, size, WARM_UP);
	sides_meet(e);
	begin();
	exchange(e, size, n);
	return tell(side);
}

static uint64_t client(struct end *e, size_t size, uint64_t n)
{
	return counted(e, size, n, 0, sides_ask);
}

static uint64_t server(struct end *e, size_t size, uint64_t n)
{
	return counted(e, size, n, 1, sides_answer);
}

static uint64_t trial(struct series *s, uint64_t n)
{
	uint64_t ns;

	if (!told)
		told = shared_memory(2 * sizeof(*told));
	begun.at = 0;
	ns = sides_threads(s->transport, s->size, n, s->threads, client, server);
	memcpy(s->extra, told, 2 * sizeof(*told));
	return ns;
}

/* n messages each way, each copied in and out. */
static uint64_t floor_trial(struct series *s, uint64_t n)
{
	uint64_t ns = copy_trial(s, 4 * n * s->threads);

	memset(s->extra, 0, sizeof(s->extra));
	s->extra[ELAPSED] = (double)ns;
	return ns;
}

static const char *unit_of(int figure)
{
	if (figure == SWITCHES || figure == FORCED)
		return "switches";
	return figure == SHARE ? "%" : unit_of_time();
}

static void emit_all(const struct series *s)
{
	char metric[64];
	int side, i;

	for (side = 0; side < 2; side++)
		for (i = 0; i < FIGURES; i++) {
			snprintf(metric, sizeof(metric), "%s_%s", side ? "server" : "client",
				 names[i]);
			emit_extra("iobench", s, (unsigned int)(side * FIGURES + i), metric,
				   unit_of(i));
		}
}

static void run(size_t size, unsigned int threads)
{
	struct series all[SERIES_MAX];
	unsigned int count, i;

	opt.size = size;
	count = series_make(all, ABLE_LINK);
	if (count < SERIES_MAX) {
		memset(&all[count], 0, sizeof(all[count]));
		all[count].transport = &transport_memcpy;
		all[count++].size = size;
	}
	for (i = 0; i < count; i++) {
		all[i].messages = opt.messages ? opt.messages : 100000;
		all[i].threads = threads;
		all[i].n = all[i].messages / threads ?: 1;
		all[i].trial = all[i].transport == &transport_memcpy ? floor_trial : trial;
	}
	measure_given(all, count);
	for (i = 0; i + 1 < count; i++)
		emit_all(&all[i]);
	emit_extra("iobench", &all[count - 1], ELAPSED, "client_elapsed", unit_of_time());
}

void exp_iobench(void)
{
	if (opt.size) {
		run(opt.size, opt.threads ? opt.threads : 1);
		return;
	}
	run(70, 1);
	run(512, 1);
	run(1000, 1);
	run(7000, 5);
}
