// SPDX-License-Identifier: GPL-2.0
/*
 * System calls of a 32-bit program: int $0x80 enters the kernel as one does, from
 * here, too. What AF_SPEED has of its own (ioctls and options) is asked for by
 * both ways, and the results must be the same.
 *
 * Addresses have 32 bits there: all that is pointed to lies in the low pages
 * that struct low is made of.
 */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stress.h"

#ifdef __x86_64__

#define RING		8192
/* arch/x86/entry/syscalls/syscall_32.tbl */
#define NR_GETPID_32	20
#define NR_IOCTL_32	54
#define NR_GETSOCKOPT_32 365

struct low {
	struct speed_wait wait;
	struct speed_info info;
	struct speed_lease lease;
	int number;
	socklen_t len;
};

enum way { NATIVE, COMPAT, WAYS };

static const char *const way_names[] = { "64 bit", "32 bit" };

static long int80(long nr, long a, long b, long c, long d, long e)
{
	long ret;

	asm volatile("int $0x80"
		     : "=a" (ret)
		     : "a" (nr), "b" (a), "c" (b), "d" (c), "S" (d), "D" (e)
		     : "memory", "cc", "r8", "r9", "r10", "r11");
	if (ret >= -4095 && ret < 0) {
		errno = -ret;
		return -1;
	}
	return ret;
}

static int tries(void *arg)
{
	return int80(NR_GETPID_32, 0, 0, 0, 0, 0) != getpid();
}

static struct low *need_compat(void)
{
	struct low *low;
	int status = process_join(process_start(tries, NULL));

