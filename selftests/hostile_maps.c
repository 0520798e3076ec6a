// SPDX-License-Identifier: GPL-2.0
/*
 * What a hostile process may do with mappings: write after revocation and after
 * close, and cut and pin what it got. Nothing of it may reach a connection, its own
 * or another's. Which mappings it gets is in hostile_poke.c; it moves them in
 * hostile_move.c.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "scribble.h"

/* Newer than some C libraries. */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

/* Stores without pause by another thread, which begin once the roles are gone. */
static void after_revocation(const struct transport *t)
{
	long lies = stat_number("bad_peer");
	struct scribbler s = { 0 };
	struct raw tx, rx;
	struct task k;
	struct end e[2];
	char c;

	raw_pair(t, e, RING / 2, &tx, &rx);
	WANT(send(e[0].fd, "a", 1, 0), 1, 0, "send takes TX back");
	WANT(end_recv(&e[1], &c, 1, 0), 1, 0, "recv");
	WANT(end_send(&e[1], "b", 1, 0), 1, 0, "send");
	WANT(recv(e[0].fd, &c, 1, 0), 1, 0, "recv takes RX back");
	s.tx = &tx;
	s.rx = &rx;
	task_start(&k, scribble, &s);
	exact(e, 0, "beside the stores");
	s.stop = true;
	task_join(&k);
	WANT(stat_number("bad_peer") - lies, 0, 0, "no lie was noticed");
	pair_close(e);
}

/* The store goes on while the role is taken back, again and again. */
static long store_honestly(void *arg)
{
	struct scribbler *s = arg;

	/* Always the index that the lease began with: true whenever it counts. */
	while (!s->stop)
		raw_publish(s->tx, s->tx->l.own);
	return 0;
}

static void at_revocation(const struct transport *t)
{
	struct scribbler s = { 0 };
	int rounds = soak_times(60, 30), i, n;
	long wrong = 0;
	struct raw tx;
	struct task k;
	struct end e[2];
	char c[8];

	raw_pair(t, e, RING / 2, &tx, NULL);
	for (i = 0; i < rounds; i++) {
		s = (struct scribbler){ .tx = &tx };
		task_start(&k, store_honestly, &s);
		/* The store of the old index must not bring these bytes back or undo them. */
		wrong += send(e[0].fd, "12345678", 8, MSG_NOSIGNAL) != 8;
		wrong += end_recv(&e[1], c, 8, MSG_WAITALL) != 8 || memcmp(c, "12345678", 8);
		s.stop = true;
		task_join(&k);
		/* Worth its price, or it would soon not be granted again. */
		set_int(e[0].fd, SOL_SPEED, SPEED_UNLEASE, SPEED_ROLE_TX);
		for (n = 0; lease_role(e[0].fd, SPEED_ROLE_TX, &tx.l) && n < 100000; n++) {
			wrong += errno != EAGAIN;
			wrong += send(e[0].fd, "x", 1, 0) != 1;
			wrong += end_recv(&e[1], c, 1, 0) != 1 || *c != 'x';
			if (n > 300)
				goto out;	/* it has settled on system calls */
		}
	}
out:
	WANT(wrong, 0, 0, "wrong");
	WANT_TRUE(i >= 4, "granted again at least that often");
	pair_close(e);
}

/* The pages of a closed connection go to another; the old mappings must not follow. */
static void over_close(const struct transport *t)
{
	struct transport u = by_hand_0(t);
	struct scribbler s = { 0 };
	struct raw tx, rx;
	struct end e[2], next[2];
	struct task k;
	char c;

	raw_pair(t, e, RING / 2, &tx, &rx);
	if (t->type == SOCK_STREAM) {
		tx.r.data[0] = 'p';
		raw_publish(&tx, 1);
		end_close(&e[0]);
		WANT(end_recv(&e[1], &c, 1, 0), 1, 0, "what was published before the close");
		WANT_TRUE(c == 'p', "its byte");
	} else {
		end_close(&e[0]);
	}
	WANT(end_recv(&e[1], &c, 1, 0), 0, 0, "the end");
	s.tx = &tx;
	s.rx = &rx;
	task_start(&k, scribble, &s);
	WANT(end_recv(&e[1], &c, 1, 0), 0, 0, "still the end");
	WANT_ERR(end_send(&e[1], "x", 1, MSG_NOSIGNAL), EPIPE, "send");
	end_close(&e[1]);
	tp_pair_sized(&u, next, RING / 2);
	exact(next, 0, "the next connection");
	s.stop = true;
	task_join(&k);
	pair_close(next);
}

