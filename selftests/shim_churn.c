// SPDX-License-Identifier: GPL-2.0
/*
 * Connections by the thousand that begin, are fused and end in all the ways in
 * which programs let them end. Nothing of them stays behind.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

#include "shim_held.h"
#include "stress.h"
#include "tcp_pair.h"

#define WORKERS		4
#define SOON_MS		20000

/* A worker's own listener; some ends need a fresh one. */
struct worker {
	struct chance c;
	struct address a;
	int listener;
};

static void open_listener(struct worker *w)
{
	w->listener = tcp_listen_at(LOCAL4, 0, &w->a);
}

static void reset_on_close(int fd)
{
	struct linger l = { .l_onoff = 1 };

	MUST(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)) == 0);
}

static bool read_to_end(int fd, size_t want)
{
	char c;

	return tcp_get(fd, want, 0) && recv(fd, &c, 1, 0) == 0;
}

static bool is_reset(int fd)
{
	char buf[16384];
	ssize_t n;

	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0)
		;
	return n < 0 && errno == ECONNRESET;
}

/* ---- ends; each leaves both descriptors to be closed ---- */

static bool no_data(struct worker *w, int fd[2])
{
	return true;
}

static bool exchange(struct worker *w, int fd[2])
{
	return tcp_exchange(fd) && tcp_exchange(fd);
}

/* What is written before close() is read before the end. */
static bool write_and_close(struct worker *w, int fd[2])
{
	size_t len = 1 + chance_below(&w->c, 30000);
	int end = chance_below(&w->c, 2);

	if (!tcp_put(fd[end], len, 0))
		return false;
	close(fd[end]);
	fd[end] = -1;
	return read_to_end(fd[!end], len);
}

static bool reset(struct worker *w, int fd[2])
{
	int end = chance_below(&w->c, 2);

	if (chance_below(&w->c, 2) && !tcp_exchange(fd))
		return false;
	reset_on_close(fd[end]);
	close(fd[end]);
	fd[end] = -1;
	return is_reset(fd[!end]);
}

/* Closed with bytes that were not read: the other end learns of it. */
static bool unread(struct worker *w, int fd[2])
{
	int end = chance_below(&w->c, 2);

	if (!tcp_put(fd[end], 1 + chance_below(&w->c, 9000), 0))
		return false;
	if (chance_below(&w->c, 2) && recv(fd[!end], (char [1]){ 0 }, 1, 0) != 1)
		return false;
	if (chance_below(&w->c, 2) && !tcp_put(fd[!end], 10, 0))
		return false;
	/* The only byte of all may just have been read. */
	if (!tcp_put(fd[end], 5, 0))
		return false;
	/* By TCP they may all be under way still, and a close then is an end. */
	if (!poll_wait(fd[!end], POLLIN, SOON_MS))
		return false;
	close(fd[!end]);
	fd[!end] = -1;
	return is_reset(fd[end]);
}

static bool half_closed(struct worker *w, int fd[2])
{
	int end = chance_below(&w->c, 2);

	return tcp_put(fd[end], 100, 0) && !shutdown(fd[end], SHUT_WR) &&
	       read_to_end(fd[!end], 100) && tcp_put(fd[!end], 5000, 0) &&
	       !shutdown(fd[!end], SHUT_RDWR) && read_to_end(fd[end], 5000);
}

static bool shut_reading(struct worker *w, int fd[2])
{
	return tcp_exchange(fd) && !shutdown(fd[0], SHUT_RD) &&
	       recv(fd[0], (char [1]){ 0 }, 1, 0) == 0 && tcp_put(fd[0], 300, 0) &&
	       tcp_get(fd[1], 300, 0) && tcp_put(fd[1], 300, 0);
}

static bool bulk(struct worker *w, int fd[2])
{
	return tcp_pump(fd[0], fd[1], 350000) && tcp_put(fd[1], 70000, 0);
}

static bool given_up(struct worker *w, int fd[2])
{
	int end = chance_below(&w->c, 2);

	return tcp_exchange(fd) && !tcp_give_up(fd[end]) && is_reset(fd[!end]);
}

/* Back on TCP, where it can be said so, when it ends. */
static bool unfused(struct worker *w, int fd[2])
{
	if (!tcp_exchange(fd))
		return false;
	tcp_set_fuse(fd[chance_below(&w->c, 2)], 0);
	return tcp_put(fd[0], 2000, 0) && tcp_get(fd[1], 2000, 0);
}

