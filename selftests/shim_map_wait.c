// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting on a mapped fused connection: signals, SO_RCVTIMEO, the end of the stream, a
 * reset; and a mapped sender whose ring is full goes on wherever TCP would take the bytes.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "mapped.h"
#include "stress.h"

#define BIT	100	/* bytes of a send where TCP has little room */

static atomic_int signals;

static void on_signal(int sig)
{
	(void)sig;
	signals++;
}

static void handle(int flags)
{
	struct sigaction a = { .sa_handler = on_signal, .sa_flags = flags };

	sigaction(SIGUSR1, &a, NULL);
	signals = 0;
}

/* A receive that sleeps in the kernel, under its lease. */
static void sleep_in_recv(struct task *k, struct call *c)
{
	task_start(k, call_recv, c);
	WANT_TRUE(task_sleeps(k), "recv sleeps");
}

static void signalled(const struct transport *t)
{
	char buf[16];
	struct end e[2];
	struct call c = { &e[1], buf, sizeof(buf), 0 };
	struct task k;

	mapped_ends(t, e);
	handle(0);
	sleep_in_recv(&k, &c);
	pthread_kill(k.thread, SIGUSR1);
	WANT_ERR(task_join(&k), EINTR, "recv, a handler without SA_RESTART");
	handle(SA_RESTART);
	sleep_in_recv(&k, &c);
	pthread_kill(k.thread, SIGUSR1);
	while (!signals)
		sleep_ms(1);
	WANT_TRUE(task_sleeps(&k), "with SA_RESTART it sleeps again");
	WANT(end_send(&e[0], "abc", 3, 0), 3, 0, "send");
	WANT(task_join(&k), 3, 0, "recv");
	pair_close(e);
}

static void timed(const struct transport *t)
{
	struct end e[2];
	char buf[16];
	long begin;

	mapped_ends(t, e);
	WANT_OK(set_timeout(e[1].fd, SO_RCVTIMEO, 150), "SO_RCVTIMEO");
	begin = ticked_ms();
	WANT_ERR(end_recv(&e[1], buf, sizeof(buf), 0), EAGAIN, "recv");
	WANT_TRUE(ticked_ms() - begin >= 140, "after its time, not before");
	WANT(end_send(&e[0], "abc", 3, 0), 3, 0, "send");
	WANT(end_recv(&e[1], buf, sizeof(buf), 0), 3, 0, "recv of what is there");
	WANT(end_send(&e[0], "abc", 3, 0), 3, 0, "send");
	WANT(end_recv(&e[1], buf, sizeof(buf), MSG_WAITALL), 3, 0, "what came in time");
	pair_close(e);
}

