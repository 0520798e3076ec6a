// SPDX-License-Identifier: GPL-2.0
/*
 * speed_pair(), one thread: what each transfer takes, gives and refuses.
 */
#include "stream.h"
#include "../../userspace/lib/role.h"

#define RING	8192

static struct speed *end[2];

static void open_pair(int type, size_t bytes)
{
	if (speed_pair(type, bytes, end))
		rig_fail("speed_pair");
}

static void close_pair(void)
{
	speed_detach(end[0]);
	speed_detach(end[1]);
}

#define fails_with(err, call)	(errno = 0, (call) == -1 && errno == (err))

static void test_open(void)
{
	struct speed *none[2];

	need(fails_with(EINVAL, speed_pair(SOCK_DGRAM, RING, none)));
	need(fails_with(EINVAL, speed_pair(-1, RING, none)));
	need(fails_with(EINVAL, speed_pair(SOCK_STREAM, SPEED_RING_MAX + 1ull, none)));
	ok("speed_pair refuses what it does not know");
	open_pair(SOCK_STREAM, 1);
	need(speed_fd(end[0]) == -1);
	need(end[0]->role[0].side.size == SPEED_RING_MIN);
	close_pair();
	open_pair(SOCK_SEQPACKET | SPEED_PAIR_SINGLE, 70000);
	need(end[1]->role[1].side.size == 131072);
	close_pair();
	speed_detach(NULL);
	ok("a ring is a power of two and at least a page");
}

static void test_stream_bounds(void)
{
	unsigned char buf[2 * RING], got[2 * RING];
	ssize_t n;

	open_pair(SOCK_STREAM, RING);
	stream_fill(buf, 0, sizeof(buf));
	need(fails_with(EAGAIN, speed_recv(end[1], got, 1, MSG_DONTWAIT)));
	need(speed_send(end[0], buf, 0, 0) == 0 && speed_recv(end[1], got, 0, MSG_DONTWAIT) == 0);
	n = speed_send(end[0], buf, sizeof(buf), MSG_DONTWAIT);
	need(n == RING);
	need(fails_with(EAGAIN, speed_send(end[0], buf, 1, MSG_DONTWAIT)));
	need(speed_recv(end[1], got, 100, 0) == 100);
	need(speed_send(end[0], buf + RING, 200, MSG_DONTWAIT) == 100);
	need(fails_with(EAGAIN, speed_send(end[0], buf, 1, MSG_DONTWAIT)));
	need(speed_recv(end[1], got + 100, RING, MSG_WAITALL) == RING);
	need(!memcmp(buf, got, RING + 100));
	need(fails_with(EAGAIN, speed_recv(end[1], got, 1, MSG_DONTWAIT)));
	ok("a full ring takes no more, an empty one gives nothing");
	need(speed_send(end[1], "back", 4, 0) == 4 && speed_recv(end[0], got, 9, 0) == 4);
	need(!memcmp(got, "back", 4));
	ok("the two directions are rings of their own");
	close_pair();
}

static void test_stream_vectors(void)
{
	unsigned char buf[600], got[600];
	struct iovec out[3] = { { buf, 1 }, { buf + 1, 0 }, { buf + 1, 599 } };
	struct iovec in[2] = { { got, 250 }, { got + 250, 350 } };
	struct iovec wrong = { buf, (size_t)-1 };

	open_pair(SOCK_STREAM, RING);
	stream_fill(buf, 5, sizeof(buf));
	need(speed_sendv(end[0], out, 3, 0) == 600);
	need(speed_recvv(end[1], in, 2, 0) == 600);
	need(!memcmp(buf, got, 600));
	need(fails_with(EINVAL, speed_sendv(end[0], &wrong, 1, 0)));
	need(fails_with(EMSGSIZE, speed_sendv(end[0], out, -1, 0)) || errno == EINVAL);
	need(speed_sendv(end[0], out, 0, 0) == 0);
	ok("vectors are one stream");
	close_pair();
}

static void test_messages(void)
{
	unsigned char buf[RING], got[RING];
	struct iovec out[2] = { { buf, 10 }, { buf + 10, 20 } };
	size_t most = RING - sizeof(struct speed_record);
	int i;

	open_pair(SOCK_SEQPACKET, RING);
	stream_fill(buf, 0, sizeof(buf));
	need(speed_send(end[0], buf, 100, 0) == 100);
	need(speed_send(end[0], buf, 0, 0) == 0);
	need(speed_sendv(end[0], out, 2, 0) == 30);
	need(speed_recv(end[1], got, sizeof(got), 0) == 100 && !memcmp(got, buf, 100));
	need(speed_recv(end[1], got, sizeof(got), 0) == 0);
	memset(got, 0, sizeof(got));
	need(speed_recv(end[1], got, 12, MSG_TRUNC) == 30 && !memcmp(got, buf, 12) && !got[12]);
	need(fails_with(EAGAIN, speed_recv(end[1], got, 1, MSG_DONTWAIT)));
	ok("messages keep their bounds, the rest of a long one is dropped");
	need(fails_with(EMSGSIZE, speed_send(end[0], buf, most + 1, 0)));
	need(fails_with(EMSGSIZE, speed_send(end[0], buf, most + 1, MSG_DONTWAIT)));
	for (i = 0; i < 3; i++) {
		need(speed_send(end[0], buf, most, MSG_DONTWAIT) == (ssize_t)most);
		need(speed_recv(end[1], got, sizeof(got), 0) == (ssize_t)most);
		need(!memcmp(buf, got, most));
	}
	for (i = 0; speed_send(end[0], buf, 24, MSG_DONTWAIT) == 24; i++)
		;
	need(errno == EAGAIN && i == RING / 32);
	need(speed_recv(end[1], got, 1, 0) == 1);
	need(speed_send(end[0], buf, 25, MSG_DONTWAIT) == -1 && errno == EAGAIN);
	need(speed_send(end[0], buf, 24, MSG_DONTWAIT) == 24);
	ok("a message goes whole or not at all");
	close_pair();
}

