// SPDX-License-Identifier: GPL-2.0
/*
 * Every offset of a socket mapped with every length and protection, with a lease and
 * without one: what is given, and with which errno the rest is refused. Nothing of it
 * may reach the connection, which is used afterwards, or all the while.
 */
#define _GNU_SOURCE
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stress.h"

#define RING	8192
#define PIECE	500	/* bytes that go there and back while offsets are poked */
#define PIECES	50	/* at least so often */

/**
 * struct poke - a socket and what is due of it
 * @tx: its roles, leased and mapped once
 * @leased: whether the leases are still in force
 * @noexec: this kernel maps no socket to be executed, whatever else is asked for
 * @theirs: below this offset TCP answers, and it is not for us to say
 * @moving: bytes go by the regions meanwhile, so that nothing but them is written
 */
struct poke {
	int fd;
	struct raw tx, rx;
	bool leased, noexec;
	off_t theirs;
	atomic_bool moving;
};

/* A socket that cannot be mapped at all: which refusal comes first? */
static bool sockets_are_noexec(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	void *at = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	int err = errno;

	MUST(fd >= 0 && at == MAP_FAILED && (err == ENODEV || err == EPERM));
	close(fd);
	return err == EPERM;
}

/* Of a region at its offset. */
static int due_region(size_t len, size_t whole, int prot, int may)
{
	if (len != whole)
		return EINVAL;
	return prot & ~may ? EPERM : 0;
}

/* What mmap() has to say: 0, or an errno. */
static int due(const struct poke *k, const struct raw *w, off_t at, size_t len, int prot)
{
	int data = w->l.role == SPEED_ROLE_TX ? RW : PROT_READ;

	if (k->noexec && (prot & PROT_EXEC))
		return EPERM;
	if (at < (off_t)k->tx.l.off_own)
		return EINVAL;
	if (!k->leased)
		return EPERM;
	if (at == (off_t)w->l.off_own)
		return due_region(len, PAGE, prot, RW);
	if (at == (off_t)w->l.off_peer)
		return due_region(len, 2 * PAGE, prot, PROT_READ);
	if (at == (off_t)w->l.off_data)
		return due_region(len, 2 * w->l.size, prot, data);
	return EINVAL;
}

/* Reads and, where it says so, writes each page. */
static int touch_all(char *at, size_t len, int prot)
{
	int faults = 0;
	size_t i;

	for (i = 0; i < len; i += PAGE) {
		if (prot & PROT_READ)
			faults += touch(at + i, false) != 0;
		if (prot & PROT_WRITE)
			*(volatile char *)(at + i) = *(volatile char *)(at + i);
	}
	return faults;
}

struct tally {
	long wrong, faults, mapped;
	char why[128];
};

static void one(const struct poke *k, const struct raw *w, off_t at, size_t len, int prot,
		struct tally *y)
{
	char *m = mmap(NULL, len, prot, MAP_SHARED, k->fd, at);
	int err = m == MAP_FAILED ? errno : 0, want = due(k, w, at, len, prot);
	bool ours = at >= k->theirs;

	if (ours && err != want && !y->wrong++)
		snprintf(y->why, sizeof(y->why), "%s and not %s: %zu bytes, protection %d, %+ld",
			 strerrorname_np(err), strerrorname_np(want), len, prot,
			 (long)(at - (off_t)w->l.off_own));
	if (err)
		return;
	y->mapped += ours;
	y->faults += ours && touch_all(m, len, k->moving ? prot & ~PROT_WRITE : prot);
	munmap(m, len);
}

/* About each region, and where a fourth one would be. */
static void poke_role(const struct poke *k, const struct raw *w)
{
	static const int prots[] = {
		PROT_NONE, PROT_READ, PROT_WRITE, RW, PROT_READ | PROT_EXEC, RW | PROT_EXEC,
	};
	const size_t lens[] = { PAGE, 2 * PAGE, 3 * PAGE, w->l.size, 2 * w->l.size,
				2 * w->l.size + PAGE };
	const off_t starts[] = { w->l.off_own, w->l.off_peer, w->l.off_data,
				 w->l.off_data + (w->l.off_data - w->l.off_peer) };
	struct tally y = { 0 };
	size_t s, n, p;
	int page;

	for (s = 0; s < 4; s++)
	for (page = -2; page < (int)(2 * w->l.size / PAGE) + 3; page++)
	for (n = 0; n < sizeof(lens) / sizeof(lens[0]); n++)
	for (p = 0; p < sizeof(prots) / sizeof(prots[0]); p++)
		one(k, w, starts[s] + page * (off_t)PAGE, lens[n], prots[p], &y);
	WANT(y.wrong, 0, 0, "role %d: wrong answers, the first %s", w->l.role, y.why);
	WANT(y.faults, 0, 0, "role %d: faults in what was given", w->l.role);
	WANT_TRUE(!k->leased == !y.mapped, "role %d: something is given with a lease", w->l.role);
}

