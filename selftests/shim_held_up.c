// SPDX-License-Identifier: GPL-2.0
/*
 * A thread that is held up between two looks, or two steps, of one call, while others do
 * what makes its first look old: nothing is lost, or comes out of its place.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "delay.h"
#include "slow_page.h"
#include "stress.h"
#include "tcp_pair.h"

#define ROUNDS	4
#define PIECE	1000

/* By the ring, and more by TCP. */
static long put_both(void *arg)
{
	static char more[PIECE];
	const int *fd = arg;

	sleep_ms(DELAY_MS / 10);
	MUST(tcp_put(fd[0], PIECE, 0));
	stream_fill(more, PIECE, PIECE);
	return tcp_send_odd(fd[0], more, PIECE, 0);
}

/* How many bytes it copied; nothing can be mapped of so few. */
static ssize_t get_zerocopy(int fd, char *at, size_t room, char *buf, size_t len)
{
	struct tcp_zerocopy_receive z = {
		.address = (unsigned long)at, .length = room,
		.copybuf_address = (unsigned long)buf, .copybuf_len = len,
	};
	int err = get_soon(fd, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &z, sizeof(z));

	return err || z.length ? -1 : (ssize_t)z.copybuf_len;
}

/* The first bytes of all come while the reader brings what there is home. */
static void brought_home(const struct transport *t)
{
	size_t room = 1 << 18;
	char *at, buf[4096];
	int fd[2], i, delay;
	struct task k;
	ssize_t n;

	(void)t;
	tcp_shim_net();
	delay = delay_begin("shim_bar");
	for (i = 0; i < ROUNDS; i++) {
		tcp_pair(fd);
		at = mmap(NULL, room, PROT_READ, MAP_SHARED, fd[1], 0);
		MUST(at != MAP_FAILED);
		task_start(&k, put_both, fd);
		n = get_zerocopy(fd[1], at, room, buf, sizeof(buf));
		WANT_TRUE(n >= 0 && stream_check(buf, n, 0), "%d: the first %zd bytes", i, n);
		WANT(task_join(&k), PIECE, 0, "%d: sent", i);
		WANT_TRUE(tcp_get(fd[1], 2 * PIECE - n, n), "%d: in order", i);
		munmap(at, room);
		tcp_close(fd);
	}
	close(delay);
}

static long wake(void *arg)
{
	sleep_ms(DELAY_MS / 10);
	return send(*(int *)arg, "wake", 4, 0);
}

/* Who sleeps in TCP's own calls, while the second end asks for the shim. */
static void asked_late(const struct transport *t)
{
	int listener, fd[2], i, delay;
	struct task sleeper, waker;
	struct address a;
	struct end e;
	char got[8];
	struct call c = { &e, got, sizeof(got), 0 };

	(void)t;
	tcp_own_net();
	delay = delay_begin("shim_wait_calls");
	listener = tcp_listen_at(LOCAL4, 0, &a);
	for (i = 0; i < ROUNDS; i++) {
		int client = tcp_socket(&a);

		WANT_OK(tcp_set_ulp(client, "speed"), "one asks");
		tcp_join(listener, &a, client, fd);
		e = (struct end){ .fd = fd[1] };
		task_start(&sleeper, call_recv, &c);
		WANT_TRUE(task_sleeps(&sleeper), "%d: recv waits", i);
		task_start(&waker, wake, &fd[0]);
		WANT_OK(tcp_set_ulp(fd[1], "speed"), "%d: the other asks", i);
		WANT(task_join(&waker), 4, 0, "%d: send", i);
		WANT_TRUE(task_ends(&sleeper, 5000), "%d: it is woken", i);
		WANT_OK(shutdown(fd[0], SHUT_WR), "shutdown");
		WANT(task_join(&sleeper), 4, 0, "%d: recv", i);
		tcp_close(fd);
	}
	close(delay);
	close(listener);
}

static long send_late(void *arg)
{
	sleep_ms(DELAY_MS / 10);
	return slow_send(arg);
}

