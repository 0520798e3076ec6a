// SPDX-License-Identifier: GPL-2.0
/*
 * What the mappings of a connection may cost others, and what its readers rely on: they
 * are not split, have a bound, and keep no ring alive after a fused connection's reader
 * has gone; a mapped producer's bytes raise SIGIO.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "held.h"
#include "stress.h"
#include "tcp_pair.h"

#define REGIONS_MAX	16	/* of a role, for one user */
#define REGIONS		3	/* that raw_open() maps */
#define USERS_MAX	64	/* of an endpoint */
#define LEFT		20	/* connections closed with a page mapped */
#define SOON_MS		60000

static void not_split(const struct transport *t)
{
	struct raw w;
	int fd[2];

	raw_fds(t, fd, &w);
	WANT_ERR(munmap(w.r.data, PAGE), EINVAL, "munmap of the first page");
	WANT_ERR(munmap(w.r.data + PAGE, PAGE), EINVAL, "munmap of a page amid");
	WANT_ERR(munmap(w.r.peer + PAGE, PAGE), EINVAL, "munmap of the last page");
	WANT_ERR(mprotect(w.r.data, PAGE, PROT_READ), EINVAL, "mprotect of a page");
	WANT(touch(w.r.data, true) + touch(w.r.data + 2 * w.l.size - 1, true), 0, 0,
	     "it is all there");
	WANT_OK(munmap(w.r.own, PAGE), "munmap of a whole region");
	WANT_OK(munmap(w.r.peer, 2 * PAGE), "munmap of a whole region");
	WANT_OK(munmap(w.r.data, 2 * w.l.size), "munmap of a whole region");
	tcp_close(fd);
}

static bool map_own(int fd, const struct speed_lease *l, char **at)
{
	*at = mmap(NULL, PAGE, RW, MAP_SHARED, fd, l->off_own);
	return *at != MAP_FAILED;
}

static void regions(const struct transport *t)
{
	char *at[REGIONS_MAX + 1];
	struct raw w;
	int fd[2], i;

	raw_fds(t, fd, &w);
	for (i = REGIONS; i < REGIONS_MAX; i++)
		WANT_TRUE(map_own(fd[0], &w.l, &at[i]), "region %d", i + 1);
	WANT_TRUE(!map_own(fd[0], &w.l, &at[i]) && errno == ENOMEM, "one more: ENOMEM");
	munmap(at[--i], PAGE);
	WANT_TRUE(map_own(fd[0], &w.l, &at[i]), "one for another");
	for (; i >= REGIONS; i--)
		munmap(at[i], PAGE);
	raw_unmap(&w);
	tcp_close(fd);
}

/* Whoever looks at an idle ring refuses a lease for that instant. */
static int lease_as(int fd, uint64_t cookie, struct speed_lease *l)
{
	long until = now_ms() + 5000;
	int ret;

	do {
		*l = (struct speed_lease){ .role = SPEED_ROLE_TX, .cookie = cookie };
		ret = get_exact(fd, SPEED_LEASE, l, sizeof(*l));
	} while (ret && errno == EAGAIN && now_ms() < until);
	return ret;
}

static int unlease(int fd)
{
	return set_int(fd, SOL_SPEED, SPEED_UNLEASE, SPEED_ROLE_TX);
}

/* One that maps a page is a user, with a lease or without. */
static void users(const struct transport *t)
{
	char *at[USERS_MAX];
	struct speed_lease l;
	struct end e[2];
	int fd[2], i;

	tp_pair(t, e);
	fd[0] = e[0].fd;
	fd[1] = e[1].fd;
	for (i = 0; i < USERS_MAX; i++) {
		WANT_OK(lease_as(fd[0], 1000 + i, &l), "user %d", i + 1);
		MUST(map_own(fd[0], &l, &at[i]));
		WANT_OK(unlease(fd[0]), "user %d gives it back", i + 1);
	}
	WANT_ERR(lease_as(fd[0], 2000, &l), ENOBUFS, "one more");
	WANT_OK(lease_as(fd[0], 1000, &l), "one of them");
	WANT_OK(unlease(fd[0]), "gives it back");
	munmap(at[0], PAGE);
	WANT_OK(lease_as(fd[0], 2000, &l), "another in its place");
	WANT_TRUE(tcp_exchange(fd), "an exchange");
	for (i = 1; i < USERS_MAX; i++)
		munmap(at[i], PAGE);
	tcp_close(fd);
}

