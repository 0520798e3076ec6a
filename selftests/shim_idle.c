// SPDX-License-Identifier: GPL-2.0
/*
 * Time limits of TCP's own, beside a ring that TCP's timers do not see: keepalive probes
 * of an idle connection that are answered, or are not, and TCP_USER_TIMEOUT with a reader
 * that never reads. Plain TCP says what comes of each.
 */
#define _GNU_SOURCE
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stress.h"
#include "tcp_pair.h"

#define KINDS		2	/* plain TCP, and fused */
#define ANSWERS		2
#define SPACED_MS	500	/* one answer and the next are further apart */
#define LONG_MS		20000
#define UNREAD		5000

static const char * const names[KINDS] = { "plain", "fused" };

/* A connection of each kind; with buffers of so many bytes, or 0. */
static void two_kinds(int kind[KINDS][2], int bytes)
{
	struct address a;
	int i, listener, client;

	for (i = 0; i < KINDS; i++) {
		tcp_shim_set(i);
		listener = tcp_listen_at(LOCAL4, 0, &a);
		client = tcp_socket(&a);
		if (bytes) {
			MUST(set_int(client, SOL_SOCKET, SO_SNDBUF, bytes) == 0);
			MUST(set_int(listener, SOL_SOCKET, SO_RCVBUF, bytes) == 0);
		}
		tcp_join(listener, &a, client, kind[i]);
		close(listener);
		MUST(tcp_exchange(kind[i]));
		WANT(tcp_fused(kind[i]), i, 0, "%s: fused", names[i]);
	}
}

static void close_kinds(int kind[KINDS][2])
{
	int i;

	for (i = 0; i < KINDS; i++)
		tcp_close(kind[i]);
}

static void keep_alive(int fd, int probes)
{
	WANT_OK(set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, 1), "TCP_KEEPIDLE");
	WANT_OK(set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, 1), "TCP_KEEPINTVL");
	WANT_OK(set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, probes), "TCP_KEEPCNT");
	WANT_OK(set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1), "SO_KEEPALIVE");
}

static long last_answer(int fd)
{
	struct tcp_info i = { 0 };
	socklen_t len = sizeof(i);

	MUST(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &len) == 0);
	return now_ms() - i.tcpi_last_ack_recv;
}

/* Acknowledgements of nothing new, which are of probes. */
static bool probes_answered(int fd, int want)
{
	long last = now_ms(), until = last + LONG_MS, at;
	int n = 0;

	while (n < want && now_ms() < until) {
		sleep_ms(50);
		at = last_answer(fd);
		if (at < last + SPACED_MS)
			continue;
		last = at;
		n++;
	}
	return n == want;
}

struct reader {
	int fd;
	char byte;
};

static long read_one(void *arg)
{
	struct reader *r = arg;

	return recv(r->fd, &r->byte, 1, 0);
}

/*
 * Idle with a reader asleep and bytes unread; and another with TCP_USER_TIMEOUT, which
 * does not count what was received, read or not.
 */
static void answered(const struct transport *t)
{
	int kind[KINDS][2], limited[KINDS][2], i;
	struct reader r[KINDS];
	struct task k[KINDS];

	tcp_own_net();
	two_kinds(kind, 0);
	two_kinds(limited, 0);
	for (i = 0; i < KINDS; i++) {
		WANT_OK(set_int(limited[i][0], IPPROTO_TCP, TCP_USER_TIMEOUT, 1000), "a limit");
		MUST(tcp_put(kind[i][0], UNREAD, 0) && tcp_put(limited[i][0], UNREAD, 0));
		keep_alive(kind[i][0], 2);
		r[i] = (struct reader){ kind[i][0] };
		task_start(&k[i], read_one, &r[i]);
	}
	for (i = 0; i < KINDS; i++) {
		WANT_TRUE(probes_answered(kind[i][0], i ? 1 : ANSWERS), "%s: answers", names[i]);
		WANT(task_sleeps(&k[i]), 1, 0, "%s: the reader sleeps", names[i]);
		WANT(tcp_fused(kind[i]), i, 0, "%s: fused as before", names[i]);
		WANT(send(kind[i][1], "x", 1, 0), 1, 0, "%s: a byte for it", names[i]);
		WANT(task_join(&k[i]), 1, 0, "%s: the reader has it", names[i]);
		WANT_TRUE(tcp_get(kind[i][1], UNREAD, 0), "%s: what was unread", names[i]);
		WANT_TRUE(tcp_get(limited[i][1], UNREAD, 0), "%s: limited, unread", names[i]);
		WANT_TRUE(tcp_exchange(kind[i]) && tcp_pump_both(kind[i], 300000),
			  "%s: goes on", names[i]);
		WANT_TRUE(tcp_exchange(limited[i]), "%s: limited, goes on", names[i]);
	}
	WANT_TRUE(tcp_fuses(kind[1]) && tcp_fused(limited[1]), "fused");
	close_kinds(kind);
	close_kinds(limited);
}

