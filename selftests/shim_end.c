// SPDX-License-Identifier: GPL-2.0
/*
 * What a fused connection lives in goes before it does: its network namespace, its
 * control group, and, if it were allowed, the module.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "group.h"
#include "module.h"
#include "shim_held.h"
#include "stress.h"
#include "tcp_pair.h"


static int here(void)
{
	int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	MUST(fd >= 0);
	return fd;
}

/* The sockets alone hold the namespace. */
static void namespace_left(const struct transport *t)
{
	int home = here(), fd[2], i;
	struct shim_held held;

	(void)t;
	tcp_own_net();
	shim_held_begin(&held);
	MUST(setns(home, CLONE_NEWNET) == 0);
	for (i = 0; i < soak_times(8, 10); i++) {
		tcp_shim_net();
		tcp_fused_pair(fd);
		WANT_TRUE(tcp_put(fd[0], 3000, 0) && tcp_put(fd[1], 3000, 0), "unread");
		MUST(setns(home, CLONE_NEWNET) == 0);
		sleep_ms(20);
		WANT_TRUE(tcp_get(fd[1], 3000, 0), "read, the namespace left");
		if (i & 1)
			WANT_TRUE(tcp_get(fd[0], 3000, 0) && tcp_exchange(fd) && tcp_fused(fd),
				  "fused, the namespace left");
		if (i & 2)
			shutdown(fd[0], SHUT_WR);
		tcp_close(fd);
	}
	tcp_own_net();
	shim_held_end(&held);
}

static int dies_abroad(void *arg)
{
	int fd[2];

	tcp_shim_net();
	tcp_fused_pair(fd);
	tcp_put(fd[0], 300000, 0);
	tcp_put(fd[1], 100, 0);
	raise(SIGKILL);
	return 0;
}

static void namespace_killed(const struct transport *t)
{
	struct shim_held held;
	int i;

	(void)t;
	tcp_own_net();
	shim_held_begin(&held);
	for (i = 0; i < soak_times(8, 10); i++)
		WANT(process_join(process_start(dies_abroad, NULL)), -SIGKILL, 0,
		     "with its only process");
	shim_held_end(&held);
}

static long dying(void)
{
	char text[512], *at;

	MUST(file_read(GROUPS "/cgroup.stat", text, sizeof(text)) == 0);
	at = strstr(text, "nr_dying_descendants ");
	MUST(at);
	return strtol(at + strlen("nr_dying_descendants "), NULL, 10);
}

union rights {
	char buf[CMSG_SPACE(2 * sizeof(int))];
	struct cmsghdr head;
};

static struct msghdr rights_header(union rights *r, struct iovec *iov)
{
	static char byte;

	*iov = (struct iovec){ &byte, 1 };
	memset(r, 0, sizeof(*r));
	r->head.cmsg_level = SOL_SOCKET;
	r->head.cmsg_type = SCM_RIGHTS;
	r->head.cmsg_len = CMSG_LEN(2 * sizeof(int));
	return (struct msghdr){
		.msg_iov = iov, .msg_iovlen = 1, .msg_control = r->buf,
		.msg_controllen = sizeof(r->buf),
	};
}

/* Made in a group by a process that ends, and passed to one outside of it. */
static int opens_in_group(void *arg)
{
	union rights r;
	struct iovec iov;
	struct msghdr m = rights_header(&r, &iov);
	int fd[2];

	if (group_enter(GROUP))
		return 1;
	tcp_pair(fd);
	if (!tcp_exchange(fd) || !tcp_fused(fd) || !tcp_put(fd[0], 200000, 0))
		return 2;
	memcpy(CMSG_DATA(&r.head), fd, sizeof(fd));
	return sendmsg(*(int *)arg, &m, 0) == 1 ? 0 : 3;
}

static void open_in_group(int fd[2])
{
	union rights r;
	struct iovec iov;
	struct msghdr m = rights_header(&r, &iov);
	int over[2];

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, over) == 0);
	WANT(process_join(process_start(opens_in_group, &over[1])), 0, 0, "a process in it");
	MUST(recvmsg(over[0], &m, MSG_DONTWAIT) == 1 && m.msg_controllen);
	memcpy(fd, CMSG_DATA(&r.head), 2 * sizeof(int));
	close(over[0]);
	close(over[1]);
}

