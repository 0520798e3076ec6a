// SPDX-License-Identifier: GPL-2.0
/*
 * The first socket(AF_SPEED) loads the module where the administrator has said
 * so, in the file that comes with it, and nowhere else.
 *
 * For that the module is installed, so this is for a guest, which is thrown
 * away. The file is kmod/modprobe.conf of the tree: SPEED_TREE, or the
 * one that this was compiled in.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "module.h"
#include "stress.h"

#define GUESTS_MODULE	"/run/speed/speed.ko"
#define CONF		"/etc/modprobe.d/speed.conf"
#define OTHER_NUMBER	22	/* AF_SNA: reserved, and never implemented */

static char folder[256];
static int watching;
static pid_t watch;

static char *conf_text(void)
{
	static char text[4096];
	const char *env = getenv("SPEED_TREE");
	char path[512] = __FILE__;

	if (env && *env)
		snprintf(path, sizeof(path), "%s/kmod/modprobe.conf", env);
	else
		strcpy(strrchr(path, '/'), "/../kmod/modprobe.conf");
	if (file_read(path, text, sizeof(text) - 1))
		trace_skip("needs %s: SPEED_TREE", path);
	strcat(text, "\n");
	return text;
}

static int create(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return -1;
	close(fd);
	return file_write(path, text);
}

static int run(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Waits till a byte comes, or whoever could send one has ended. Return: whether one came. */
static bool hears(int fd)
{
	ssize_t n;
	char c;

	do {
		n = read(fd, &c, 1);
	} while (n < 0 && errno == EINTR);
	return n == 1;
}

/*
 * Takes away what install() lays over the kernel's modules when the body has ended, however
 * that was: the programs that follow need theirs. It is in no group that is killed, and does
 * nothing until it is told, by a byte, that there is something. Return: to be closed when
 * it may.
 */
static int keep_watch(void)
{
	int p[2], ready[2];

	MUST(pipe2(p, O_CLOEXEC) == 0 && pipe2(ready, O_CLOEXEC) == 0);
	watch = fork();
	MUST(watch >= 0);
	if (watch) {
		close(p[0]);
		close(ready[1]);
		MUST(hears(ready[0]));
		close(ready[0]);
		return p[1];
	}
	setsid();
	close(p[1]);
	MUST(write(ready[1], "r", 1) == 1);
	if (!hears(p[0]))
		_exit(1);
	hears(p[0]);
	unlink(CONF);
	_exit(umount2(folder, MNT_DETACH) ? 1 : 0);
}

/*
 * Over the kernel's modules, a folder with this one alone: nothing is changed on
 * the disk, and depmod has little to read.
 */
static void install(void)
{
	char command[512];
	struct utsname u;

	MUST(uname(&u) == 0);
	snprintf(folder, sizeof(folder), "/lib/modules/%s", u.release);
	mkdir("/lib/modules", 0755);
	mkdir(folder, 0755);
	watching = keep_watch();
	MUST(mount("speed", folder, "tmpfs", 0, NULL) == 0);
	MUST(write(watching, "m", 1) == 1);
	snprintf(command, sizeof(command),
		 "cd %s && mkdir updates && cp " GUESTS_MODULE " updates/ && "
		 "touch modules.order modules.builtin modules.builtin.modinfo && depmod", folder);
	MUST(run(command) == 0);
}

static void uninstall(void)
{
	close(watching);
	MUST(process_join(watch) == 0);
}

static bool is_covered(void)
{
	return !run("grep -q '^speed [^ ]*/lib/modules/' /proc/mounts");
}

static void begin(void)
{
	int tries;

	if (access(GUESTS_MODULE, R_OK))
		trace_skip("needs a guest, whose modules may be changed: " GUESTS_MODULE);
	if (run("command -v modprobe depmod >/dev/null"))
		trace_skip("needs modprobe and depmod");
	conf_text();
	module_need();
	/* Who watches over one that was ended may be a moment late. */
	for (tries = 0; tries < 200 && (!access(CONF, F_OK) || is_covered()); tries++)
		sleep_ms(50);
	WANT_ERR(access(CONF, F_OK), ENOENT, "no " CONF " at first");
	WANT_TRUE(!is_covered(), "nothing lies over the kernel's modules");
	install();
	WANT_OK(module_unload_soon(), "unload");
}

/* And leaves things as they were, but for what failed. */
static void end(void)
{
	uninstall();
	if (!module_loaded())
		WANT_OK(module_load(""), "load it as it was");
}

/* In a process that may do nothing else: whoever may call socket(). */
static int asks(void *family)
{
	int fd;

	if (setgid(12345) || setuid(12345))
		return 1;
	fd = socket(*(int *)family, SOCK_STREAM, 0);
	return fd >= 0 ? 0 : errno;
}

static void want_asked(int family, int err, const char *when)
{
	WANT(process_join(process_start(asks, &family)), err, 0, "errno of socket(%d), %s", family,
	     when);
	WANT_TRUE(module_loaded() == !err, "%s: %s", when, err ? "not loaded" : "loaded");
}

static void off(const struct transport *t)
{
	begin();
	want_asked(t->family, EAFNOSUPPORT, "installed");
	MUST(create(CONF, conf_text()) == 0);
	want_asked(t->family, EAFNOSUPPORT, "with its file as it comes");
	/* That was no accident of the installation. */
	WANT(run("modprobe speed"), 0, 0, "modprobe speed");
	want_asked(t->family, 0, "loaded by name");
	end();
}

/* As an administrator does: the comment sign before the line goes. */
static void enable(char *text, const char *line)
{
	char *at = strstr(text, line);

	MUST(at && at > text && at[-1] == '#');
	memmove(at - 1, at, strlen(at) + 1);
}

static void on(const struct transport *t)
{
	char *text;

	begin();
	text = conf_text();
	enable(text, "alias net-pf-18 speed");
	MUST(create(CONF, text) == 0);
	want_asked(t->family, 0, "enabled");
	WANT_OK(module_unload_soon(), "unload");
	want_asked(t->family, 0, "enabled, a second time");
	end();
}

static void replace(char *text, const char *from, int number)
{
	char *at = strstr(text, from), digits[16];

	MUST(at);
	snprintf(digits, sizeof(digits), "%d", number);
	memcpy(strstr(at, "18"), digits, 2);
}

/* The two lines of the file that name the number, both enabled. */
static void another_number(const struct transport *t)
{
	char text16[16] = "", *text;

	begin();
	text = conf_text();
	enable(text, "options speed family=18");
	enable(text, "alias net-pf-18 speed");
	replace(text, "family=18", OTHER_NUMBER);
	replace(text, "alias net-pf-18", OTHER_NUMBER);
	MUST(create(CONF, text) == 0);
	want_asked(t->family, EAFNOSUPPORT, "the usual number");
	want_asked(OTHER_NUMBER, 0, "the other one");
	WANT_OK(sysctl_get("family", text16, sizeof(text16)), "net.speed.family");
	WANT(atoi(text16), OTHER_NUMBER, 0, "it is that");
	WANT_OK(module_unload_soon(), "unload");
	end();
}

static const struct test_case cases[] = {
	{ "off", off, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "on", on, CASE_STREAM | CASE_SPEED | CASE_LONG },
	{ "another_number", another_number, CASE_STREAM | CASE_SPEED | CASE_LONG },
};

RUN_CASES(cases)