static void lo_down(void)
{
	struct ifreq r = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	MUST(fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &r) == 0);
	r.ifr_flags &= ~IFF_UP;
	MUST(ioctl(fd, SIOCSIFFLAGS, &r) == 0);
	close(fd);
}

/**
 * struct death - what an end tells of its connection's end
 * @call: errno of the call that was under way
 * @events: of poll() after it
 * @error: SO_ERROR
 * @recv: of recv() then: 0, or -errno
 * @send: the same of send()
 */
struct death {
	int call;
	int events;
	int error;
	int recv;
	int send;
};

static struct death death_of(int fd, int call)
{
	struct death d = { .call = call };
	char c;

	d.events = poll_wait(fd, POLL_ALL, LONG_MS);
	d.error = get_int(fd, SOL_SOCKET, SO_ERROR);
	d.recv = recv(fd, &c, 1, MSG_DONTWAIT) < 0 ? -errno : 0;
	d.send = send(fd, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
	return d;
}

static void want_same_death(const struct death d[KINDS], const char *whose)
{
	WANT(d[1].call, d[0].call, 0, "%s: the call", whose);
	WANT(d[1].events, d[0].events, 0, "%s: poll()", whose);
	WANT(d[1].error, d[0].error, 0, "%s: SO_ERROR", whose);
	WANT(d[1].recv, d[0].recv, 0, "%s: recv()", whose);
	WANT(d[1].send, d[0].send, 0, "%s: send()", whose);
}

/* Nothing reaches the other end any more, of either kind: both ends learn of it. */
static void unanswered(const struct transport *t)
{
	struct task k[KINDS][2];
	struct reader r[KINDS][2];
	struct death d[2][KINDS];
	int kind[KINDS][2], i, end, err;

	tcp_own_net();
	two_kinds(kind, 0);
	for (i = 0; i < 2 * KINDS; i++) {
		keep_alive(kind[i / 2][i & 1], 1);
		r[i / 2][i & 1] = (struct reader){ kind[i / 2][i & 1] };
		task_start(&k[i / 2][i & 1], read_one, &r[i / 2][i & 1]);
	}
	lo_down();
	for (i = 0; i < 2 * KINDS; i++) {
		end = i & 1;
		err = task_join(&k[i / 2][end]) < 0 ? errno : 0;
		d[end][i / 2] = death_of(kind[i / 2][end], err);
	}
	WANT(d[0][0].call, ETIMEDOUT, 0, "plain TCP gives up");
	want_same_death(d[0], "who connected");
	want_same_death(d[1], "who was accepted");
	close_kinds(kind);
}

/* ---- a reader that never reads ---- */

#define LIMIT_MS	1500
#define BUFFERS		8192

/* Writes until it cannot. */
static long write_on(void *arg)
{
	static __thread unsigned char out[16384];
	int *fd = arg;
	size_t done = 0;
	ssize_t n;

	for (;; done += n) {
		stream_fill(out, sizeof(out), done);
		n = send(*fd, out, sizeof(out), MSG_NOSIGNAL);
		if (n < 0)
			return n;
	}
}

/* All that had come, in order, and then the end of it: 0, or -errno. */
static int read_out(int fd, bool *right)
{
	unsigned char in[4096];
	size_t got = 0;
	ssize_t n = 0;

	*right = true;
	while ((poll_wait(fd, POLLIN, LONG_MS) & (POLLIN | POLLERR | POLLHUP)) &&
	       (n = recv(fd, in, sizeof(in), MSG_DONTWAIT)) > 0) {
		*right &= stream_check(in, n, got);
		got += n;
	}
	*right &= got > 0;
	return n < 0 ? -errno : 0;
}

static void never_read(const struct transport *t)
{
	int kind[KINDS][2], last[KINDS], i;
	struct death d[KINDS];
	struct task k[KINDS];
	bool right;

	tcp_own_net();
	two_kinds(kind, BUFFERS);
	for (i = 0; i < KINDS; i++) {
		WANT_OK(set_int(kind[i][0], IPPROTO_TCP, TCP_USER_TIMEOUT, LIMIT_MS), "a limit");
		task_start(&k[i], write_on, &kind[i][0]);
	}
	for (i = 0; i < KINDS; i++) {
		WANT(task_join(&k[i]), -1, ETIMEDOUT, "%s: the writer", names[i]);
		d[i] = death_of(kind[i][0], ETIMEDOUT);
		last[i] = read_out(kind[i][1], &right);
		WANT_TRUE(right, "%s: what had come", names[i]);
	}
	want_same_death(d, "the writer");
	WANT(last[1], last[0], 0, "how it ends for who reads late");
	close_kinds(kind);
}

static const struct test_case cases[] = {
	{ "answered", answered, CASE_STREAM | CASE_SPEED },
	{ "unanswered", unanswered, CASE_STREAM | CASE_SPEED },
	{ "never_read", never_read, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
