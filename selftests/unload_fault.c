// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations that fail while the module is loaded, the last ones of the call first: it is
 * not there then, or it works; and nothing that stayed behind is in the way of the next
 * time. Needs CONFIG_FAULT_INJECTION, FAILSLAB and FAIL_PAGE_ALLOC.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "faults.h"
#include "module.h"
#include "stress.h"
#include "tcp_pair.h"

#define MANY	10000000	/* more than the call has */
#define LAST	400		/* of the module itself */

static bool works(const struct transport *t)
{
	struct end e[2];
	int fd[2];
	char c = 0;

	tp_pair_sized(t, e, 8192);
	MUST(end_send(&e[0], "a", 1, 0) == 1 && end_recv(&e[1], &c, 1, 0) == 1);
	pair_close(e);
	tcp_shim_set(1);
	tcp_fused_pair(fd);
	tcp_close(fd);
	tcp_shim_set(0);
	return c == 'a';
}

/* How many allocations it takes, most of them the kernel's own, before the module's. */
static int all(void)
{
	int n;

	faults_nth(MANY);
	MUST(module_load("") == 0);
	n = MANY - faults_left();
	MUST(module_unload_soon() == 0);
	return n;
}

/* What the kernel's own tables of a module need may do without, and says so. */
static bool without(const struct transport *t, int n)
{
	int ret, err;

	faults_nth(n);
	ret = module_load("");
	err = errno;
	MUST(faults_happened());
	if (ret) {
		WANT_TRUE(err == ENOMEM || err == ENOBUFS || err == EFAULT,
			  "without allocation %d: %s", n, strerrorname_np(err));
		WANT_TRUE(!module_loaded(), "without allocation %d: it is not there", n);
		return true;
	}
	WANT_TRUE(works(t), "without allocation %d: it works", n);
	WANT_OK(module_unload_soon(), "without allocation %d: unload", n);
	return false;
}

static void load(const struct transport *t)
{
	int n, at, refused = 0, step = soak() ? 1 : 23;

	module_need();
	faults_need();
	WANT_OK(module_unload_soon(), "unload");
	n = all();
	printf("# %d allocations\n", n);
	for (at = n - 1; at > n - LAST; at -= step)
		refused += without(t, at);
	printf("# %d refused\n", refused);
	WANT_TRUE(refused > LAST / step / 2, "refused: %d", refused);
	WANT_OK(module_load(""), "load it again");
	WANT_TRUE(works(t), "it works");
}

static const struct test_case cases[] = {
	{ "load", load, CASE_STREAM | CASE_SPEED | CASE_LONG },
};

RUN_CASES(cases)