static long give_late(void *arg)
{
	sleep_ms(300);
	slow_page_give(arg, "");
	return 0;
}

/* The first bytes of all are on the way into the ring when their sender says the end. */
static void shut_while_sent(const struct transport *t)
{
	struct task sender, giver;
	char buf[SLOW_BYTES];
	int fd[2], delay, i;
	struct slow h;
	long n, sent;

	(void)t;
	tcp_shim_net();
	delay = delay_begin("inet_shutdown");
	for (i = 0; i < ROUNDS; i++) {
		slow_page_open(&h.page);
		tcp_pair(fd);
		h.fd = fd[0];
		task_start(&sender, send_late, &h);
		task_start(&giver, give_late, &h.page);
		WANT_OK(shutdown(fd[0], SHUT_WR), "%d: shutdown", i);
		MUST(poll_wait(fd[1], POLLRDHUP, 5000) & POLLRDHUP);
		n = recv(fd[1], buf, sizeof(buf), 0);
		task_join(&giver);
		sent = task_join(&sender);
		WANT(sent < 0 ? 0 : sent, n, 0, "%d: sent, and read before the end", i);
		tcp_close(fd);
		slow_page_close(&h.page);
	}
	close(delay);
}

struct splice_call {
	struct delay_turn turn;
	int fd;
};

static long splice_slowly(void *arg)
{
	struct splice_call *c = arg;
	int delay, out[2];
	long n;

	MUST(pipe(out) == 0);
	delay = delay_begin_in_turn(&c->turn, "tcp_splice_read");
	n = splice(c->fd, NULL, out[1], NULL, 64, 0);
	if (n < 0)
		n = -errno;
	close(out[0]);
	close(out[1]);
	close(delay);
	return n;
}

/* An error that does not end the connection, of a packet of its own that was rejected. */
static void reject_one(int fd)
{
	struct sockaddr_in peer;
	socklen_t len = sizeof(peer);

	MUST(getpeername(fd, (struct sockaddr *)&peer, &len) == 0);
	MUST(set_int(fd, IPPROTO_IP, IP_RECVERR, 1) == 0);
	if (shell("nft 'add table ip t; add chain ip t out { type filter hook output priority 0 ; }'") ||
	    shell("nft add rule ip t out tcp dport %d reject", ntohs(peer.sin_port)))
		trace_skip("needs nft, and CONFIG_NFT_REJECT");
	MUST(tcp_send_odd(fd, "rejected", 8, 0) == 8);
	MUST(poll_wait(fd, POLLERR, 5000) & POLLERR);
	MUST(!shell("nft delete table ip t"));
}

/* Who splices has seen an error, which another takes before it is told: there is no end. */
static void error_taken(const struct transport *t)
{
	int fd[2], i;

	(void)t;
	tcp_shim_net();
	for (i = 0; i < ROUNDS; i++) {
		struct splice_call c = { 0 };
		struct task k;
		long n;

		tcp_fused_pair(fd);
		reject_one(fd[1]);
		c.fd = fd[1];
		task_start(&k, splice_slowly, &c);
		delay_await(&c.turn);
		c.turn.go = true;
		sleep_ms(DELAY_MS / 4);
		trace_num(get_int(fd[1], SOL_SOCKET, SO_ERROR), "%d: the error", i);
		WANT(send(fd[0], "a", 1, 0), 1, 0, "%d: send", i);
		WANT_TRUE(task_ends(&k, 5000), "%d: splice() ends", i);
		shutdown(fd[0], SHUT_WR);
		n = task_join(&k);
		WANT_TRUE(n == 1 || n == -ECONNREFUSED, "%d: splice(): %ld", i, n);
		tcp_close(fd);
	}
}

static const struct test_case cases[] = {
	{ "brought_home", brought_home, CASE_STREAM | CASE_SPEED },
	{ "asked_late", asked_late, CASE_STREAM | CASE_SPEED },
	{ "shut_while_sent", shut_while_sent, CASE_STREAM | CASE_SPEED },
	{ "error_taken", error_taken, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
