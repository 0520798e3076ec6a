// SPDX-License-Identifier: GPL-2.0
/* Non-blocking sockets: full, writable again, and an exact stream all the while. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness.h"

static void fill_and_drain(const struct transport *t)
{
	static const size_t chunks[] = { 1, 100, 4096, 30000 };
	size_t i, sent, got;
	struct end e[2];
	char c;
	int round;

	/* A ring full of messages of a byte takes long, and says no more than one of a hundred. */
	for (i = t->type == SOCK_SEQPACKET; i < 4; i++) {
		tp_pair_sized(t, e, 65536);
		for (round = 0; round < 3; round++) {
			trace_mask(poll_now(e[0].fd, POLLOUT), "writable, by %zu", chunks[i]);
			sent = end_fill(&e[0], chunks[i]);
			trace_num(sent > 0, "some was taken");
			stream_fill(&c, 1, sent);
			NOTE(end_send(&e[0], &c, 1, MSG_DONTWAIT) > 1, "a byte more");
			got = end_drain(&e[1], 0);
			/* The byte more may have found room; it is the last then. */
			trace_num(got == sent || got == sent + 1, "as much came");
			trace_mask(poll_wait(e[0].fd, POLLOUT, 5000), "writable again");
			NOTE(end_recv(&e[1], &c, 1, MSG_DONTWAIT), "there is nothing more");
		}
		pair_close(e);
	}
}

/* Full is not writable, and what is called writable takes a byte at once. */
static void writable(const struct transport *t)
{
	size_t sent, got = 0;
	struct end e[2];
	char buf[1024];
	int wrong = 0;
	ssize_t n;

	tp_pair_sized(t, e, 65536);
	sent = end_fill(&e[0], 1024);
	trace_mask(poll_now(e[0].fd, POLLOUT), "poll a full socket");
	while (got < sent) {
		n = end_recv(&e[1], buf, sizeof(buf), 0);
		if (n <= 0 || !stream_check(buf, n, got))
			wrong++;
		got += n > 0 ? n : 1;
		if ((poll_now(e[0].fd, POLLOUT) & POLLOUT) &&
		    end_send(&e[0], "", 0, MSG_DONTWAIT) != 0)
			wrong++;
	}
	trace_num(wrong, "wrong");
	NOTE(end_send(&e[0], "x", 1, MSG_DONTWAIT), "send when it is empty");
	NOTE(end_recv(&e[1], buf, 1, 0), "recv it");
	pair_close(e);
}

/* The same of messages: what is called writable takes one like those that filled it. */
static void writable_messages(const struct transport *t)
{
	static unsigned char buf[1024];
	int wrong = 0, taken = 0;
	size_t sent, from = 0;
	struct end e[2];

	tp_pair_sized(t, e, 65536);
	sent = end_fill(&e[0], sizeof(buf));
	trace_mask(poll_now(e[0].fd, POLLOUT), "poll a full socket");
	while (from < sent) {
		if (end_recv(&e[1], buf, sizeof(buf), 0) != sizeof(buf) ||
		    !stream_check(buf, sizeof(buf), from))
			wrong++;
		from += sizeof(buf);
		if (taken >= 200 || !(poll_now(e[0].fd, POLLOUT) & POLLOUT))
			continue;
		stream_fill(buf, sizeof(buf), sent);
		if (end_send(&e[0], buf, sizeof(buf), MSG_DONTWAIT) != sizeof(buf))
			wrong++;
		sent += sizeof(buf);
		taken++;
	}
	trace_num(wrong, "wrong");
	trace_num(taken, "taken while it was writable");
	trace_mask(poll_now(e[0].fd, POLLOUT), "poll an empty socket");
	NOTE(end_recv(&e[1], buf, 1, MSG_DONTWAIT), "there is nothing more");
	pair_close(e);
}

static void by_fcntl(const struct transport *t)
{
	struct end e[2];
	int on = 1, off = 0;
	char c;

	tp_pair(t, e);
	NOTE(set_nonblock(e[0].fd, true), "O_NONBLOCK");
	NOTE(end_recv(&e[0], &c, 1, 0), "recv");
	NOTE(read(e[0].fd, &c, 1), "read");
	NOTE(set_nonblock(e[0].fd, false), "no O_NONBLOCK");
	NOTE(end_recv(&e[0], &c, 1, MSG_DONTWAIT), "recv with DONTWAIT");
	NOTE(ioctl(e[0].fd, FIONBIO, &on), "FIONBIO");
	NOTE(end_recv(&e[0], &c, 1, 0), "recv");
	NOTE(end_recv(&e[0], &c, 1, MSG_WAITALL), "recv with WAITALL");
	NOTE(end_recv(&e[0], &c, 1, MSG_PEEK), "peek");
	stream_fill(&c, 1, end_fill(&e[0], 4096));
	NOTE(end_send(&e[0], &c, 1, 0) > 1, "send when it is full");
	tp_settle(t);
	trace_num(end_drain(&e[1], 0) > 0, "drain");
	NOTE(ioctl(e[0].fd, FIONBIO, &off), "FIONBIO off");
	NOTE(end_send(&e[1], "x", 1, 0), "send");
	NOTE(end_recv(&e[0], &c, 1, 0), "recv, blocking");
	pair_close(e);
}

/* A partial send takes what there is room for, and says so. */
static void partial(const struct transport *t)
{
	size_t len = 8u << 20, got;
	unsigned char *buf = malloc(len);
	struct end e[2];
	ssize_t n;

	MUST(buf);
	stream_fill(buf, len, 0);
	tp_pair_sized(t, e, 65536);
	n = end_send(&e[0], buf, len, MSG_DONTWAIT);
	trace_num(n > 0 && n < (ssize_t)len, "a part of 8 MiB was taken");
	got = end_drain_late(&e[1], 0, n);
	trace_num((ssize_t)got == n, "that part came");
	pair_close(e);
	free(buf);
}

/* Random sends and receives against what was accepted. */
static void random_steps(const struct transport *t)
{
	static unsigned char buf[50000];
	unsigned int seed = 3, wrong = 0, i;
	size_t sent = 0, got = 0;
	struct end e[2];
	ssize_t n;

	tp_pair_sized(t, e, 32768);
	for (i = 0; i < 4000; i++) {
		size_t len = rand_r(&seed) % (i & 64 ? 200 : sizeof(buf)) + 1;

		if (rand_r(&seed) & 1) {
			stream_fill(buf, len, sent);
			n = end_send(&e[0], buf, len, MSG_DONTWAIT);
			wrong += n < 0 && errno != EAGAIN;
			sent += n > 0 ? n : 0;
		} else {
			n = end_recv(&e[1], buf, len, MSG_DONTWAIT);
			wrong += n == 0 || (n < 0 && errno != EAGAIN);
			wrong += n > 0 && !stream_check(buf, n, got);
			got += n > 0 ? n : 0;
		}
	}
	tp_settle(t);
	got += end_drain_late(&e[1], got, sent - got);
	trace_num(wrong, "wrong of 4000");
	trace_num(sent == got, "all that was sent came");
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "fill_and_drain", fill_and_drain, CASE_BOTH | CASE_PATHS },
	{ "writable", writable, CASE_STREAM | CASE_PATHS },
	{ "writable_messages", writable_messages, CASE_SEQPACKET | CASE_PATHS },
	{ "by_fcntl", by_fcntl, CASE_BOTH | CASE_TCP | CASE_PATHS },
	{ "partial", partial, CASE_ALL },
	{ "random_steps", random_steps, CASE_ALL },
};

RUN_CASES(cases)
