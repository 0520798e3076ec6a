// SPDX-License-Identifier: GPL-2.0
/*
 * Resets: what is told, and by which call, where a call was under way; and that of a
 * connection that was given up nothing reaches the socket's next one.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "delay.h"
#include "slow_page.h"
#include "stress.h"
#include "tcp_pair.h"

/* The reader closes with bytes unread while a sender is held up in its copy. */
static void held_sender(const struct transport *t)
{
	struct task call;
	struct slow h;
	int fd[2], on;
	char got;

	(void)t;
	tcp_own_net();
	for (on = 0; on < 2; on++) {
		tcp_shim_set(on);
		slow_page_open(&h.page);
		tcp_pair(fd);
		MUST(!on || tcp_fuses(fd));
		h.fd = fd[0];
		WANT_TRUE(tcp_put(fd[0], 100, 0), "%d: unread", on);
		task_start(&call, slow_send, &h);
		WANT_TRUE(task_sleeps(&call), "%d: the sender is held up", on);
		close(fd[1]);
		slow_page_give(&h.page, "");
		WANT(task_join(&call), SLOW_BYTES, 0, "%d: send", on);
		WANT(poll_wait(fd[0], POLLIN, 5000), POLLIN | POLLERR | POLLHUP, 0, "%d: poll", on);
		WANT_ERR(recv(fd[0], &got, 1, 0), ECONNRESET, "%d: recv", on);
		WANT(recv(fd[0], &got, 1, 0), 0, 0, "%d: recv after", on);
		WANT_ERR(send(fd[0], "x", 1, MSG_NOSIGNAL), EPIPE, "%d: send after", on);
		close(fd[0]);
		slow_page_close(&h.page);
	}
}

/* Who mapped the connection lies when the other end has begun another one. */
static void lie_of_old(const struct transport *t)
{
	int listener, fd[2], old, i;
	struct address a;
	struct raw w;

	(void)t;
	tcp_shim_net();
	listener = tcp_listen_at(LOCAL4, 0, &a);
	for (i = 0; i < 8; i++) {
		fd[0] = tcp_socket(&a);
		tcp_join(listener, &a, fd[0], fd);
		MUST(tcp_fuses(fd));
		old = fd[1];
		raw_open(&w, old, SPEED_ROLE_TX);
		WANT_OK(tcp_give_up(fd[0]), "give it up");
		tcp_join(listener, &a, fd[0], fd);
		*w.own += 1ull << 40;
		sleep_ms(150);		/* until somebody has looked */
		WANT(get_int(fd[0], SOL_SOCKET, SO_ERROR), 0, 0, "%d: no error", i);
		WANT_TRUE(tcp_exchange(fd), "%d: exchange", i);
		raw_unmap(&w);
		close(old);
		tcp_close(fd);
	}
	close(listener);
}

/* A reset, while the sender whose ring is full goes on by TCP. */
static long reset(void *arg)
{
	const struct linger l = { .l_onoff = 1 };
	int fd = *(int *)arg;

	sleep_ms(DELAY_MS / 10);
	MUST(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)) == 0);
	return close(fd);
}

static void part_sent(const struct transport *t)
{
	const size_t len = 16 << 20;	/* more than there is room for */
	char *bytes = calloc(1, len);
	int fd[2], i, on, delay, err, parts = 0;
	struct task k;
	ssize_t n;

	(void)t;
	MUST(bytes);
	tcp_own_net();
	delay = delay_begin("lock_sock_nested");
	for (i = 0; i < 10; i++) {
		on = i % 5 > 0;
		tcp_shim_set(on);
		tcp_pair(fd);
		MUST(!on || tcp_fuses(fd));
		task_start(&k, reset, &fd[1]);
		n = send(fd[0], bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		err = errno;
		WANT(task_join(&k), 0, 0, "%d: reset", i);
		if (n < 0) {		/* it came before the first byte */
			WANT(err, ECONNRESET, 0, "%d: send", i);
			close(fd[0]);
			continue;
		}
		WANT(poll_wait(fd[0], POLLHUP, 5000) & POLLHUP, POLLHUP, 0, "%d: poll", i);
		parts += on;
		WANT_ERR(send(fd[0], "x", 1, MSG_NOSIGNAL), ECONNRESET, "%d: send after", i);
		WANT_ERR(send(fd[0], "x", 1, MSG_NOSIGNAL), EPIPE, "%d: and again", i);
		close(fd[0]);
	}
	close(delay);
	free(bytes);
	WANT_TRUE(parts, "a part was sent");
}

static const struct test_case cases[] = {
	{ "held_sender", held_sender, CASE_STREAM | CASE_SPEED },
	{ "lie_of_old", lie_of_old, CASE_STREAM | CASE_SPEED },
	{ "part_sent", part_sent, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