/* Killed in the middle of a stream, with bytes unread both ways. */
static bool killed(struct worker *w, int fd[2])
{
	pid_t pid = fork();

	MUST(pid >= 0);
	if (!pid) {
		tcp_put(fd[0], 5000, 0);
		tcp_put(fd[1], 5000, 0);
		raise(SIGKILL);
	}
	tcp_close(fd);
	fd[0] = fd[1] = -1;
	return process_join(pid) == -SIGKILL;
}

static bool (*const ends[])(struct worker *w, int fd[2]) = {
	no_data, exchange, exchange, exchange, write_and_close, write_and_close, reset, unread,
	unread, half_closed, shut_reading, bulk, given_up, unfused, killed,
};

#define ENDS	(sizeof(ends) / sizeof(ends[0]))

/* Closed, it resets those that nobody accepted; with bytes of theirs or without. */
static bool never_accepted(struct worker *w)
{
	int fd[3], i;
	bool ok = true;

	for (i = 0; i < 3; i++) {
		fd[i] = tcp_socket(&w->a);
		ok &= connect_to(fd[i], &w->a) == 0;
		ok &= !i || tcp_put(fd[i], 3000 * i, 0);
	}
	close(fd[2]);
	close(w->listener);
	for (i = 0; i < 2; i++) {
		ok &= is_reset(fd[i]);
		close(fd[i]);
	}
	open_listener(w);
	return ok;
}

static bool accepted(struct worker *w, size_t kind)
{
	int fd[2];
	bool ok;

	tcp_join(w->listener, &w->a, tcp_socket(&w->a), fd);
	ok = ends[kind](w, fd);
	tcp_close(fd);
	return ok;
}

/* ---- workers ---- */

static struct {
	atomic_int left;
	atomic_int failed[ENDS + 1];
	atomic_bool stop;
} *churn;

static int work(void *arg)
{
	struct worker w = { .c = { 1 + *(int *)arg } };
	size_t kind;
	bool ok;

	open_listener(&w);
	while (churn->left-- > 0) {
		kind = chance_below(&w.c, ENDS + 1);
		ok = kind < ENDS ? accepted(&w, kind) : never_accepted(&w);
		churn->failed[kind] += !ok;
	}
	return 0;
}

static long flip(void *arg)
{
	int on = 1;

	while (!churn->stop) {
		on = !on;
		tcp_shim_set(on);
		usleep(on ? 40000 : 10000);
	}
	return 0;
}

static void run(int connections, bool flips)
{
	long begin = now_ms();
	int number[WORKERS];
	pid_t pid[WORKERS];
	struct task k;
	size_t i;

	churn->left = connections;
	churn->stop = false;
	for (i = 0; i < WORKERS; i++) {
		number[i] = i;
		pid[i] = process_start(work, &number[i]);
	}
	if (flips)
		task_start(&k, flip, NULL);
	for (i = 0; i < WORKERS; i++)
		WANT(process_join(pid[i]), 0, 0, "a worker");
	churn->stop = true;
	if (flips)
		task_join(&k);
	trace_num(connections * 1000l / (now_ms() - begin + 1), "connections a second");
	for (i = 0; i <= ENDS; i++)
		WANT(churn->failed[i], 0, 0, "wrong ends of kind %zu", i);
}

static void begin(struct shim_held *held)
{
	tcp_shim_net();
	shim_orphans_brief();
	churn = mmap(NULL, sizeof(*churn), RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(churn != MAP_FAILED);
	run(100, false);
	shim_held_begin(held);
}

static void steady(const struct transport *t)
{
	struct shim_held held;
	long paired;

	begin(&held);
	paired = stat_number("tcp_paired");
	run(soak_times(1500, 50), false);
	WANT_TRUE(stat_number("tcp_paired") - paired >= soak_times(1500, 50), "all were paired");
	shim_held_end(&held);
}

static void flipped(const struct transport *t)
{
	struct shim_held held;

	begin(&held);
	run(soak_times(500, 50), true);
	shim_held_end(&held);
}

static const struct test_case cases[] = {
	{ "steady", steady, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "flipped", flipped, CASE_STREAM | CASE_SPEED | CASE_LONG },
};

RUN_CASES(cases)
