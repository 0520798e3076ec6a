// SPDX-License-Identifier: GPL-2.0
/* The module, loaded and unloaded: see module.h. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "module.h"
#include "procfile.h"
#include "task.h"
#include "trace.h"

#define SOON_MS	20000

const char *module_file(void)
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

bool module_loaded(void)
{
	return !access("/sys/module/speed", F_OK);
}

int module_load(const char *parameters)
{
	int fd = open(module_file(), O_RDONLY | O_CLOEXEC), ret, err;

	MUST(fd >= 0);
	ret = syscall(SYS_finit_module, fd, parameters, 0);
	err = errno;
	close(fd);
	errno = err;
	return ret;
}

int module_unload(void)
{
	return syscall(SYS_delete_module, "speed", O_NONBLOCK);
}

int module_unload_soon(void)
{
	long until = now_ms() + SOON_MS;

	while (module_unload() && now_ms() < until) {
		if (errno != EAGAIN && errno != EBUSY)
			return -1;
		sleep_ms(50);
	}
	return module_loaded() ? -1 : 0;
}

void module_need(void)
{
	long until = now_ms() + SOON_MS;
	char text[16];

	if (geteuid())
		trace_skip("needs root, to unload the module");
	if (access(module_file(), R_OK))
		trace_skip("needs the module's file, to load it again: SPEED_MODULE");
	if (file_read("/sys/module/speed/refcnt", text, sizeof(text)))
		trace_skip("needs CONFIG_AF_SPEED=m and CONFIG_MODULE_UNLOAD");
	/* What others have closed before goes first. */
	while (atoi(text) && now_ms() < until) {
		sleep_ms(50);
		MUST(file_read("/sys/module/speed/refcnt", text, sizeof(text)) == 0);
	}
	WANT(atoi(text), 0, 0, "references at first");
}
