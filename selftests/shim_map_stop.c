// SPDX-License-Identifier: GPL-2.0
/*
 * Who maps a fused connection and minds no flag: whatever moves the connection to
 * TCP ends the lease soon, and what is stored afterwards reaches nobody. An urgent
 * byte is no reason for the other direction.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "movers.h"
#include "stress.h"
#include "tcp_pair.h"

#define SOON_MS		200
#define TRIES		5	/* the machine may be busy */
#define LONG_MS		20000

static bool in_force(const struct raw *w)
{
	const struct speed_kern *kern = (void *)w->r.peer;

	return __atomic_load_n(&kern->epoch[w->l.role], __ATOMIC_ACQUIRE) == w->l.epoch;
}

/* How long the lease is in force yet, in milliseconds. */
static long lasts(const struct raw *w)
{
	long begin = now_ms();

	while (in_force(w) && now_ms() < begin + LONG_MS)
		sleep_ms(5);
	return now_ms() - begin;
}

static void store(struct raw *w, uint64_t index, const char *text)
{
	size_t len = strlen(text);

	memcpy(w->r.data + (index & (w->l.size - 1)), text, len);
	raw_publish(w, index + len);
}

/* Where the lease is in force, what is stored reaches the other end. */
static void reaches(const struct mover *m, struct raw *w, int to)
{
	char in[16] = "";

	store(w, w->l.own, "counts");
	WANT(recv(to, in, sizeof(in), MSG_DONTWAIT), 6, 0, "%s: stored before", m->name);
	WANT_TRUE(!memcmp(in, "counts", 6), "%s: the bytes", m->name);
}

/* The epoch tells at once, and until the mapping is gone what is stored still counts. */
static void ended(const struct mover *m, const struct raw *w, int fd)
{
	struct speed_settle settle = { .role = w->l.role, .epoch = w->l.epoch };

	WANT_OK(get_exact(fd, SPEED_SETTLE, &settle, sizeof(settle)), "%s: settle", m->name);
	WANT(settle.index, w->l.own + 6, 0, "%s: what counted", m->name);
}

static void reaches_nobody(const struct mover *m, struct raw *w, const int fd[2])
{
	char in[16] = "";
	int i;

	ended(m, w, fd[0]);
	for (i = 1; i <= 3; i++) {
		store(w, w->l.own + 6 + 8 * (i - 1), "smuggled");
		sleep_ms(20);
		WANT_ERR(recv(fd[1], in, sizeof(in), MSG_DONTWAIT), EAGAIN, "%s: smuggled",
			 m->name);
	}
	if (m->refused)
		m->on(fd);
	WANT(send(fd[0], "plain", 5, MSG_NOSIGNAL), 5, 0, "%s: sent", m->name);
	WANT(recv(fd[1], in, 5, MSG_WAITALL), 5, 0, "%s: received", m->name);
	WANT_TRUE(!memcmp(in, "plain", 5), "%s: that alone", m->name);
}

/* How long the longer of both leases lasted. */
static long ends_once(const struct transport *t, const struct mover *m)
{
	struct raw tx, rx;
	int fd[2];
	long ms;

	raw_fds(t, fd, &tx);
	reaches(m, &tx, fd[1]);
	raw_open(&rx, fd[1], SPEED_ROLE_RX);
	WANT_TRUE(m->off(fd), "%s: it is there", m->name);
	ms = lasts(&tx);
	ms += lasts(&rx);
	reaches_nobody(m, &tx, fd);
	if (!m->refused)
		m->on(fd);
	raw_unmap(&tx);
	raw_unmap(&rx);
	tcp_close(fd);
	return ms;
}

static void ends_soon(const struct transport *t)
{
	long ms, best;
	size_t i;
	int n;

	for (i = 0; i < movers_here(); i++) {
		best = LONG_MS;
		for (n = 0; n < TRIES && best > SOON_MS; n++) {
			ms = ends_once(t, &movers[i]);
			best = ms < best ? ms : best;
		}
		WANT_TRUE(best <= SOON_MS, "%s: both leases ended within %d ms, not %ld",
			  movers[i].name, SOON_MS, best);
	}
}

static void oob(const struct transport *t)
{
	const struct speed_kern *kern;
	char in[16] = "";
	struct raw w;
	int fd[2], i;

	raw_fds(t, fd, &w);
	kern = (void *)w.r.peer;
	WANT(send(fd[1], "o", 1, MSG_OOB), 1, 0, "an urgent byte the other way");
	for (i = 0; i < 10; i++) {
		WANT_TRUE(in_force(&w), "the lease is in force");
		WANT(kern->flags & (SPEED_OVERFLOW | SPEED_CLOSED), 0, 0, "flags");
		sleep_ms(SOON_MS / 10);
	}
	store(&w, w.l.own, "counts");
	WANT(recv(fd[1], in, sizeof(in), 0), 6, 0, "what is stored");
	WANT_TRUE(tcp_flags(fd[0]) & SPEED_FUSION_TX, "fused");
	WANT(recv(fd[0], in, 1, MSG_OOB), 1, 0, "the urgent byte");
	WANT_TRUE(in[0] == 'o', "it is that one");
	raw_unmap(&w);
	tcp_close(fd);
}

#define FUSED	(CASE_STREAM | CASE_FUSED_ONLY)

static const struct test_case cases[] = {
	{ "ends_soon", ends_soon, FUSED | CASE_LONG },
	{ "oob", oob, FUSED },
};

RUN_CASES(cases)
