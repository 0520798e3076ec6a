// SPDX-License-Identifier: GPL-2.0
/*
 * The two processes of a trial: a server that is forked for it and a client,
 * which is the program itself and holds the clock. Either has a thread for each
 * link, if more than one is asked for.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "transport.h"

/* A trial that takes longer hangs; SIGALRM ends the program. */
#define TRIAL_SECONDS	300

struct worker {
	pthread_t thread;
	struct end *end;
	side_fn run;
	pthread_barrier_t *entered;	/* by all threads of this side */
	size_t size;
	uint64_t n;
	uint64_t result;
};

void side_limit(void)
{
	alarm(TRIAL_SECONDS);
}

void *shared_memory(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("no memory: %m");
	return at;
}

void sides_meet(struct end *e)
{
	pthread_barrier_wait(e->meet);
}

static uint64_t started;	/* by the first of this side's threads; 0: by none yet */

uint64_t sides_start(struct end *e)
{
	uint64_t now, first = 0;

	sides_meet(e);
	now = now_ns();
	if (__atomic_compare_exchange_n(&started, &first, now, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return now;
	return first;
}

void sides_ask(struct end *e, size_t size, uint64_t n)
{
	for (; n; n--) {
		e->transport->put(e, e->buffer, size);
		e->transport->get(e, e->buffer, size);
	}
}

void sides_answer(struct end *e, size_t size, uint64_t n)
{
	for (; n; n--) {
		e->transport->get(e, e->buffer, size);
		e->transport->put(e, e->buffer, size);
	}
}

static void end_close(struct end *e)
{
	if (e->in >= 0)
		close(e->in);
	if (e->out >= 0 && e->out != e->in)
		close(e->out);
	e->in = -1;
	e->out = -1;
}

static void end_enter(struct end *e, size_t size)
{
	size_t bytes = size > BUFFER_MAX ? size : BUFFER_MAX;

	e->buffer = aligned_alloc(4096, (bytes + 4095) & ~4095ul);
	if (!e->buffer)
		die("no memory");
	fill(e->buffer, bytes, 1);
	if (e->transport->enter)
		e->transport->enter(e);
}

/*
 * Nobody closes before all have left: the end of a peer that is in the middle of
 * its last call would take that one's lease back.
 */
static void end_leave(struct end *e)
{
	if (e->transport->leave)
		e->transport->leave(e);
	sides_meet(e);
	end_close(e);
	free(e->buffer);
}

static void *work(void *argument)
{
	struct worker *w = argument;

	end_enter(w->end, w->size);
	pthread_barrier_wait(w->entered);
	w->result = w->run(w->end, w->size, w->n);
	end_leave(w->end);
	return NULL;
}

static void enter_process(int side, unsigned int threads)
{
	cpu_pin(side, threads);
	if (opt.batch)
		cpu_batch();
	side_limit();
}

/* One side of all links; the longest time of its threads. */
static uint64_t side(struct link *links, unsigned int threads, int which, side_fn run,
		     size_t size, uint64_t n, pthread_barrier_t *meet)
{
	struct worker w[THREADS_MAX];
	pthread_barrier_t entered;
	uint64_t longest = 0;
	unsigned int i;

	pthread_barrier_init(&entered, NULL, threads);
	for (i = 0; i < threads; i++) {
		end_close(&links[i].end[!which]);
		w[i] = (struct worker){
			.end = &links[i].end[which], .run = run, .entered = &entered,
			.size = size, .n = n,
		};
		w[i].end->meet = meet;
		w[i].end->thread = i;
		w[i].end->size = size;
	}
	enter_process(which, threads);
	if (threads == 1) {
		work(&w[0]);
		return w[0].result;
	}
	for (i = 0; i < threads; i++)
		if (pthread_create(&w[i].thread, NULL, work, &w[i]))
			die("no thread: %m");
	for (i = 0; i < threads; i++) {
		pthread_join(w[i].thread, NULL);
		if (w[i].result > longest)
			longest = w[i].result;
	}
	return longest;
}

/* A barrier for all threads of both sides. */
static pthread_barrier_t *both_sides(unsigned int threads)
{
	pthread_barrier_t *barrier = shared_memory(sizeof(*barrier));
	pthread_barrierattr_t shared;

	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(barrier, &shared, 2 * threads);
	pthread_barrierattr_destroy(&shared);
	return barrier;
}

static void links_open(const struct transport *t, struct link *links, unsigned int threads)
{
	const struct end none = { .transport = t, .in = -1, .out = -1 };
	unsigned int i;

	if (threads > THREADS_MAX)
		die("at most %d threads", THREADS_MAX);
	for (i = 0; i < threads; i++) {
		links[i].end[0] = none;
		links[i].end[1] = none;
		links[i].end[1].side = 1;
		t->open(t, &links[i]);
	}
}

uint64_t sides_threads(const struct transport *t, size_t size, uint64_t n,
		       unsigned int threads, side_fn client, side_fn server)
{
	pthread_barrier_t *meet = both_sides(threads);
	struct link links[THREADS_MAX];
	uint64_t result;
	int status;
	pid_t pid;

	started = 0;
	links_open(t, links, threads);
	pid = fork();
	if (pid < 0)
		die("fork: %m");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		side(links, threads, 1, server, size, n, meet);
		_exit(0);
	}
	result = side(links, threads, 0, client, size, n, meet);
	if (waitpid(pid, &status, 0) != pid || status)
		die("%s: the server of %s failed (status 0x%x)", opt.experiment, t->name, status);
	munmap(meet, sizeof(*meet));
	alarm(0);
	return result;
}

uint64_t sides_run(const struct transport *t, size_t size, uint64_t n,
		   side_fn client, side_fn server)
{
	return sides_threads(t, size, n, 1, client, server);
}
