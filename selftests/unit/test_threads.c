// SPDX-License-Identifier: GPL-2.0
/*
 * speed_pair() between threads: checksummed streams and messages, copied and
 * without a copy, spinning and sleeping, both directions at once; call and
 * reply; several threads on one end; a close while the other end sleeps.
 */
#include <pthread.h>

#include "stream.h"

#ifndef WORK
#define WORK	4	/* scales the work, for slow builds */
#endif
#define STREAM_BYTES	(WORK * 500000ull)
#define MESSAGES	(WORK * 5000)
#define CALLS		(WORK * 2500)
#define MESSAGE_MOST	1500

struct side {
	struct speed	*s;
	int		how;
	int		seed;
	size_t		most;
};

static struct speed *end[2];
static pthread_t threads[8];
static int started;

static void start(void *(*run)(void *), struct side *side)
{
	if (pthread_create(&threads[started++], NULL, run, side))
		rig_fail("pthread_create");
}

static void join_all(void)
{
	while (started)
		pthread_join(threads[--started], NULL);
}

static void open_pair(int type, size_t bytes, unsigned int spin_us)
{
	if (speed_pair(type, bytes, end))
		rig_fail("speed_pair");
	need(!speed_set_spin(end[0], spin_us) && !speed_set_spin(end[1], spin_us));
}

static __u64 close_pair(unsigned int spin_us)
{
	struct speed_stats a, b;

	speed_get_stats(end[0], &a);
	speed_get_stats(end[1], &b);
	speed_detach(end[0]);
	speed_detach(end[1]);
	need(!a.calls && !b.calls && !a.revocations && !b.revocations);
	return spin_us ? a.spins + b.spins : a.waits + b.waits;
}

static void *stream_sender(void *arg)
{
	struct side *side = arg;

	stream_send(side->s, STREAM_BYTES, side->most, side->how, side->seed);
	return NULL;
}

static void *stream_receiver(void *arg)
{
	struct side *side = arg;

	stream_recv(side->s, STREAM_BYTES, side->most, side->how, side->seed + 77);
	return NULL;
}

/* Both directions at once, on rings of a page to many. */
static void test_streams(unsigned int spin_us, int how)
{
	static const size_t rings[] = { 4096, 65536, 1 << 20 };
	static const char * const names[] = { "copied", "in spans", "mixed" };
	__u64 waits = 0;
	size_t i;

	for (i = 0; i < sizeof(rings) / sizeof(*rings); i++) {
		struct side sides[2] = {
			{ .how = how, .seed = 1 + i, .most = 40000 },
			{ .how = how, .seed = 11 + i, .most = 3000 },
		};

		open_pair(SOCK_STREAM, rings[i], spin_us);
		sides[0].s = end[0];
		sides[1].s = end[1];
		start(stream_sender, &sides[0]);
		start(stream_receiver, &sides[0]);
		start(stream_sender, &sides[1]);
		start(stream_receiver, &sides[1]);
		join_all();
		waits += close_pair(spin_us);
	}
	need(waits > 0);
	ok("streams %s, %s", names[how], spin_us ? "spinning" : "sleeping");
}

static void *message_sender(void *arg)
{
	struct side *side = arg;
	int i;

	for (i = 0; i < MESSAGES; i++)
		message_send(side->s, i, side->most, side->how && i % 2);
	return NULL;
}

static void *message_receiver(void *arg)
{
	struct side *side = arg;
	int i;

	for (i = 0; i < MESSAGES; i++)
		if (!message_recv(side->s, i, side->most, side->how && i % 3))
			break;
	return NULL;
}

static void test_messages(unsigned int spin_us)
{
	struct side sides[2] = { { .most = MESSAGE_MOST }, { .how = 1, .most = MESSAGE_MOST } };

	open_pair(SOCK_SEQPACKET, 8192, spin_us);
	sides[0].s = end[0];
	sides[1].s = end[1];
	start(message_sender, &sides[0]);
	start(message_receiver, &sides[0]);
	start(message_sender, &sides[1]);
	start(message_receiver, &sides[1]);
	join_all();
	need(close_pair(spin_us) > 0);
	ok("messages, %s", spin_us ? "spinning" : "sleeping");
}

/* A server that answers each request with its bytes, each one larger by one. */
static void *server(void *arg)
{
	unsigned char req[MESSAGE_MOST], *rep = NULL;
	struct side *side = arg;
	ssize_t n = 0, i;

	for (;;) {
		n = speed_reply_wait(side->s, rep, n, req, sizeof(req), 0);
		if (!n)
			break;
		if (!need(n > 0))
			break;
		for (i = 0; i < n; i++)
			req[i]++;
		rep = req;
	}
	return NULL;
}

