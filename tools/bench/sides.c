// SPDX-License-Identifier: GPL-2.0
/*
 * The two processes of a trial: a server that is forked for it and a client,
 * which is the program itself and holds the clock.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "transport.h"

/* A trial that takes longer hangs; SIGALRM ends the program. */
#define TRIAL_SECONDS	120

void side_limit(void)
{
	alarm(TRIAL_SECONDS);
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

static void end_enter(struct end *e, int side)
{
	cpu_pin(side);
	if (opt.batch)
		cpu_batch();
	side_limit();
	e->buffer = aligned_alloc(4096, BUFFER_MAX);
	if (!e->buffer)
		die("no memory");
	fill(e->buffer, BUFFER_MAX, 1);
	if (e->transport->enter)
		e->transport->enter(e);
}

static void end_leave(struct end *e)
{
	if (e->transport->leave)
		e->transport->leave(e);
	end_close(e);
	free(e->buffer);
}

uint64_t sides_run(const struct transport *t, size_t size, uint64_t n,
		   side_fn client, side_fn server)
{
	struct link l = { .end = {
		{ .transport = t, .in = -1, .out = -1, .side = 0 },
		{ .transport = t, .in = -1, .out = -1, .side = 1 },
	} };
	uint64_t result;
	int status;
	pid_t pid;

	t->open(t, &l);
	pid = fork();
	if (pid < 0)
		die("fork: %m");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		end_close(&l.end[0]);
		end_enter(&l.end[1], 1);
		server(&l.end[1], size, n);
		end_leave(&l.end[1]);
		_exit(0);
	}
	end_close(&l.end[1]);
	end_enter(&l.end[0], 0);
	result = client(&l.end[0], size, n);
	end_leave(&l.end[0]);
	if (waitpid(pid, &status, 0) != pid || status)
		die("%s: the server of %s failed (status 0x%x)", opt.experiment, t->name, status);
	alarm(0);
	return result;
}
