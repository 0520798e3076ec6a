// SPDX-License-Identifier: GPL-2.0
/* Mapping a socket by hand: what may be mapped, how, and by whom. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "regions.h"

/* The errno of a mapping that must not be, or 0. */
static int refused(int fd, size_t len, int prot, int flags, uint64_t offset)
{
	void *at = mmap(NULL, len, prot, flags, fd, offset);

	if (at == MAP_FAILED)
		return errno;
	munmap(at, len);
	return 0;
}

static void want_refused(int fd, size_t len, int prot, uint64_t offset, int err, const char *what)
{
	WANT(refused(fd, len, prot, MAP_SHARED, offset), err, 0, "refused: %s", what);
}

static void right(const struct transport *t)
{
	struct speed_lease l;
	struct regions r;
	struct end e[2];
	int role;

	for (role = 0; role < SPEED_ROLES; role++) {
		tp_pair(t, e);
		WANT_OK(lease_role(e[0].fd, role, &l), "lease %d", role);
		map_all(e[0].fd, &l, &r);
		WANT(touch(r.own, false), 0, 0, "read OWN");
		WANT(touch(r.own, true), 0, 0, "write OWN");
		WANT(touch(r.own + PAGE - 1, true), 0, 0, "write OWN's end");
		WANT(touch(r.peer, false), 0, 0, "read PEER's first page");
		WANT(touch(r.peer + PAGE, false), 0, 0, "read PEER's second page");
		WANT(touch(r.peer, true), SIGSEGV, 0, "write PEER's first page");
		WANT(touch(r.peer + PAGE, true), SIGSEGV, 0, "write PEER's second page");
		WANT(touch(r.data, false), 0, 0, "read DATA");
		WANT(touch(r.data + 2 * l.size - 1, false), 0, 0, "read DATA's end");
		WANT(touch(r.data, true), role == SPEED_ROLE_TX ? 0 : SIGSEGV, 0, "write DATA");
		WANT_TRUE(((struct speed_kern *)r.peer)->epoch[role] == l.epoch, "the epoch");
		pair_close(e);
		WANT(touch(r.own, false), 0, 0, "read OWN when closed");
		WANT(touch(r.data, false), 0, 0, "read DATA when closed");
	}
}

/* The data lies there twice in a row. */
static void twice(const struct transport *t)
{
	struct speed_lease l;
	struct regions r;
	struct end e[2];

	tp_pair(t, e);
	WANT_OK(lease_role(e[0].fd, SPEED_ROLE_TX, &l), "lease");
	map_all(e[0].fd, &l, &r);
	strcpy(r.data + 100, "low");
	WANT_TRUE(!strcmp(r.data + l.size + 100, "low"), "low shows high");
	strcpy(r.data + l.size + 5000 % l.size, "high");
	WANT_TRUE(!strcmp(r.data + 5000 % l.size, "high"), "high shows low");
	pair_close(e);
}

static void wrong_lengths(const struct transport *t)
{
	struct speed_lease l;
	struct end e[2];
	int fd;

	tp_pair(t, e);
	fd = e[0].fd;
	WANT_OK(lease_role(fd, SPEED_ROLE_TX, &l), "lease");
	want_refused(fd, 2 * PAGE, RW, l.off_own, EINVAL, "OWN, two pages");
	want_refused(fd, PAGE, PROT_READ, l.off_peer, EINVAL, "PEER, one page");
	want_refused(fd, 3 * PAGE, PROT_READ, l.off_peer, EINVAL, "PEER, three pages");
	want_refused(fd, l.size, RW, l.off_data, EINVAL, "DATA, once");
	want_refused(fd, PAGE, RW, l.off_data, EINVAL, "DATA, a page");
	want_refused(fd, 2 * l.size + PAGE, RW, l.off_data, EINVAL, "DATA, a page too long");
	want_refused(fd, 2 * l.size - PAGE, RW, l.off_data, EINVAL, "DATA, a page too short");
	WANT(refused(fd, 0, RW, MAP_SHARED, l.off_own), EINVAL, 0, "length 0");
	pair_close(e);
}