/* A byte is left, a page of the reader's is mapped, and both ends are closed. */
static void leave_mapped(char **at)
{
	struct speed_lease l;
	int fd[2];

	tcp_fused_pair(fd);
	MUST(send(fd[0], "left", 4, 0) == 4);
	WANT_OK(lease_role(fd[1], SPEED_ROLE_RX, &l), "a lease of the reader's");
	MUST(map_own(fd[1], &l, at));
	close(fd[1]);
	close(fd[0]);
}

static void nothing_kept(const struct transport *t)
{
	struct held before, now;
	char *at[LEFT];
	long until;
	int i;

	if (!held_can_count())
		trace_skip("needs root and CONFIG_SLUB_DEBUG, to count");
	held_begin(&before);
	for (i = 0; i < LEFT; i++)
		leave_mapped(&at[i]);
	until = now_ms() + SOON_MS;
	do {
		sleep_ms(200);
		held_count(&now);
	} while (now.data > before.data && now_ms() < until);
	WANT_TRUE(now.data <= before.data, "no data page is held: %ld bytes, not %ld", now.data,
		  before.data);
	for (i = 0; i < LEFT; i++)
		munmap(at[i], PAGE);
	held_end(&before);
}

static atomic_int signals;

static void on_io(int sig)
{
	signals++;
}

/* As a library does: bytes, the index, and a call only where somebody is to be woken. */
static void produce(struct raw *w, int fd, uint64_t *index, char byte)
{
	w->r.data[*index & (w->l.size - 1)] = byte;
	raw_publish(w, ++*index);
	if (regions_flags(&w->r) & SPEED_NEED_DATA)
		MUST(!ioctl(fd, SPEED_IOC_WAKE, SPEED_WAKE_READER));
}

static void io_signal(const struct transport *t)
{
	uint64_t index;
	struct raw w;
	int fd[2], i;
	char in[4];

	raw_fds(t, fd, &w);
	index = w.l.own;
	/* It wakes nobody, and there is no need for it from then on. */
	produce(&w, fd[0], &index, 'a');
	WANT(recv(fd[1], in, 1, 0), 1, 0, "recv");
	signal(SIGIO, on_io);
	MUST(!fcntl(fd[1], F_SETOWN, getpid()) && !fcntl(fd[1], F_SETFL, O_ASYNC | O_NONBLOCK));
	for (i = 1; i <= 5; i++) {
		long until = now_ms() + 3000;

		WANT_ERR(recv(fd[1], in, 1, 0), EAGAIN, "%d: nothing", i);
		signals = 0;
		produce(&w, fd[0], &index, 'b');
		while (!signals && now_ms() < until)
			sleep_ms(1);
		WANT_TRUE(signals > 0, "%d: SIGIO", i);
		WANT(recv(fd[1], in, 1, 0), 1, 0, "%d: recv", i);
	}
	raw_unmap(&w);
	tcp_close(fd);
}

#define EITHER	(CASE_STREAM | CASE_SPEED | CASE_FUSED)

static const struct test_case cases[] = {
	{ "not_split", not_split, EITHER },
	{ "regions", regions, EITHER },
	{ "users", users, EITHER },
	{ "nothing_kept", nothing_kept, CASE_STREAM | CASE_FUSED_ONLY | CASE_LONG },
	{ "io_signal", io_signal, EITHER },
};

RUN_CASES(cases)
