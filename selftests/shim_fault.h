/* SPDX-License-Identifier: GPL-2.0 */
/* Allocations that fail in the calls of fused TCP: one call, each of its allocations. */
#ifndef SPEED_SELFTESTS_SHIM_FAULT_H
#define SPEED_SELFTESTS_SHIM_FAULT_H

#include <unistd.h>

#include "faults.h"
#include "shim_held.h"
#include "stress.h"
#include "tcp_pair.h"

#define MOST		2000	/* allocations in one call */
#define MANY		1000000	/* more than any call has */

/* The connection of the trial: -1 is an end that there is not, or not yet. */
static int listener = -1, fd[2] = { -1, -1 };
static struct address a;
static char buf[6000];

static void begin_pair(void)
{
	/* Its pages are to be allocated. */
	held_empty_pool();
	tcp_pair(fd);
	listener = -1;
}

static void begin_fused(void)
{
	begin_pair();
	MUST(tcp_exchange(fd));
}

static long do_send(void)
{
	return send(fd[0], buf, sizeof(buf), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void begin_recv(void)
{
	begin_fused();
	MUST(do_send() == sizeof(buf));
}

static bool sane(int err)
{
	return err == ENOMEM || err == ENOBUFS || err == ENFILE || err == EFAULT || err == EAGAIN;
}

/* An attempt to connect leaves the peer's bytes, if any, for it to read. */
static void drain(void)
{
	tcp_settled(fd[0]);
	tcp_settled(fd[1]);
	while (recv(fd[0], buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
	while (recv(fd[1], buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
}

/* Whatever failed, what is there works, or is made to work by the same call. */
static bool works(void)
{
	if (fd[0] < 0)
		return true;
	if (listener >= 0 && fd[1] < 0) {
		MUST(set_nonblock(listener, false) == 0);
		if (get_peername(fd[0], &(struct address){ 0 }) && connect_to(fd[0], &a))
			return false;
		fd[1] = tcp_accept(listener);
	}
	drain();
	return tcp_exchange(fd) && tcp_exchange(fd) && tcp_pump_both(fd, 100000);
}

static void finish(void)
{
	if (listener >= 0)
		close(listener);
	if (fd[0] >= 0)
		close(fd[0]);
	if (fd[1] >= 0)
		close(fd[1]);
	listener = -1;
	fd[0] = -1;
	fd[1] = -1;
}

/**
 * struct probe - one call
 * @begin: makes what the call needs
 * @call: the call; -1 and errno, or what it returned
 * @end: undoes what it did, or is done with what it needed; or NULL
 * @nothing: it may do without any allocation
 * @also: an errno that it may have, too, or 0
 * @last: only so many allocations are of interest, the last ones; or 0
 */
struct probe {
	const char *name;
	void (*begin)(void);
	long (*call)(void);
	void (*end)(void);
	bool nothing;
	int also;
	int last;
};

/* The first allocation that is to fail. */
static int first(const struct probe *p)
{
	int n;

	if (!p->last)
		return 1;
	p->begin();
	faults_nth(MANY);
	MUST(p->call() >= 0);
	n = MANY - faults_left();
	if (p->end)
		p->end();
	finish();
	return n > p->last ? n - p->last : 1;
}

static void try_all(const struct probe *p)
{
	int from = first(p), n, insane = 0, last = 0, broken = 0, at = 0;
	bool happened = true;

	for (n = from; happened && n < from + MOST; n++) {
		long ret;
		int err;

		p->begin();
		faults_nth(n);
		errno = 0;
		ret = p->call();
		err = errno;
		happened = faults_happened();
		if (ret < 0 && !sane(err) && err != p->also) {
			insane++;
			last = err;
		}
		if (p->end)
			p->end();
		if (!works()) {
			broken++;
			at = n;
		}
		finish();
	}
	WANT(insane, 0, 0, "%s: strange errors, the last %s", p->name, strerrorname_np(last));
	WANT(broken, 0, 0, "%s: connections that do not work, the last with %d", p->name, at);
	WANT_TRUE(n > from + 1 || p->nothing, "%s: something failed", p->name);
	WANT_TRUE(n < from + MOST, "%s: gets by in the end", p->name);
	trace_num(n - 2, "%s: allocations", p->name);
}

static void fault_each(const struct probe *probes, size_t n)
{
	struct shim_held held;
	size_t i;

	tcp_shim_net();
	faults_need();
	shim_held_begin(&held);
	for (i = 0; i < n; i++)
		try_all(&probes[i]);
	shim_held_end(&held);
}

#endif