static void test_zero_copy(void)
{
	const void *peeked;
	void *span;

	open_pair(SOCK_STREAM, RING);
	need(fails_with(EINVAL, speed_commit(end[0], 1, 0)));
	need(fails_with(EINVAL, speed_release(end[1], 1)));
	need(fails_with(EINVAL, speed_reserve(end[0], 0, &span, 0)));
	need(fails_with(EAGAIN, speed_peek(end[1], 1, &peeked, MSG_DONTWAIT)));
	need(speed_reserve(end[0], 3 * RING, &span, 0) == RING);
	need(fails_with(EDEADLK, speed_reserve(end[0], 1, &span, 0)));
	stream_fill(span, 0, RING);
	need(fails_with(EINVAL, speed_commit(end[0], RING + 1, 0)));
	need(speed_commit(end[0], 1000, 0) == 1000);
	need(speed_peek(end[1], RING, &peeked, 0) == 1000 && stream_holds(peeked, 0, 1000));
	need(fails_with(EINVAL, speed_release(end[1], 1001)));
	need(!speed_release(end[1], 400));
	need(speed_peek(end[1], 100, &peeked, 0) == 100 && stream_holds(peeked, 400, 100));
	need(!speed_release(end[1], 0));
	need(speed_peek(end[1], RING, &peeked, 0) == 600 && stream_holds(peeked, 400, 600));
	need(!speed_release(end[1], 600));
	need(speed_reserve(end[0], 10, &span, 0) == 10 && speed_commit(end[0], 0, 0) == 0);
	need(fails_with(EAGAIN, speed_peek(end[1], 1, &peeked, MSG_DONTWAIT)));
	ok("a stream's spans: what is committed comes, what is released is gone");
	close_pair();

	open_pair(SOCK_SEQPACKET, RING);
	need(speed_reserve(end[0], 300, &span, 0) == 300);
	stream_fill(span, 9, 300);
	need(speed_commit(end[0], 200, 0) == 200);
	need(speed_reserve(end[0], 5, &span, 0) == 5);
	need(speed_commit(end[0], SPEED_CANCEL, 0) == 0);
	need(speed_reserve(end[0], 0, &span, 0) == 0 && speed_commit(end[0], 0, 0) == 0);
	need(speed_peek(end[1], 1, &peeked, 0) == 200 && stream_holds(peeked, 9, 200));
	need(!speed_release(end[1], SPEED_CANCEL));
	need(speed_peek(end[1], 1, &peeked, 0) == 200 && !speed_release(end[1], 1));
	need(speed_peek(end[1], 1, &peeked, 0) == 0 && !speed_release(end[1], 0));
	need(fails_with(EAGAIN, speed_peek(end[1], 1, &peeked, MSG_DONTWAIT)));
	ok("a message's span is a message");
	close_pair();
}

static int pipes;

static void on_pipe(int sig)
{
	(void)sig;
	pipes++;
}

static void test_close(int type, const char *name)
{
	unsigned char buf[300], got[300];

	open_pair(type, RING);
	stream_fill(buf, 0, sizeof(buf));
	need(speed_send(end[0], buf, 300, 0) == 300);
	speed_detach(end[0]);
	need(speed_recv(end[1], got, sizeof(got), 0) == 300 && !memcmp(buf, got, 300));
	need(speed_recv(end[1], got, sizeof(got), 0) == 0);
	need(speed_recv(end[1], got, sizeof(got), MSG_DONTWAIT) == 0);
	need(fails_with(EPIPE, speed_send(end[1], buf, 1, MSG_NOSIGNAL)) && !pipes);
	need(fails_with(EPIPE, speed_send(end[1], buf, 1, 0)) && pipes == 1);
	pipes = 0;
	speed_detach(end[1]);
	ok("%s: bytes sent before a close arrive, then end-of-file; sending fails", name);
}

/* Both ends as they are after @index bytes each way. */
static void start_at(__u64 index)
{
	int i, role;

	for (i = 0; i < 2; i++) {
		for (role = 0; role < SPEED_ROLES; role++) {
			struct speed_side *side = &end[i]->role[role].side;

			side->mine->index = index;
			spd_side_start(&end[i]->role[role], index, role);
		}
	}
}

static void test_wrap(void)
{
	__u64 start = -3ull * RING - 17, i;
	unsigned char buf[333], got[333];

	open_pair(SOCK_STREAM, RING);
	start_at(start);
	for (i = 0; i < 300; i++) {
		stream_fill(buf, i * 333, 333);
		need(speed_send(end[0], buf, 333, MSG_DONTWAIT) == 333);
		need(speed_recv(end[1], got, 333, MSG_DONTWAIT) == 333 && !memcmp(buf, got, 333));
	}
	need(end[0]->role[SPEED_ROLE_TX].side.own == start + 300 * 333);
	close_pair();
	open_pair(SOCK_SEQPACKET, RING);
	start_at(-5ull * RING - 16);
	for (i = 0; i < 1000; i++) {
		message_send(end[1], i, 4000, i & 1);
		message_recv(end[0], i, 4000, i & 2);
	}
	close_pair();
	ok("indices wrap over 2^64");
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on_pipe };

	sigaction(SIGPIPE, &sa, NULL);
	alarm(60);
	test_open();
	test_stream_bounds();
	test_stream_vectors();
	test_messages();
	test_zero_copy();
	test_close(SOCK_STREAM, "stream");
	test_close(SOCK_SEQPACKET, "messages");
	test_wrap();
	return tap_done();
}