static void wrong_offsets(const struct transport *t)
{
	/* There it is TCP's mmap() that answers, which gives nothing to be written. */
	int fd, below = t->fused ? EPERM : EINVAL;
	struct speed_lease l;
	struct end e[2];

	tp_pair(t, e);
	fd = e[0].fd;
	WANT_OK(lease_role(fd, SPEED_ROLE_TX, &l), "lease");
	want_refused(fd, PAGE, RW, 0, below, "offset 0");
	/* It maps what TCP_ZEROCOPY_RECEIVE fills. */
	if (!t->fused)
		want_refused(fd, PAGE, PROT_READ, 0, EINVAL, "offset 0, read-only");
	want_refused(fd, PAGE, RW, l.off_own + PAGE, EINVAL, "a page after OWN");
	want_refused(fd, PAGE, RW, l.off_own - PAGE, below, "a page before OWN");
	want_refused(fd, PAGE, PROT_READ, l.off_peer + PAGE, EINVAL, "the second page of PEER");
	want_refused(fd, 2 * PAGE, PROT_READ, l.off_peer - PAGE, EINVAL, "a page before PEER");
	want_refused(fd, 2 * l.size, RW, l.off_data + PAGE, EINVAL, "a page into DATA");
	want_refused(fd, l.size, RW, l.off_data + l.size, EINVAL, "the second half of DATA");
	want_refused(fd, PAGE, RW, 1ull << 62, EINVAL, "far away");
	pair_close(e);
}

static void wrong_protections(const struct transport *t)
{
	struct speed_lease tx, rx;
	struct end e[2];
	int fd;

	tp_pair(t, e);
	fd = e[0].fd;
	WANT_OK(lease_role(fd, SPEED_ROLE_TX, &tx), "lease TX");
	WANT_OK(lease_role(fd, SPEED_ROLE_RX, &rx), "lease RX");
	want_refused(fd, 2 * PAGE, RW, tx.off_peer, EPERM, "PEER to write");
	want_refused(fd, 2 * rx.size, RW, rx.off_data, EPERM, "RX's DATA to write");
	want_refused(fd, 2 * PAGE, PROT_WRITE, tx.off_peer, EPERM, "PEER to write alone");
	want_refused(fd, PAGE, PROT_READ | PROT_EXEC, tx.off_own, EPERM, "OWN to execute");
	want_refused(fd, 2 * PAGE, PROT_READ | PROT_EXEC, tx.off_peer, EPERM, "PEER to execute");
	want_refused(fd, 2 * tx.size, RW | PROT_EXEC, tx.off_data, EPERM, "TX's DATA to execute");
	want_refused(fd, 2 * rx.size, PROT_READ | PROT_EXEC, rx.off_data, EPERM,
		     "RX's DATA to execute");
	WANT(refused(fd, PAGE, RW, MAP_PRIVATE, tx.off_own), EINVAL, 0, "OWN, private");
	WANT(refused(fd, 2 * PAGE, PROT_READ, MAP_PRIVATE, tx.off_peer), EINVAL, 0,
	     "PEER, private");
	WANT(refused(fd, 2 * tx.size, RW, MAP_PRIVATE, tx.off_data), EINVAL, 0, "DATA, private");
	pair_close(e);
}

static void without_lease(const struct transport *t)
{
	struct speed_lease l;
	struct address a;
	struct end e[2];
	/* TCP's mmap() answers for those that take no part yet. */
	int fd = tp_socket(t, 0), unpaired = t->fused ? EPERM : EINVAL;

	tp_pair(t, e);
	WANT_OK(lease_role(e[0].fd, SPEED_ROLE_TX, &l), "lease, of the one side");
	want_refused(e[1].fd, PAGE, RW, l.off_own, EPERM, "OWN of the other side, never leased");
	want_refused(e[1].fd, 2 * l.size, RW, l.off_data, EPERM, "DATA of the other side");
	want_refused(fd, PAGE, RW, l.off_own, unpaired, "a fresh socket");
	close(fd);
	fd = tp_listen(t, 1, &a);
	want_refused(fd, PAGE, RW, l.off_own, unpaired, "a listener");
	close(fd);
	pair_close(e);
}

