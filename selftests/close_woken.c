// SPDX-License-Identifier: GPL-2.0
/*
 * One end closes with bytes unread while the other looks at any time: a sender that
 * sleeps for space and is woken all the time, by a thread that maps and unmaps, and a
 * reader that does not wait. What was sent comes before the error, the error before the
 * end, and nothing comes between them.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "stress.h"
#include "task.h"

#define ROUNDS		100
#define MESSAGE		4096

struct waker {
	int fd;
	bool stop;
	long wakes;
};

/* Whoever unmaps a role's last region wakes all. */
static long wake(void *arg)
{
	struct waker *w = arg;
	void *at = MAP_FAILED;
	struct speed_lease l;

	while (!__atomic_load_n(&w->stop, __ATOMIC_ACQUIRE)) {
		/* Not now where it was just taken back, and not after the end. */
		if (at != MAP_FAILED || !lease_role(w->fd, SPEED_ROLE_RX, &l))
			at = mmap(NULL, PAGE, RW, MAP_SHARED, w->fd, l.off_own);
		if (at == MAP_FAILED)
			continue;
		munmap(at, PAGE);
		__atomic_add_fetch(&w->wakes, 1, __ATOMIC_RELEASE);
	}
	return 0;
}

static void woken(struct end e[2], void *buf)
{
	struct waker w = { .fd = e[0].fd };
	struct call call = { &e[0], buf, MESSAGE, MSG_NOSIGNAL };
	struct task sender, waker;
	long until;

	end_fill(&e[0], MESSAGE);
	task_start(&sender, call_send, &call);
	WANT_TRUE(task_sleeps(&sender), "the sender waits for space");
	task_start(&waker, wake, &w);
	until = now_ms() + 5000;
	while (__atomic_load_n(&w.wakes, __ATOMIC_ACQUIRE) < 3 && now_ms() < until)
		sleep_ms(1);
	end_close(&e[1]);
	WANT_ERR(task_join(&sender), ECONNRESET, "send");
	__atomic_store_n(&w.stop, true, __ATOMIC_RELEASE);
	task_join(&waker);
	WANT_TRUE(w.wakes >= 3, "it was woken, %ld times", w.wakes);
	WANT_ERR(end_send(&e[0], "x", 1, MSG_NOSIGNAL), EPIPE, "the next send");
	WANT(end_recv(&e[0], buf, 1, MSG_DONTWAIT), 0, 0, "recv, the end");
}

static void sender(const struct transport *t)
{
	static char buf[MESSAGE];
	struct raw reader;
	struct end e[2];
	int i;

	for (i = 0; i < soak_times(ROUNDS, 10); i++) {
		tp_pair(t, e);
		raw_open(&reader, e[1].fd, SPEED_ROLE_RX);
		woken(e, buf);
		raw_unmap(&reader);
		end_close(&e[0]);
	}
}

struct looks {
	struct end *e;
	bool ready;
	char data;
	int first, error, last;
};

/* A result of recv() that is not EAGAIN: bytes, or minus its error. */
static int soon(struct end *e, char *to)
{
	long until = now_ms() + 20000;
	ssize_t n;

	do {
		n = end_recv(e, to, 1, MSG_DONTWAIT);
	} while (n < 0 && errno == EAGAIN && now_ms() < until);
	return n < 0 ? -errno : n;
}

static long looks(void *arg)
{
	struct looks *l = arg;
	char c;

	WANT_ERR(end_recv(l->e, &c, 1, MSG_DONTWAIT), EAGAIN, "nothing yet");
	__atomic_store_n(&l->ready, true, __ATOMIC_RELEASE);
	l->first = soon(l->e, &l->data);
	l->error = soon(l->e, &c);
	l->last = end_recv(l->e, &c, 1, MSG_DONTWAIT) < 0 ? -errno : 0;
	return 0;
}

static void reader(const struct transport *t)
{
	struct looks l;
	struct end e[2];
	struct task k;
	int i;

	for (i = 0; i < soak_times(6 * ROUNDS, 10); i++) {
		tp_pair(t, e);
		WANT(end_send(&e[0], "?", 1, 0), 1, 0, "a question");
		l = (struct looks){ .e = &e[0] };
		task_start(&k, looks, &l);
		while (!__atomic_load_n(&l.ready, __ATOMIC_ACQUIRE))
			;
		WANT(end_send(&e[1], "!", 1, MSG_NOSIGNAL), 1, 0, "an answer to another");
		end_close(&e[1]);
		task_join(&k);
		WANT(l.first, 1, 0, "the answer");
		WANT_TRUE(l.data == '!', "its byte");
		WANT(l.error, -ECONNRESET, 0, "the question was lost");
		WANT(l.last, 0, 0, "the end");
		end_close(&e[0]);
	}
}

static const struct test_case cases[] = {
	{ "reader", reader, CASE_STREAM | CASE_SPEED | CASE_FUSED | CASE_LONG },
	{ "sender", sender, CASE_BOTH | CASE_SPEED | CASE_LONG },
};

RUN_CASES(cases)