/* Known bytes both ways, by plain call on the side that was poked. */
static void exact(struct end e[2], const char *what)
{
	unsigned char out[500], in[500];
	size_t at, wrong = 0;

	for (at = 0; at < 20 * sizeof(out); at += sizeof(out)) {
		stream_fill(out, sizeof(out), at);
		wrong += send(e[0].fd, out, sizeof(out), MSG_NOSIGNAL) != sizeof(out);
		wrong += recv(e[1].fd, in, sizeof(in), MSG_WAITALL) != sizeof(in);
		wrong += memcmp(out, in, sizeof(in)) != 0;
		wrong += send(e[1].fd, out, sizeof(out), MSG_NOSIGNAL) != sizeof(out);
		wrong += recv(e[0].fd, in, sizeof(in), MSG_WAITALL) != sizeof(in);
		wrong += memcmp(out, in, sizeof(in)) != 0;
	}
	WANT(wrong, 0, 0, "%s: wrong pieces", what);
}

static void poke(const struct transport *t)
{
	struct poke k = { .leased = true, .noexec = sockets_are_noexec() };
	struct end e[2];

	raw_pair(t, e, RING / 2, &k.tx, &k.rx);
	k.fd = e[0].fd;
	/* TCP maps what TCP_ZEROCOPY_RECEIVE fills. */
	k.theirs = t->fused ? k.tx.l.off_own : 0;
	poke_role(&k, &k.tx);
	poke_role(&k, &k.rx);
	exact(e, "after all that");
	k.leased = false;
	poke_role(&k, &k.tx);
	poke_role(&k, &k.rx);
	exact(e, "after the same without a lease");
	pair_close(e);
}

/* All that came goes back, by the regions. */
static long echo_by_hand(void *arg)
{
	struct poke *k = arg;
	uint64_t from = k->rx.l.own, to = k->tx.l.own, mask = k->rx.l.size - 1, head;

	while (k->moving) {
		head = regions_other(&k->rx.r);
		if (head == from) {
			usleep(50);
			continue;
		}
		while (from != head)
			k->tx.r.data[to++ & mask] = k->rx.r.data[from++ & mask];
		raw_publish(&k->rx, from);
		raw_publish(&k->tx, to);
		if (regions_flags(&k->tx.r) & SPEED_NEED_DATA)
			MUST(ioctl(k->fd, SPEED_IOC_WAKE, SPEED_WAKE_READER) == 0);
		if (regions_flags(&k->rx.r) & SPEED_NEED_SPACE)
			MUST(ioctl(k->fd, SPEED_IOC_WAKE, SPEED_WAKE_WRITER) == 0);
	}
	return 0;
}

struct traffic {
	struct end *e;
	atomic_bool stop;
	atomic_long rounds;
};

/* Known bytes there and back, by the other side's path. Return: pieces that were wrong. */
static long there_and_back(void *arg)
{
	struct traffic *f = arg;
	unsigned char out[PIECE], in[PIECE];
	long wrong = 0;

	for (; !f->stop; f->rounds++) {
		stream_fill(out, PIECE, f->rounds);
		if (end_send_all(f->e, out, PIECE) != PIECE ||
		    end_recv_all(f->e, in, PIECE) != PIECE)
			return -1;
		wrong += memcmp(out, in, PIECE) != 0;
	}
	return wrong;
}

/* The same while the other side sends and receives. */
static void meanwhile(const struct transport *t)
{
	struct poke k = { .leased = true, .noexec = sockets_are_noexec(), .moving = true };
	struct traffic f = { 0 };
	struct task echo, other;
	struct end e[2];

	raw_pair(t, e, RING / 2, &k.tx, &k.rx);
	MUST(k.tx.l.size == k.rx.l.size);
	k.fd = e[0].fd;
	k.theirs = t->fused ? k.tx.l.off_own : 0;
	f.e = &e[1];
	task_start(&echo, echo_by_hand, &k);
	task_start(&other, there_and_back, &f);
	do {
		poke_role(&k, &k.tx);
		poke_role(&k, &k.rx);
	} while (f.rounds < PIECES && !task_ends(&other, 0));
	f.stop = true;
	WANT(task_join(&other), 0, 0, "wrong pieces");
	k.moving = false;
	MUST(task_join(&echo) == 0);
	WANT_TRUE(f.rounds >= PIECES, "they went there and back meanwhile");
	raw_unmap(&k.tx);
	raw_unmap(&k.rx);
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "poke", poke, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "meanwhile", meanwhile, CASE_STREAM | CASE_SPEED | CASE_FUSED | CASE_PATHS },
};

RUN_CASES(cases)
