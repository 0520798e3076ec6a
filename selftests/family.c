// SPDX-License-Identifier: GPL-2.0
/*
 * The family's number is chosen when the module is loaded. One that is taken or
 * is none makes it refuse, with one line in the kernel log, and leave nothing.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "module.h"
#include "stress.h"

#define RECORD_MAX	8192
#define FREE		22	/* AF_SNA: reserved, and never implemented */

static int log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	MUST(fd >= 0);
	MUST(lseek(fd, 0, SEEK_END) == 0);
	return fd;
}

/* Counts what the log has had of this module's since it was opened; the last of it. */
static int log_lines(int fd, char *last)
{
	char record[RECORD_MAX + 1];
	int lines = 0;
	ssize_t n;

	*last = '\0';
	while ((n = read(fd, record, RECORD_MAX)) > 0 || (n < 0 && errno == EPIPE)) {
		char *text;

		if (n < 0)
			continue;
		record[n] = '\0';
		text = strchr(record, ';');
		MUST(text);
		text[strcspn(text, "\n")] = '\0';
		if (strncmp(text + 1, "speed", 5))
			continue;
		lines++;
		strcpy(last, text + 1);
	}
	close(fd);
	return lines;
}

/* Neither a socket family, nor a protocol, nor a file, nor a slab. */
static void want_nothing(const char *what)
{
	char text[16384];

	WANT_TRUE(!module_loaded(), "%s: not loaded", what);
	MUST(file_read("/proc/net/protocols", text, sizeof(text)) == 0);
	WANT_TRUE(!strstr(text, "\nSPEED "), "%s: no protocol", what);
	WANT_ERR(access("/proc/net/speed", F_OK), ENOENT, "%s: no list", what);
	WANT_ERR(access("/proc/net/speed_stat", F_OK), ENOENT, "%s: no counters", what);
	WANT_ERR(access("/proc/sys/net/speed", F_OK), ENOENT, "%s: no settings", what);
	WANT_ERR(access("/sys/kernel/slab/speed_pair", F_OK), ENOENT, "%s: no slab", what);
}

/* Since 7.3 init_module() says EBUSY for any module's EEXIST: that it is loaded, it means. */
static int told(int err)
{
	return err == EEXIST && kernel_since(7, 3) ? EBUSY : err;
}

static void refused(const char *number, int err, const char *says)
{
	char parameters[32], line[RECORD_MAX + 1], want[64];
	int log = log_open();

	snprintf(parameters, sizeof(parameters), "family=%s", number);
	WANT_ERR(module_load(parameters), told(err), "%s", parameters);
	WANT(log_lines(log, line), 1, 0, "%s: lines in the kernel log", parameters);
	snprintf(want, sizeof(want), "speed: address family %s is %s", number, says);
	WANT_TRUE(!strncmp(line, want, strlen(want)), "%s: \"%s\"", parameters, line);
	WANT_TRUE(strstr(line, "family=N"), "%s: and what to do", parameters);
	want_nothing(parameters);
}

static void reload(void)
{
	int fd;

	WANT_OK(module_load(""), "load it as it was");
	fd = speed_socket(SOCK_STREAM);
	WANT_TRUE(fd >= 0, "a socket");
	close(fd);
}

static void taken(const struct transport *t)
{
	int fd;

	module_need();
	WANT_OK(module_unload_soon(), "unload");
	want_nothing("unloaded");
	refused("1", EEXIST, "taken");
	refused("2", EEXIST, "taken");
	refused("16", EEXIST, "taken");
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	WANT_TRUE(fd >= 0, "family 1 is what it was");
	close(fd);
	WANT_ERR(socket(t->family, t->type, 0), EAFNOSUPPORT, "the usual number is nobody's");
	reload();
}

static void no_family(const struct transport *t)
{
	(void)t;
	module_need();
	WANT_OK(module_unload_soon(), "unload");
	refused("0", EINVAL, "not a family");
	refused("-1", EINVAL, "not a family");
	refused("1000", ENOBUFS, "not a family");
	WANT_ERR(module_load("family=x"), EINVAL, "family=x");
	want_nothing("family=x");
	reload();
}

static void works(const struct transport *t)
{
	struct end e[2];
	char buf[8];

	tp_pair(t, e);
	WANT(end_send(&e[0], "abc", 3, 0), 3, 0, "send");
	WANT(end_recv(&e[1], buf, 8, 0), 3, 0, "recv");
	WANT(end_send(&e[1], "defg", 4, 0), 4, 0, "send back");
	WANT(end_recv(&e[0], buf, 8, 0), 4, 0, "recv");
	pair_close(e);
}

/* Programs learn the number once, so another one asks. */
static int works_there(void *arg)
{
	(void)arg;
	MUST(freopen("/dev/null", "w", stdout));
	execl("/proc/self/exe", program_invocation_short_name, "--case", "works", NULL);
	return 255;
}

static void another(const struct transport *t)
{
	char parameters[32], text[16];

	module_need();
	WANT_OK(module_unload_soon(), "unload");
	snprintf(parameters, sizeof(parameters), "family=%d", FREE);
	WANT_OK(module_load(parameters), "%s", parameters);
	WANT_OK(sysctl_get("family", text, sizeof(text)), "net.speed.family");
	WANT(atoi(text), FREE, 0, "it is that");
	WANT_ERR(socket(t->family, t->type, 0), EAFNOSUPPORT, "the usual number is nobody's");
	WANT(process_join(process_start(works_there, NULL)), 0, 0, "connections, by all paths");
	WANT_OK(module_unload_soon(), "unload");
	reload();
}

static const struct test_case cases[] = {
	{ "taken", taken, CASE_STREAM | CASE_SPEED },
	{ "no_family", no_family, CASE_STREAM | CASE_SPEED },
	{ "works", works, CASE_BOTH | CASE_SPEED | CASE_PATHS },
	{ "another", another, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
