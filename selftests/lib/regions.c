// SPDX-License-Identifier: GPL-2.0
/* SOL_SPEED by hand: see regions.h. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "regions.h"
#include "trace.h"

int get_exact(int fd, int name, void *value, socklen_t len)
{
	socklen_t got = len;
	int ret = getsockopt(fd, SOL_SPEED, name, value, &got);

	if (ret == 0 && got != len)
		trace_num(got, "the length of option %d is not %d but", name, (int)len);
	return ret;
}

int lease_role(int fd, int role, struct speed_lease *l)
{
	*l = (struct speed_lease){ .role = role };
	return get_exact(fd, SPEED_LEASE, l, sizeof(*l));
}

static char *map(int fd, size_t len, int prot, off_t offset)
{
	void *at = mmap(NULL, len, prot, MAP_SHARED, fd, offset);

	MUST(at != MAP_FAILED || errno == EPERM);
	return at == MAP_FAILED ? NULL : at;
}

static void unmap(char *at, size_t len)
{
	if (at)
		munmap(at, len);
}

void unmap_all(const struct speed_lease *l, const struct regions *r)
{
	unmap(r->own, PAGE);
	unmap(r->peer, 2 * PAGE);
	unmap(r->data, 2 * l->size);
}

bool map_try(int fd, const struct speed_lease *l, struct regions *r)
{
	r->own = map(fd, PAGE, RW, l->off_own);
	r->peer = map(fd, 2 * PAGE, PROT_READ, l->off_peer);
	r->data = map(fd, 2 * l->size, l->role == SPEED_ROLE_TX ? RW : PROT_READ, l->off_data);
	if (r->own && r->peer && r->data)
		return true;
	unmap_all(l, r);
	errno = EPERM;
	return false;
}

void map_all(int fd, const struct speed_lease *l, struct regions *r)
{
	MUST(map_try(fd, l, r));
}

static sigjmp_buf fault;

static void on_fault(int sig)
{
	siglongjmp(fault, sig);
}

int touch(volatile char *at, bool write)
{
	int sig;

	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	sig = sigsetjmp(fault, 1);
	if (!sig) {
		if (write)
			*at = *at;
		else
			(void)*at;
	}
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	return sig;
}
