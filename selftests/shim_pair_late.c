// SPDX-License-Identifier: GPL-2.0
/*
 * The ring comes when one end has something to send. Who asks meanwhile what there is to
 * read, and saw no ring yet, gets what was sent all the same: before the end, and in order.
 */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "delay.h"
#include "stress.h"
#include "tcp_pair.h"

#define ROUNDS	5
#define ASKED	"asked"
#define ANSWER	"answer"
#define MORE	"more, by TCP"
/* Looked at by recv() after the pair, and before the bytes. */
#define BETWEEN	"shim_ended"

struct peer {
	const int *fd;
	bool ends;
};

/* Both ends of it, but for the reading of the answer. */
static long ask_and_answer(void *arg)
{
	const struct peer *p = arg;
	char buf[sizeof(ASKED)];

	sleep_ms(DELAY_MS / 10);
	MUST(send(p->fd[0], ASKED, sizeof(ASKED), 0) == sizeof(ASKED));
	MUST(recv(p->fd[1], buf, sizeof(buf), 0) == sizeof(ASKED));
	MUST(send(p->fd[1], ANSWER, sizeof(ANSWER), 0) == sizeof(ANSWER));
	if (p->ends)
		MUST(close(p->fd[1]) == 0);
	else
		MUST(tcp_send_odd(p->fd[1], MORE, sizeof(MORE), 0) == sizeof(MORE));
	return 0;
}

/* What comes first: how many bytes, or -1 and errno. */
static ssize_t come_first(int fd, int flags, char *buf, size_t len, long *slowest)
{
	ssize_t n;

	do {
		long begun = now_ms();

		n = recv(fd, buf, len, flags | MSG_DONTWAIT);
		if (now_ms() - begun > *slowest)
			*slowest = now_ms() - begun;
	} while (n < 0 && errno == EAGAIN);
	return n;
}

static void answered(int flags, bool ends)
{
	long slowest = 0;
	int i, delay;

	tcp_shim_net();
	delay = delay_begin(BETWEEN);
	for (i = 0; i < soak_times(ROUNDS, 10); i++) {
		char buf[sizeof(ANSWER)] = "";
		struct task k;
		int fd[2];
		struct peer p = { fd, ends };

		tcp_pair(fd);
		task_start(&k, ask_and_answer, &p);
		WANT(come_first(fd[0], flags, buf, sizeof(buf), &slowest), sizeof(buf), 0,
		     "%d: bytes", i);
		WANT_TRUE(!memcmp(buf, ANSWER, sizeof(buf)), "%d: the answer", i);
		WANT(task_join(&k), 0, 0, "the other end");
		close(fd[0]);
		if (!ends)
			close(fd[1]);
	}
	close(delay);
	WANT_TRUE(slowest >= DELAY_MS / 2, "a recv() was held up, for %ld ms", slowest);
}

static void end_after(const struct transport *t)
{
	(void)t;
	answered(0, true);
}

static void end_after_peek(const struct transport *t)
{
	(void)t;
	answered(MSG_PEEK, true);
}

static void more_after(const struct transport *t)
{
	(void)t;
	answered(0, false);
}

static void more_after_peek(const struct transport *t)
{
	(void)t;
	answered(MSG_PEEK, false);
}

static const struct test_case cases[] = {
	{ "end_after", end_after, CASE_STREAM | CASE_SPEED },
	{ "end_after_peek", end_after_peek, CASE_STREAM | CASE_SPEED },
	{ "more_after", more_after, CASE_STREAM | CASE_SPEED },
	{ "more_after_peek", more_after_peek, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
