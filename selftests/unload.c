// SPDX-License-Identifier: GPL-2.0
/*
 * The module stays while a socket or a mapping is there, goes when the last one
 * has gone, and works when it is loaded again.
 *
 * The module's file: SPEED_MODULE, or where the guests and modprobe have it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "stress.h"

static const char *module_file(void)
{
	static char path[512];
	const char *env = getenv("SPEED_MODULE");
	struct utsname u;

	if (env && *env)
		return env;
	if (!access("/run/speed/speed.ko", R_OK))
		return "/run/speed/speed.ko";
	MUST(uname(&u) == 0);
	snprintf(path, sizeof(path), "/lib/modules/%s/updates/speed.ko", u.release);
	return path;
}

static int load(void)
{
	int fd = open(module_file(), O_RDONLY | O_CLOEXEC), ret;

	MUST(fd >= 0);
	ret = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return ret;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "speed", O_NONBLOCK);
}

/* The last references go a moment after the last close. */
static int unload_soon(void)
{
	long until = now_ms() + 20000;

	while (unload() && now_ms() < until) {
		if (errno != EAGAIN && errno != EBUSY)
			return -1;
		sleep_ms(50);
	}
	return access("/sys/module/speed", F_OK) ? 0 : -1;
}

static void need_module(void)
{
	char text[16];

	if (geteuid())
		trace_skip("needs root, to unload the module");
	if (access(module_file(), R_OK))
		trace_skip("needs the module's file, to load it again: SPEED_MODULE");
	if (file_read("/sys/module/speed/refcnt", text, sizeof(text)))
		trace_skip("needs CONFIG_AF_SPEED=m and CONFIG_MODULE_UNLOAD");
	WANT(atoi(text), 0, 0, "references at first");
}

static void refused(const struct transport *t)
{
	struct transport u = by_hand_0(t);
	struct address a;
	struct end e[2];
	struct raw w;
	int fd;
	char c;

	need_module();
	fd = tp_socket(t, 0);
	WANT_ERR(unload(), EAGAIN, "with a fresh socket");
	close(fd);
	fd = tp_listen(t, 4, &a);
	WANT_ERR(unload(), EAGAIN, "with a listener");
	close(fd);
	tp_pair_sized(&u, e, 8192);
	WANT_ERR(unload(), EAGAIN, "with a connection");
	WANT(send(e[0].fd, "x", 1, 0), 1, 0, "which works");
	raw_open(&w, e[0].fd, SPEED_ROLE_TX);
	pair_close(e);
	WANT_ERR(unload(), EAGAIN, "with a mapping alone");
	c = *(volatile char *)w.r.data;
	WANT(c, 0, 0, "which reads as zero");
	raw_unmap(&w);
	WANT_OK(unload_soon(), "with nothing");
	WANT_ERR(socket(t->family, t->type, 0), EAFNOSUPPORT, "socket without the module");
	WANT_OK(load(), "load it again");
	tp_pair_sized(t, e, 8192);
	WANT(end_send(&e[0], "abc", 3, 0), 3, 0, "send");
	WANT(end_recv(&e[1], &c, 1, 0), 1, 0, "recv");
	pair_close(e);
}

/* Idle rings wait for the reaper; the pool is full: neither holds the module. */
static void again(const struct transport *t)
{
	struct end e[2];
	int i;

	need_module();
	for (i = 0; i < soak_times(3, 20); i++) {
		char buf[2000] = "";

		tp_pair_sized(t, e, 8192);
		WANT(end_send(&e[0], buf, sizeof(buf), 0), sizeof(buf), 0, "send");
		WANT(end_send(&e[1], buf, sizeof(buf), 0), sizeof(buf), 0, "send back");
		pair_close(e);
		WANT_OK(unload_soon(), "unload");
		WANT_OK(load(), "load");
	}
}

static const struct test_case cases[] = {
	{ "refused", refused, CASE_STREAM | CASE_SPEED },
	{ "again", again, CASE_STREAM | CASE_SPEED | CASE_PATHS | CASE_UNMAPPED },
};

RUN_CASES(cases)