static void protect(const struct transport *t)
{
	struct speed_lease tx, rx;
	struct regions a, b;
	struct end e[2];

	tp_pair(t, e);
	WANT_OK(lease_role(e[0].fd, SPEED_ROLE_TX, &tx), "lease TX");
	WANT_OK(lease_role(e[0].fd, SPEED_ROLE_RX, &rx), "lease RX");
	map_all(e[0].fd, &tx, &a);
	map_all(e[0].fd, &rx, &b);
	WANT_ERR(mprotect(a.peer, 2 * PAGE, RW), EACCES, "PEER to write");
	WANT_ERR(mprotect(a.peer, PAGE, PROT_WRITE), EACCES, "a page of PEER to write alone");
	WANT_ERR(mprotect(b.data, 2 * rx.size, RW), EACCES, "RX's DATA to write");
	WANT_ERR(mprotect(b.data, PAGE, RW), EACCES, "a page of RX's DATA to write");
	WANT_ERR(mprotect(a.own, PAGE, PROT_READ | PROT_EXEC), EACCES, "OWN to execute");
	WANT_ERR(mprotect(a.data, 2 * tx.size, RW | PROT_EXEC), EACCES, "TX's DATA to execute");
	WANT_ERR(mprotect(b.data, 2 * rx.size, PROT_READ | PROT_EXEC), EACCES,
		 "RX's DATA to execute");
	WANT_OK(mprotect(a.own, PAGE, PROT_READ), "OWN to read");
	WANT_OK(mprotect(a.own, PAGE, RW), "OWN to write again");
	pair_close(e);
}

/* Is what is mapped there a socket's inode? Security modules look behind one. */
static bool maps_socket(const char *at)
{
	char path[96];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", (unsigned long)at,
		 (unsigned long)at + PAGE);
	MUST(!stat(path, &st));
	return S_ISSOCK(st.st_mode);
}

static void no_socket(const struct transport *t)
{
	struct speed_lease l;
	struct regions r;
	struct end e[2];

	if (geteuid())
		trace_skip("needs root, to look at files that are mapped");
	tp_pair(t, e);
	WANT_OK(lease_role(e[0].fd, SPEED_ROLE_TX, &l), "lease");
	map_all(e[0].fd, &l, &r);
	WANT_TRUE(!maps_socket(r.own), "OWN");
	unmap_all(&l, &r);
	pair_close(e);
}

static void remap(const struct transport *t)
{
	struct speed_lease l;
	struct regions r;
	struct end e[2];
	char buf[4];

	tp_pair(t, e);
	WANT_OK(lease_role(e[0].fd, SPEED_ROLE_TX, &l), "lease");
	map_all(e[0].fd, &l, &r);
	WANT_TRUE(mremap(r.own, PAGE, 2 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED, "grow OWN");
	WANT_TRUE(mremap(r.data, 2 * l.size, 4 * l.size, MREMAP_MAYMOVE) == MAP_FAILED,
		  "grow DATA");
	WANT_TRUE(mremap(r.peer, 0, PAGE, MREMAP_MAYMOVE) == MAP_FAILED, "copy PEER");
	WANT(send(e[0].fd, "abc", 3, 0), 3, 0, "send");
	WANT(recv(e[1].fd, buf, sizeof(buf), 0), 3, 0, "recv");
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "right", right, CASE_BOTH | CASE_SPEED | CASE_FUSED },
	{ "twice", twice, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "wrong_lengths", wrong_lengths, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "wrong_offsets", wrong_offsets, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "wrong_protections", wrong_protections, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "without_lease", without_lease, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "protect", protect, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "no_socket", no_socket, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "remap", remap, CASE_STREAM | CASE_SPEED | CASE_FUSED },
};

RUN_CASES(cases)