/* What ends a sleep: the end by shutdown, by close, and a reset. */
static void ended(const struct transport *t)
{
	const struct linger none = { .l_onoff = 1 };
	struct end e[2];
	char buf[16];
	struct call c = { &e[1], buf, sizeof(buf), 0 };
	struct task k;
	int how;

	for (how = 0; how < 5; how++) {
		mapped_ends(t, e);
		sleep_in_recv(&k, &c);
		if (how == 0)
			shutdown(e[0].fd, SHUT_WR);
		else if (how == 1)
			shutdown(e[1].fd, SHUT_RD);
		else if (how == 3)
			setsockopt(e[0].fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
		else if (how == 4)
			end_send(&e[1], "unread", 6, 0);
		if (how >= 2)
			end_close(&e[0]);
		WANT(task_join(&k), how < 3 ? 0 : -1, how < 3 ? 0 : ECONNRESET, "%d: recv", how);
		WANT(end_recv(&e[1], buf, sizeof(buf), 0), 0, 0, "%d: recv again", how);
		end_close(&e[0]);
		end_close(&e[1]);
	}
}

/* A sender that blocks beyond what ring and TCP hold; it goes on as they are read. */
static void full_then_read(const struct transport *t)
{
	size_t len = 3 << 20;
	unsigned char *out = malloc(len), *in = malloc(len);
	struct end e[2];
	struct call c = { &e[0], out, len, 0 };
	struct task k;

	MUST(out && in);
	mapped_ends(t, e);
	set_int(e[0].fd, SOL_SOCKET, SO_SNDBUF, 30000);
	stream_fill(out, len, 0);
	task_start(&k, call_send_all, &c);
	sleep_ms(300);
	WANT(end_recv_all(&e[1], in, len), len, 0, "recv");
	WANT_TRUE(!memcmp(in, out, len), "the bytes");
	WANT(task_join(&k), len, 0, "send");
	pair_close(e);
	free(out);
	free(in);
}

static long send_bit_by_bit(void *arg)
{
	struct call *c = arg;
	size_t done;

	for (done = 0; done < c->len; done += BIT)
		if (tcp_send_odd(c->e->fd, (char *)c->buf + done, BIT, 0) != BIT)
			return -1;
	return done;
}

/* A receiver waits for more than TCP has room for, when the bytes begin to come by TCP. */
static void small_window(const struct transport *t)
{
	static unsigned char out[200 * BIT], in[sizeof(out)];
	struct end e[2];
	struct call c = { &e[1], in, sizeof(in), MSG_WAITALL };
	struct call d = { &e[0], out, sizeof(out), 0 };
	struct task k, s;
	int i;

	mapped_ends(t, e);
	set_int(e[0].fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set_int(e[1].fd, SOL_SOCKET, SO_RCVBUF, 1);
	stream_fill(out, sizeof(out), 0);
	/* A window is not taken back: what was offered is used up first. */
	for (i = 0; i < 4; i++) {
		MUST(tcp_send_odd(e[0].fd, out, sizeof(out), 0) == sizeof(out));
		MUST(end_recv_all(&e[1], in, sizeof(in)) == sizeof(in));
	}
	WANT_TRUE(mapped_again(e), "mapped again");
	sleep_in_recv(&k, &c);
	task_start(&s, send_bit_by_bit, &d);
	WANT(task_join(&k), sizeof(in), 0, "recv");
	WANT(task_join(&s), sizeof(out), 0, "send");
	WANT_TRUE(!memcmp(in, out, sizeof(in)), "the bytes");
	pair_close(e);
}

/* A head that goes back, or far ahead: who sleeps for much or little finds out. */
static void lied_to(const struct transport *t)
{
	static const uint64_t lies[] = { -1ull, 1ull << 40, 1ull << 63 };
	struct transport u = by_hand_0(t);
	char buf[3000];
	struct end e[2];
	struct call c = { &e[1], buf, 0, MSG_WAITALL };
	struct task k;
	struct raw w;
	int i;

	for (i = 0; i < 6; i++) {
		mapped_ends(&u, e);
		MUST(mapped_talk(e, 20) == 20);
		c.len = i % 2 ? sizeof(buf) : 1;
		raw_open(&w, e[0].fd, SPEED_ROLE_TX);
		sleep_in_recv(&k, &c);
		raw_publish(&w, w.l.own + lies[i / 2]);
		MUST(ioctl(e[0].fd, SPEED_IOC_WAKE, SPEED_WAKE_READER) == 0);
		WANT(task_join(&k), -1, ECONNRESET, "%d: recv", i);
		raw_unmap(&w);
		pair_close(e);
	}
}

/* More than the ring holds, and nobody reads: plain TCP takes it, and so must this. */
static void full_and_nobody_reads(const struct transport *t)
{
	unsigned char out[4096];
	struct end e[2];
	size_t sent = 0, want;
	int fd[2];

	/* How much TCP alone takes; of that less than a ring is at stake. */
	tcp_shim_set(0);
	tcp_pair(fd);
	memset(out, 7, sizeof(out));
	for (want = 0; send(fd[0], out, sizeof(out), MSG_DONTWAIT) > 0;)
		want += sizeof(out);
	tcp_close(fd);
	tcp_shim_set(1);
	mapped_ends(t, e);
	set_timeout(e[0].fd, SO_SNDTIMEO, 10000);
	while (sent < want / 2 && end_send(&e[0], out, sizeof(out), 0) == sizeof(out))
		sent += sizeof(out);
	WANT_TRUE(sent >= want / 2, "blocking sends took %zu, TCP %zu", sent, want);
	pair_close(e);
}

/* Both send more than both rings hold before either receives. */
static long both_send(void *arg)
{
	static __thread unsigned char out[4096];
	struct end *e = arg;
	size_t done = 0;

	for (; done < 400000; done += sizeof(out)) {
		stream_fill(out, sizeof(out), done);
		if (end_send_all(e, out, sizeof(out)) != sizeof(out))
			return 1;
	}
	return mapped_get(e, done, 0) ? 0 : 2;
}

static void both_full(const struct transport *t)
{
	struct end e[2];
	struct task k;

	mapped_ends(t, e);
	task_start(&k, both_send, &e[1]);
	WANT(both_send(&e[0]), 0, 0, "one end");
	WANT(task_join(&k), 0, 0, "the other");
	pair_close(e);
}

#define PATHS	(CASE_STREAM | CASE_FUSED_ONLY | CASE_PATHS)

static const struct test_case cases[] = {
	{ "signalled", signalled, PATHS | CASE_UNMAPPED },
	{ "timed", timed, PATHS },
	{ "ended", ended, PATHS | CASE_UNMAPPED },
	{ "full_then_read", full_then_read, PATHS },
	{ "small_window", small_window, PATHS },
	{ "lied_to", lied_to, PATHS | CASE_UNMAPPED },
	{ "full_and_nobody_reads", full_and_nobody_reads, PATHS },
	{ "both_full", both_full, PATHS },
};

RUN_CASES(cases)