static void test_calls(int type, unsigned int spin_us)
{
	unsigned char req[MESSAGE_MOST], rep[MESSAGE_MOST];
	struct side side = { .how = 0 };
	__u64 seed = 3;
	size_t len, j;
	int i;

	open_pair(type, 4096, spin_us);
	side.s = end[1];
	start(server, &side);
	for (i = 0; i < CALLS; i++) {
		len = stream_length(&seed, sizeof(req));
		stream_fill(req, i, len);
		if (!need(speed_call(end[0], req, len, rep, len, MSG_WAITALL) == (ssize_t)len))
			break;
		for (j = 0; j < len; j++)
			need(rep[j] == (unsigned char)(req[j] + 1));
	}
	speed_detach(end[0]);
	join_all();
	speed_detach(end[1]);
	ok("call and reply, %s, %s", type == SOCK_STREAM ? "stream" : "messages",
	   spin_us ? "spinning" : "sleeping");
}

/* Threads share an end: messages stay whole, those of one thread in order. */
#define SHARERS	3

static int next_of[SHARERS];
static int left;

struct tagged {
	int	who;
	int	nr;
	char	pad[24];
};

static void *sharing_sender(void *arg)
{
	struct side *side = arg;
	struct tagged msg = { .who = side->seed };

	for (msg.nr = 0; msg.nr < MESSAGES; msg.nr++) {
		memset(msg.pad, msg.nr, sizeof(msg.pad));
		need(speed_send(side->s, &msg, sizeof(msg), 0) == sizeof(msg));
	}
	return NULL;
}

static void *sharing_receiver(void *arg)
{
	int last[SHARERS] = { -1, -1, -1 };
	struct side *side = arg;
	struct tagged msg;
	size_t i;

	while (__atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED) > 0) {
		if (!need(speed_recv(side->s, &msg, sizeof(msg), 0) == sizeof(msg)) ||
		    !need(msg.who >= 0 && msg.who < SHARERS && msg.nr > last[msg.who]))
			break;
		last[msg.who] = msg.nr;
		for (i = 0; i < sizeof(msg.pad); i++)
			need(msg.pad[i] == (char)msg.nr);
		__atomic_fetch_add(&next_of[msg.who], 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void test_sharing(unsigned int spin_us)
{
	struct side receiver = { .how = 0 };
	struct side sides[SHARERS];
	int i;

	open_pair(SOCK_SEQPACKET, 4096, spin_us);
	receiver.s = end[1];
	left = SHARERS * MESSAGES;
	memset(next_of, 0, sizeof(next_of));
	for (i = 0; i < SHARERS; i++) {
		sides[i] = (struct side){ .s = end[0], .seed = i };
		start(sharing_sender, &sides[i]);
	}
	start(sharing_receiver, &receiver);
	start(sharing_receiver, &receiver);
	join_all();
	for (i = 0; i < SHARERS; i++)
		need(next_of[i] == MESSAGES);
	close_pair(spin_us);
	ok("threads share the ends, %s", spin_us ? "spinning" : "sleeping");
}

static void *late_closer(void *arg)
{
	struct side *side = arg;

	usleep(100000);
	need(speed_send(side->s, "last", 4, 0) == 4);
	speed_detach(side->s);
	return NULL;
}

static void *draining_closer(void *arg)
{
	struct side *side = arg;

	usleep(100000);
	speed_detach(side->s);
	return NULL;
}

static void test_close(void)
{
	unsigned char buf[8192] = { 0 };
	struct side side;

	open_pair(SOCK_STREAM, 4096, 0);
	side.s = end[0];
	start(late_closer, &side);
	need(speed_recv(end[1], buf, sizeof(buf), 0) == 4);
	need(speed_recv(end[1], buf, sizeof(buf), 0) == 0);
	join_all();
	speed_detach(end[1]);
	ok("a sleeping reader gets the last bytes, then end-of-file");

	open_pair(SOCK_STREAM, 4096, 0);
	side.s = end[1];
	start(draining_closer, &side);
	need(speed_send(end[0], buf, sizeof(buf), MSG_NOSIGNAL) == 4096);
	need(speed_send(end[0], buf, 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
	join_all();
	speed_detach(end[0]);
	ok("a sleeping writer is told of the close");
}

int main(void)
{
	static const unsigned int spins[] = { 0, SPEED_SPIN_MAX };
	int i, how;

	alarm(240);
	for (i = 0; i < 2; i++) {
		for (how = 0; how < 3; how++)
			test_streams(spins[i], how);
		test_messages(spins[i]);
		test_calls(SOCK_STREAM, spins[i]);
		test_calls(SOCK_SEQPACKET, spins[i]);
		test_sharing(spins[i]);
	}
	test_close();
	return tap_done();
}