/* The reader, or writer, sleeps when the lie comes. */
static void sleepers(const struct transport *t)
{
	struct raw tx, rx;
	struct end e[2];
	struct task k;
	char buf[64];
	struct call get = { &e[1], buf, sizeof(buf), 0 };

	raw_pair(t, e, RING / 2, &tx, NULL);
	task_start(&k, call_recv, &get);
	WANT_TRUE(task_sleeps(&k), "a reader sleeps");
	raw_publish(&tx, tx.l.size + 8);
	WANT_OK(ioctl(e[0].fd, SPEED_IOC_WAKE, SPEED_WAKE_READER), "the lie, and a wake-up");
	WANT_ERR(task_join(&k), ECONNRESET, "recv");
	WANT(end_recv(&e[1], buf, 1, 0), 0, 0, "recv after");
	pair_close(e);

	raw_pair(t, e, RING / 2, NULL, &rx);
	end_fill(&e[1], 64);
	task_start(&k, call_send, &get);
	WANT_TRUE(task_sleeps(&k), "a writer sleeps");
	raw_publish(&rx, 1ull << 40);
	WANT_OK(ioctl(e[0].fd, SPEED_IOC_WAKE, SPEED_WAKE_WRITER), "the lie, and a wake-up");
	trace_take_sigpipes();
	WANT_TRUE(task_join(&k) < 0 && (errno == ECONNRESET || errno == EPIPE), "send");
	pair_close(e);
}

/* Every call that takes an address, on what is mapped; its answer is its own affair. */
static void abuse(const struct transport *t)
{
	static const int advice[] = {
		MADV_DONTNEED, MADV_FREE, MADV_REMOVE, MADV_HUGEPAGE, MADV_MERGEABLE,
		MADV_WILLNEED, MADV_DODUMP, MADV_DOFORK, MADV_COLD, MADV_PAGEOUT,
		MADV_POPULATE_READ, MADV_POPULATE_WRITE, MADV_COLLAPSE,
	};
	int mem = open("/proc/self/mem", O_RDWR);
	struct raw tx, rx;
	struct end e[2];
	char buf[16] = "hostile";
	struct iovec mine = { buf, 8 }, there;
	size_t i;

	MUST(mem >= 0);
	raw_pair(t, e, RING / 2, &tx, &rx);
	for (i = 0; i < sizeof(advice) / sizeof(advice[0]); i++) {
		madvise(rx.r.data, 2 * rx.l.size, advice[i]);
		madvise(tx.r.peer, 2 * PAGE, advice[i]);
	}
	WANT_TRUE(pwrite(mem, "x", 1, (off_t)rx.r.data) < 0, "write what is read-only, forced");
	WANT_TRUE(pwrite(mem, "x", 1, (off_t)tx.r.peer) < 0, "write the kernel's page, forced");
	there = (struct iovec){ tx.r.peer, 8 };
	WANT_TRUE(process_vm_writev(getpid(), &mine, 1, &there, 1, 0) < 0,
		  "write the kernel's page from elsewhere");
	mlock(tx.r.data, 2 * tx.l.size);
	munlock(tx.r.data, 2 * tx.l.size);
	/* The socket's own pages as the buffer of its own calls. */
	WANT_TRUE(send(e[0].fd, rx.r.data, 64, MSG_NOSIGNAL) == 64 || errno == EFAULT,
		  "send from the ring itself");
	set_timeout(e[0].fd, SO_RCVTIMEO, 10);
	end_send(&e[1], "self", 4, MSG_NOSIGNAL);
	recv(e[0].fd, tx.r.data, 64, 0);
	recv(e[0].fd, tx.r.peer, 64, MSG_DONTWAIT);
	WANT_ERR(munmap(tx.r.data + PAGE, PAGE), EINVAL, "cut a page out");
	end_discard(&e[1]);
	set_timeout(e[0].fd, SO_RCVTIMEO, 0);
	while (recv(e[0].fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
	exact(e, 0, "after all that");
	close(mem);
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "after_revocation", after_revocation, CASE_BOTH | CASE_SPEED | CASE_FUSED | CASE_PATHS },
	{ "at_revocation", at_revocation, CASE_STREAM | CASE_SPEED | CASE_FUSED | CASE_PATHS },
	{ "over_close", over_close, CASE_BOTH | CASE_SPEED | CASE_PATHS },
	{ "sleepers", sleepers, CASE_BOTH | CASE_SPEED | CASE_PATHS },
	{ "abuse", abuse, CASE_STREAM | CASE_SPEED | CASE_FUSED },
};

RUN_CASES(cases)
