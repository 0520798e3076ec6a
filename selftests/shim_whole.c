// SPDX-License-Identifier: GPL-2.0
/*
 * Several processes send records by one socket, each in one call, without a lock among
 * them: as long as TCP has room for what is unread, no record comes in two pieces. A ring
 * that is full has less room, and must not show.
 */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "stress.h"
#include "tcp_pair.h"

#define WRITERS		4
#define RECORD		1000
#define RECORDS		250	/* of each: 1 MB in all, which TCP takes unread */
#define STEP		(64 << 10)

struct writer {
	int fd;
	char letter;
	int flags;
};

/* Return: 0 if each of its records was taken as a whole. */
static int write_records(void *arg)
{
	const struct writer *w = arg;
	char record[RECORD];
	int i;

	memset(record, w->letter, sizeof(record));
	for (i = 0; i < RECORDS; i++)
		if (send(w->fd, record, sizeof(record), w->flags) != sizeof(record))
			return 1;
	return 0;
}

/* A reader that is slow now and then: how many records came in pieces. */
static int read_records(int fd)
{
	static char all[WRITERS * RECORDS * RECORD];
	size_t have = 0, slow = 0;
	int i, torn = 0;
	ssize_t n;

	while (have < sizeof(all)) {
		if (have >= slow) {
			sleep_ms(5);
			slow += STEP;
		}
		n = recv(fd, all + have, sizeof(all) - have < STEP ? sizeof(all) - have : STEP, 0);
		MUST(n > 0);
		have += n;
	}
	for (i = 0; i < WRITERS * RECORDS; i++) {
		const char *r = all + i * RECORD;

		torn += !!memcmp(r, r + 1, RECORD - 1);
	}
	return torn;
}

static void records(int flags)
{
	struct writer w[WRITERS];
	pid_t pid[WRITERS];
	int fd[2], i, round;

	for (round = 0; round < soak_times(6, 10); round++) {
		tcp_fused_pair(fd);
		for (i = 0; i < WRITERS; i++) {
			w[i] = (struct writer){ fd[0], 'a' + i, flags };
			pid[i] = process_start(write_records, &w[i]);
		}
		WANT(read_records(fd[1]), 0, 0, "%d: records in pieces", round);
		for (i = 0; i < WRITERS; i++)
			WANT(process_join(pid[i]), 0, 0, "%d: writer %d", round, i);
		tcp_close(fd);
	}
}

/* Who waits while the ring is full, and goes on by it. */
static void waiting(const struct transport *t)
{
	(void)t;
	tcp_shim_net();
	records(0);
}

/* Who does not wait, and goes on by TCP. */
static void nonblocking(const struct transport *t)
{
	(void)t;
	tcp_shim_net();
	records(MSG_DONTWAIT);
}

static const struct test_case cases[] = {
	{ "waiting", waiting, CASE_STREAM | CASE_SPEED },
	{ "nonblocking", nonblocking, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