	if (status)
		trace_skip("needs CONFIG_IA32_EMULATION: int $0x80 ends with %d", status);
	low = mmap(NULL, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	MUST(low != MAP_FAILED);
	return low;
}

static int ioctl_by(enum way way, int fd, unsigned long cmd, unsigned long arg)
{
	if (way == NATIVE)
		return syscall(SYS_ioctl, fd, cmd, arg);
	return int80(NR_IOCTL_32, fd, cmd, arg, 0, 0);
}

static int getsockopt_by(enum way way, int fd, int name, void *value, socklen_t *len)
{
	if (way == NATIVE)
		return getsockopt(fd, SOL_SPEED, name, value, len);
	return int80(NR_GETSOCKOPT_32, fd, SOL_SPEED, name, (long)value, (long)len);
}

/* ---- each by both ways ---- */

#define BOTH_WAYS(way)		for (way = NATIVE; way < WAYS; way++)
#define WAIT(fd)		ioctl_by(way, fd, SPEED_IOC_WAIT, (unsigned long)&low->wait)
#define WAKE(fd, flags)		ioctl_by(way, fd, SPEED_IOC_WAKE, flags)

static void refusals(const struct transport *t)
{
	struct low *low = need_compat();
	int fd = tp_socket(t, 0);
	struct end e[2];
	enum way way;

	tp_pair(t, e);
	BOTH_WAYS(way) {
		const char *by = way_names[way];

		low->wait = (struct speed_wait){ 0 };
		WANT_ERR(WAKE(fd, SPEED_WAKE_READER), ENOTCONN, "%s: wake, no peer", by);
		WANT_ERR(WAIT(fd), ENOTCONN, "%s: wait, no peer", by);
		WANT_OK(WAKE(e[0].fd, 0), "%s: wake nobody", by);
		WANT_ERR(WAKE(e[0].fd, 1u << 4), EINVAL, "%s: wake, an unknown bit", by);
		WANT_ERR(WAKE(e[0].fd, 1u << 31), EINVAL, "%s: wake, the highest bit", by);
		WANT_OK(WAIT(e[0].fd), "%s: wait for nothing", by);
		low->wait.reserved = 1;
		WANT_ERR(WAIT(e[0].fd), EINVAL, "%s: wait, a reserved field", by);
		low->wait = (struct speed_wait){ .flags = SPEED_WAIT_DATA, .want = 1ull << 32 };
		WANT_ERR(WAIT(e[0].fd), EINVAL, "%s: wait for more than 32 bits", by);
		low->wait.want = 1;
		WANT_ERR(WAIT(e[0].fd), ESTALE, "%s: wait without a lease", by);
		WANT_ERR(ioctl_by(way, e[0].fd, SPEED_IOC_WAIT, 0), EFAULT, "%s: no struct", by);
		WANT_ERR(ioctl_by(way, e[0].fd, _IO(0xB5, 99), 0), ENOTTY, "%s: unknown", by);
	}
	pair_close(e);
	close(fd);
}

/* The upper half of what a 32-bit program passes is not there. */
static void upper_half(const struct transport *t)
{
	const unsigned long upper = 1ul << 40;
	struct low *low = need_compat();
	struct end e[2];

	tp_pair(t, e);
	low->wait = (struct speed_wait){ 0 };
	WANT_ERR(ioctl_by(NATIVE, e[0].fd, SPEED_IOC_WAKE, upper), EINVAL, "64 bit: wake");
	WANT_OK(ioctl_by(COMPAT, e[0].fd, SPEED_IOC_WAKE, upper), "32 bit: wake");
	WANT_ERR(ioctl_by(NATIVE, e[0].fd, SPEED_IOC_WAIT, (unsigned long)&low->wait | upper),
		 EFAULT, "64 bit: wait");
	WANT_OK(ioctl_by(COMPAT, e[0].fd, SPEED_IOC_WAIT, (unsigned long)&low->wait | upper),
		"32 bit: wait");
	pair_close(e);
}

static void counts(const struct transport *t)
{
	struct low *low = need_compat();
	struct end e[2];
	enum way way;

	tp_pair(t, e);
	WANT(end_send(&e[0], "abcdef", 6, 0), 6, 0, "send");
	BOTH_WAYS(way) {
		low->number = -1;
		WANT_OK(ioctl_by(way, e[1].fd, SIOCINQ, (unsigned long)&low->number),
			"%s: SIOCINQ", way_names[way]);
		WANT(low->number, 6, 0, "%s: it says", way_names[way]);
		low->number = -1;
		WANT_OK(ioctl_by(way, e[0].fd, SIOCOUTQ, (unsigned long)&low->number),
			"%s: SIOCOUTQ", way_names[way]);
		WANT_TRUE(low->number >= 6, "%s: it says %d", way_names[way], low->number);
		WANT_ERR(ioctl_by(way, e[1].fd, SIOCINQ, 0), EFAULT, "%s: SIOCINQ, bad pointer",
			 way_names[way]);
	}
	pair_close(e);
}

/* ---- a wait that another process's bytes and wake-up end ---- */

struct sleeper {
	enum way way;
	int fd;
	struct low *low;
};

static long waits(void *arg)
{
	struct sleeper *s = arg;

	return ioctl_by(s->way, s->fd, SPEED_IOC_WAIT, (unsigned long)&s->low->wait);
}

static void wait_and_wake(const struct transport *t)
{
	struct low *low = need_compat();
	enum way way;

	BOTH_WAYS(way) {
		const char *by = way_names[way];
		struct sleeper s = { way, .low = low };
		struct raw tx, rx;
		struct end e[2];
		struct task k;

		tp_pair_sized(t, e, RING / 2);
		raw_open(&tx, e[0].fd, SPEED_ROLE_TX);
		raw_open(&rx, e[1].fd, SPEED_ROLE_RX);
		s.fd = e[1].fd;
		low->wait = (struct speed_wait){ SPEED_WAIT_DATA, .want = 8 };
		task_start(&k, waits, &s);
		WANT_TRUE(task_sleeps(&k), "%s: the reader waits", by);
		memcpy(tx.r.data, "12345678", 8);
		raw_publish(&tx, 8);
		WANT_TRUE(task_sleeps(&k), "%s: bytes alone do not wake it", by);
		WANT_OK(WAKE(e[0].fd, SPEED_WAKE_READER), "%s: wake", by);
		WANT_OK(task_join(&k), "%s: the reader goes on", by);
		WANT_TRUE(!memcmp(rx.r.data, "12345678", 8), "%s: its bytes", by);

		low->wait = (struct speed_wait){ SPEED_WAIT_DATA, .want = 16 };
		MUST(set_timeout(e[1].fd, SO_RCVTIMEO, 50) == 0);
		WANT_ERR(WAIT(e[1].fd), EAGAIN, "%s: a wait in vain", by);
		low->wait.want = 8;
		WANT_OK(WAIT(e[1].fd), "%s: a wait for what is there", by);
		raw_publish(&rx, 8);
		raw_unmap(&tx);
		raw_unmap(&rx);
		pair_close(e);
	}
}

/* ---- options ---- */

#define GET(name, field)							\
	(low->len = sizeof(low->field),						\
	 getsockopt_by(way, e[0].fd, name, &low->field, &low->len))

static void options(const struct transport *t)
{
	struct low *low = need_compat();
	enum way way;

	BOTH_WAYS(way) {
		const char *by = way_names[way];
		struct end e[2];

		tp_pair_sized(t, e, RING / 2);
		WANT_OK(GET(SPEED_MAGIC, number), "%s: SPEED_MAGIC", by);
		WANT_TRUE(low->number == (int)SPEED_MAGIC_VALUE, "%s: its value", by);
		WANT_OK(GET(SPEED_INFO, info), "%s: SPEED_INFO", by);
		WANT(low->len, sizeof(struct speed_info), 0, "%s: its length", by);
		WANT(low->info.state, SPEED_STATE_CONNECTED, 0, "%s: the state", by);
		WANT_TRUE(low->info.pair, "%s: the pair", by);
		low->lease = (struct speed_lease){ .role = SPEED_ROLE_TX };
		WANT_OK(GET(SPEED_LEASE, lease), "%s: SPEED_LEASE", by);
		WANT(low->lease.size, RING, 0, "%s: the ring's size", by);
		/* mmap2() counts pages by 32 bits. */
		WANT_TRUE((low->lease.off_own | low->lease.off_peer | low->lease.off_data) <
			  1ull << 44, "%s: offsets that mmap2() can ask for", by);
		pair_close(e);
	}
}

static const struct test_case cases[] = {
	{ "refusals", refusals, CASE_BOTH | CASE_SPEED },
	{ "upper_half", upper_half, CASE_STREAM | CASE_SPEED },
	{ "counts", counts, CASE_BOTH | CASE_SPEED },
	{ "wait_and_wake", wait_and_wake, CASE_BOTH | CASE_SPEED },
	{ "options", options, CASE_BOTH | CASE_SPEED },
};

#else

static void none(const struct transport *t)
{
	trace_skip("knows 32-bit system calls of x86 alone");
}

static const struct test_case cases[] = {
	{ "none", none, CASE_STREAM | CASE_SPEED },
};

#endif

RUN_CASES(cases)
