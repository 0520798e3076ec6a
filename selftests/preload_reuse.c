// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers that are closed and come again while others send and receive by them.
 *
 * Each byte says which connection it was sent to or from: a peer that finds another's
 * mark in what it receives has been given bytes by a transfer that took one descriptor
 * for another. A thread that is in a transfer while its number changes may be told of
 * the old descriptor or of the new one; never may bytes cross.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/under.h"
#include "stress.h"
#include "tcp_pair.h"

#define SLOTS	4	/* numbers that come and go */
#define USERS	2	/* threads that use any of them */
#define FIRST	300	/* of the numbers */

/*
 * A connection that lasts: two ends, of which the near one is given to a number again
 * and again. Its mark is in each byte, in both directions.
 */
#define CONNECTIONS	6

static int near_end[CONNECTIONS], far_end[CONNECTIONS];
static unsigned long crossed, moved;
static bool stop;

static unsigned char mark(int connection)
{
	return 'A' + connection;
}

/* Bytes that came by way of a connection. */
static void look(const unsigned char *buf, long n, int connection)
{
	long i;

	for (i = 0; i < n; i++)
		if (buf[i] != mark(connection))
			__atomic_add_fetch(&crossed, 1, __ATOMIC_RELAXED);
}

/* The far end sends its mark to whoever is near, and looks whether what comes has it. */
static void *far(void *arg)
{
	int c = (intptr_t)arg;
	unsigned char buf[64];
	long n;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		memset(buf, mark(c), sizeof(buf));
		send(far_end[c], buf, 16, MSG_DONTWAIT | MSG_NOSIGNAL);
		n = recv(far_end[c], buf, sizeof(buf), MSG_DONTWAIT);
		look(buf, n, c);
		if (n <= 0)
			usleep(500);
	}
	return NULL;
}

/*
 * The user has a number of its own, and closes and gives it itself: it knows what it
 * has. Others do the same with theirs at once, and so the handles change hands.
 */
static void owner_round(int number, int c, struct chance *chance)
{
	unsigned char buf[64];
	int times = 1 + chance_below(chance, 6), i;
	long n;

	MUST(chance_below(chance, 2) ? dup2(near_end[c], number) == number :
	     (close(number) | 1) && dup3(near_end[c], number, O_CLOEXEC) == number);
	for (i = 0; i < times; i++) {
		memset(buf, mark(c), sizeof(buf));
		n = send(number, buf, 8, MSG_DONTWAIT | MSG_NOSIGNAL);
		__atomic_add_fetch(&moved, n > 0, __ATOMIC_RELAXED);
		n = recv(number, buf, sizeof(buf), MSG_DONTWAIT);
		look(buf, n, c);
	}
}

static int owner_rounds;

static void *owner(void *arg)
{
	int slot = (intptr_t)arg, i;
	struct chance chance = { 0x9e3779b97f4a7c15ull * (slot + 1) };

	for (i = 0; i < owner_rounds; i++)
		owner_round(FIRST + slot, chance_below(&chance, CONNECTIONS), &chance);
	close(FIRST + slot);
	return NULL;
}

/*
 * Who receives by numbers that are another's, and so does not know what they are: what
 * comes at once must have one mark. It cannot know which mark to send.
 */
static void *stranger(void *arg)
{
	struct chance chance = { 77 + (intptr_t)arg };
	unsigned char buf[64];
	long n, i;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		n = recv(FIRST + chance_below(&chance, SLOTS), buf, sizeof(buf), MSG_DONTWAIT);
		for (i = 1; i < n; i++)
			look(buf + i, 1, buf[0] - 'A');
		if (n <= 0)
			usleep(200);
	}
	return NULL;
}

static void given(const struct transport *t, const struct under_case *c)
{
	pthread_t fars[CONNECTIONS], owners[SLOTS], strangers[USERS];
	int i, fd[2], rounds = brief() ? 100 : soak_times(2000, 125);

	/* With few mappings one transfer in fifty is mapped, if busy one in eighty: more. */
	owner_rounds = rounds * (!c->env ? 1 : brief() ? 12 : 4);
	for (i = 0; i < CONNECTIONS; i++) {
		under_pair(t, fd);
		near_end[i] = fd[0];
		far_end[i] = fd[1];
		MUST(pthread_create(&fars[i], NULL, far, (void *)(intptr_t)i) == 0);
	}
	for (i = 0; i < USERS; i++)
		MUST(pthread_create(&strangers[i], NULL, stranger, (void *)(intptr_t)i) == 0);
	for (i = 0; i < SLOTS; i++)
		MUST(pthread_create(&owners[i], NULL, owner, (void *)(intptr_t)i) == 0);
	for (i = 0; i < SLOTS; i++)
		pthread_join(owners[i], NULL);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < CONNECTIONS; i++)
		pthread_join(fars[i], NULL);
	for (i = 0; i < USERS; i++)
		pthread_join(strangers[i], NULL);
	WANT((long)crossed, 0, 0, "bytes of another connection");
	WANT_TRUE(moved > (unsigned long)rounds, "bytes were moved");
}

