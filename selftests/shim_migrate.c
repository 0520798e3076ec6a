// SPDX-License-Identifier: GPL-2.0
/*
 * A connection that is made while its listener is being closed, and goes on to another of
 * the group (net.ipv4.tcp_migrate_req): it has nothing of the module's that it does not
 * hold, and so outlives it.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "delay.h"
#include "module.h"
#include "procfile.h"
#include "stress.h"
#include "tcp_pair.h"

#define ROUNDS	4
#define CLONES	"security_sk_alloc"	/* what a child's memory is asked of, on the way */
#define CLOSES	"tcp_close"

struct slow_call {
	struct delay_turn turn;
	struct address *a;
	int fd;
};

static long connect_slowly(void *arg)
{
	struct slow_call *c = arg;
	int delay = delay_begin_in_turn(&c->turn, CLONES);
	long ret = connect_to(c->fd, c->a);

	close(delay);
	return ret;
}

static long close_slowly(void *arg)
{
	struct slow_call *c = arg;
	int delay = delay_begin_in_turn(&c->turn, CLOSES);
	long ret = close(c->fd);

	close(delay);
	return ret;
}

static int listen_in_group(struct address *a)
{
	int fd = tcp_socket(a);

	MUST(set_int(fd, SOL_SOCKET, SO_REUSEPORT, 1) == 0);
	MUST(bind_to(fd, a) == 0 && listen(fd, 4) == 0);
	MUST(get_sockname(fd, a) == 0);
	return fd;
}

/*
 * The listener's child is cloned, the listener begins to close, the child is there, it ends.
 * Where it ends too soon the child is TCP's to reset, of plain TCP, too: some connect() meet
 * that already.
 */
static int migrated(int round, int fd[2])
{
	struct task connects, closes;
	struct slow_call c[2] = { 0 };
	struct address a;
	int heir, err;

	tcp_address(&a, LOCAL4, 0);
	c[1].fd = listen_in_group(&a);
	WANT_OK(tcp_set_ulp(c[1].fd, "speed"), "%d: it asks", round);
	c[0].fd = tcp_socket(&a);
	c[0].a = &a;
	task_start(&connects, connect_slowly, &c[0]);
	task_start(&closes, close_slowly, &c[1]);
	delay_await(&c[0].turn);
	delay_await(&c[1].turn);
	c[0].turn.go = true;
	sleep_ms(DELAY_MS / 4);
	heir = listen_in_group(&a);
	c[1].turn.go = true;
	err = task_join(&connects) ? errno : 0;
	WANT_TRUE(!err || err == ECONNRESET, "%d: connect: %s", round, strerrorname_np(err));
	WANT_OK(task_join(&closes), "%d: close", round);
	fd[0] = c[0].fd;
	fd[1] = poll_wait(heir, POLLIN, 500) ? accept(heir, NULL, NULL) : -1;
	close(heir);
	WANT_TRUE(!err || fd[1] < 0, "%d: what is accepted was connected", round);
	return fd[1] >= 0;
}

static int close_one(int round)
{
	bool unloaded;
	int fd[2];

	if (!migrated(round, fd)) {
		close(fd[0]);
		return 0;
	}
	WANT_TRUE(tcp_exchange(fd), "%d: exchange", round);
	/* It may hold the module: then there is nothing to find. */
	unloaded = !module_unload();
	sleep_ms(100);
	tcp_close(fd);
	sleep_ms(1000);
	WANT_TRUE(unloaded || !module_unload_soon(), "%d: unload", round);
	WANT_OK(module_load(""), "%d: load", round);
	return 1;
}

static void closing_listener(const struct transport *t)
{
	int i, n = 0;

	module_need();
	tcp_own_net();
	if (file_write("/proc/sys/net/ipv4/tcp_migrate_req", "1"))
		trace_skip("needs net.ipv4.tcp_migrate_req");
	if (access("/sys/kernel/security", F_OK))
		trace_skip("needs CONFIG_SECURITY, where a child is held up");
	for (i = 0; i < ROUNDS; i++)
		n += close_one(i);
	WANT_TRUE(n > 0, "of %d connections went on: %d", ROUNDS, n);
}

static const struct test_case cases[] = {
	{ "closing_listener", closing_listener, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
