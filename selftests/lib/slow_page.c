// SPDX-License-Identifier: GPL-2.0
/* A page that comes late, by userfaultfd. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "regions.h"
#include "slow_page.h"
#include "trace.h"

void slow_page_open(struct slow_page *s)
{
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };

	s->uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (s->uffd < 0)
		trace_skip("needs userfaultfd (CONFIG_USERFAULTFD, root)");
	MUST(!ioctl(s->uffd, UFFDIO_API, &api));
	s->at = mmap(NULL, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(s->at != MAP_FAILED);
	reg.range.start = (unsigned long)s->at;
	reg.range.len = PAGE;
	MUST(!ioctl(s->uffd, UFFDIO_REGISTER, &reg));
}

void slow_page_give(struct slow_page *s, const char *text)
{
	char *full = aligned_alloc(PAGE, PAGE);
	struct uffdio_copy c = { .dst = (unsigned long)s->at, .src = (unsigned long)full,
				 .len = PAGE };

	MUST(full);
	memset(full, 0, PAGE);
	memcpy(full, text, strlen(text));
	MUST(!ioctl(s->uffd, UFFDIO_COPY, &c));
	free(full);
}

void slow_page_close(struct slow_page *s)
{
	close(s->uffd);
	munmap(s->at, PAGE);
}

long slow_send(void *arg)
{
	struct slow *s = arg;

	return send(s->fd, s->page.at, SLOW_BYTES, MSG_NOSIGNAL);
}

long slow_recv(void *arg)
{
	struct slow *s = arg;

	return recv(s->fd, s->page.at, SLOW_BYTES, 0);
}