static void group_removed(const struct transport *t)
{
	struct shim_held held;
	int fd[2], i;
	long before, until;

	(void)t;
	tcp_shim_net();
	group_need();
	before = dying();
	shim_held_begin(&held);
	for (i = 0; i < soak_times(8, 10); i++) {
		group_need();
		open_in_group(fd);
		WANT_OK(rmdir(GROUP), "rmdir");
		WANT_TRUE(tcp_get(fd[1], 200000, 0) && tcp_exchange(fd) && tcp_fused(fd),
			  "fused, the group removed");
		WANT_TRUE(tcp_pump(fd[0], fd[1], 400000), "bulk");
		if (i == 1)
			sleep_ms(2500);
		WANT_TRUE(tcp_exchange(fd), "exchange");
		tcp_close(fd);
	}
	shim_held_end(&held);
	file_write("/proc/sys/vm/drop_caches", "2");
	for (until = now_ms() + 60000; dying() > before && now_ms() < until;)
		sleep_ms(200);
	/* Each processor keeps one that it gave memory back to lately. */
	WANT_TRUE(dying() <= before + sysconf(_SC_NPROCESSORS_ONLN),
		  "groups that do not go: %ld, %ld before", dying(), before);
}

/* The module stays while a socket takes part, in whatever state. */
static void unload_refused(const struct transport *t)
{
	struct address a;
	int fd[2], client;

	(void)t;
	module_need();
	tcp_shim_net();
	tcp_fused_pair(fd);
	WANT_ERR(module_unload(), EAGAIN, "with a fused connection");
	tcp_shim_set(0);
	WANT_ERR(module_unload(), EAGAIN, "switched off");
	WANT_TRUE(tcp_unfuses(fd), "unfused");
	WANT_ERR(module_unload(), EAGAIN, "unfused");
	close(fd[0]);
	WANT_ERR(module_unload(), EAGAIN, "half of it closed");
	close(fd[1]);
	WANT_OK(module_unload_soon(), "with nothing");
	WANT_OK(module_load(""), "load it again");
	client = tcp_listen_at(LOCAL4, 0, &a);
	MUST(tcp_set_ulp(client, "speed") == 0);
	WANT_ERR(module_unload(), EAGAIN, "with a listener that asked for it");
	close(client);
	tcp_shim_set(1);
	WANT_OK(module_unload_soon(), "switched on, with nothing");
	tcp_pair(fd);
	WANT_TRUE(tcp_exchange(fd), "TCP without the module");
	WANT_OK(module_load(""), "load it again");
	WANT_TRUE(tcp_exchange(fd) && !tcp_takes_part(fd[0]), "it is left alone");
	tcp_close(fd);
	tcp_shim_set(1);
	tcp_fused_pair(fd);
	tcp_close(fd);
}

static int churns(void *arg)
{
	long until = now_ms() + *(int *)arg * 1000;
	int fd[2], i;

	for (i = 0; now_ms() < until; i++) {
		tcp_pair(fd);
		if (!tcp_exchange(fd) || !tcp_put(fd[0], 10, 0))
			return 1;
		/* Every other one is reset. */
		if ((i & 1) && !tcp_get(fd[1], 10, 0))
			return 2;
		tcp_close(fd);
		if (i % 8 == 0)
			usleep(2000);
	}
	return 0;
}

/* Tried at every moment; each time that it goes it is loaded and switched on again. */
static void unload_tried(const struct transport *t)
{
	int seconds = soak_times(4, 15), tries = 0, gone = 0;
	long until = now_ms() + seconds * 1000;
	pid_t pid[2];

	(void)t;
	module_need();
	tcp_shim_net();
	/* The sum of both is nothing at some moments, and something at others. */
	pid[0] = process_start(churns, &seconds);
	pid[1] = process_start(churns, &seconds);
	while (now_ms() < until) {
		tries++;
		if (!module_unload()) {
			gone++;
			MUST(module_load("") == 0);
			tcp_shim_set(1);
		} else if (errno != EAGAIN && errno != EBUSY) {
			WANT_OK(-1, "unload");
		}
		usleep(500);
	}
	WANT(process_join(pid[0]), 0, 0, "connections meanwhile");
	WANT(process_join(pid[1]), 0, 0, "and more");
	trace_num(tries, "tries");
	WANT_TRUE(gone > 0, "times that it went: %d", gone);
	WANT_OK(module_unload_soon(), "at the end");
	WANT_OK(module_load(""), "load it again");
}

static const struct test_case cases[] = {
	{ "namespace_left", namespace_left, CASE_STREAM | CASE_SPEED },
	{ "namespace_killed", namespace_killed, CASE_STREAM | CASE_SPEED },
	{ "group_removed", group_removed, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "unload_refused", unload_refused, CASE_STREAM | CASE_SPEED },
	{ "unload_tried", unload_tried, CASE_STREAM | CASE_SPEED | CASE_LONG },
};

RUN_CASES(cases)