/*
 * Connections that end and begin, by threads that take whatever number is lowest: the
 * ends of a connection are used by its maker alone, which knows them, and both check.
 */
static unsigned long made;

static bool speak(const int fd[2], int from, const char *text, size_t len)
{
	char got[16];

	return send(fd[from], text, len, MSG_NOSIGNAL) == (ssize_t)len &&
	       recv(fd[!from], got, len, MSG_WAITALL) == (ssize_t)len && !memcmp(got, text, len);
}

static void fresh_round(const struct transport *t, int thread, int round)
{
	char text[16];
	int fd[2], i;
	bool right;

	under_pair(t, fd);
	snprintf(text, sizeof(text), "%d.%09d", thread, round);
	for (right = true, i = 0; i < 4; i++)
		right &= speak(fd, i & 1, text, 12);
	__atomic_add_fetch(&crossed, !right, __ATOMIC_RELAXED);
	__atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
	close(fd[round & 1]);
	close(fd[!(round & 1)]);
}

struct maker {
	const struct transport *t;
	int thread;
	int rounds;
};

static void *maker(void *arg)
{
	const struct maker *m = arg;
	int i;

	for (i = 0; i < m->rounds; i++)
		fresh_round(m->t, m->thread, i);
	return NULL;
}

static void fresh(const struct transport *t, const struct under_case *c)
{
	int rounds = brief() ? 60 : soak_times(100, 200), i;
	struct maker m[SLOTS];
	pthread_t thread[SLOTS];

	for (i = 0; i < SLOTS; i++) {
		m[i] = (struct maker){ t, i, rounds };
		MUST(pthread_create(&thread[i], NULL, maker, &m[i]) == 0);
	}
	for (i = 0; i < SLOTS; i++)
		pthread_join(thread[i], NULL);
	WANT((long)crossed, 0, 0, "connections with other bytes than their own");
	WANT((long)made - SLOTS * rounds, 0, 0, "connections more or fewer");
}

/*
 * A number is given away while a thread sleeps in recv(): the sleeper gets no bytes of the
 * new connection; the new one's go to who receives them next.
 */
static long sleep_in_recv(void *arg)
{
	char buf[16];
	long n = recv(*(int *)arg, buf, sizeof(buf), 0);

	return n > 0 ? buf[0] : 0;
}

static void slept(const struct transport *t, const struct under_case *c)
{
	int times = soak_times(20, 50), i, number = FIRST;
	int a[2], b[2];
	char buf[16];
	struct task k;

	for (i = 0; i < times; i++) {
		under_pair(t, a);
		under_pair(t, b);
		MUST(dup2(a[0], number) == number);
		MUST(send(a[1], "a", 1, 0) == 1 && recv(number, buf, 16, 0) == 1);
		MUST(send(b[1], "b", 1, 0) == 1 && recv(b[0], buf, 16, 0) == 1);
		task_start(&k, sleep_in_recv, &number);
		MUST(task_sleeps(&k));
		MUST(dup2(b[0], number) == number);
		MUST(send(b[1], "b", 1, 0) == 1);
		MUST(send(a[1], "a", 1, 0) == 1);
		WANT_TRUE(task_join(&k) != 'b', "no byte of the new one");
		WANT(recv(number, buf, 16, MSG_DONTWAIT), 1, 0, "it is there");
		WANT(buf[0], 'b', 0, "the new one's byte");
		close(number);
		tcp_close(a);
		tcp_close(b);
	}
}

static const struct under_case cases[] = {
	{ "given", given, UNDER_BOTH | UNDER_LONG, 20, 20 },
	{ "given_few", given, UNDER_BOTH | UNDER_LONG, 20, 20, "SPEED_MAPPINGS=3" },
	{ "fresh", fresh, UNDER_BOTH | UNDER_LONG, 800, 800 },
	{ "slept", slept, UNDER_BOTH, 1, 1 },
};

UNDER_CASES(cases)
