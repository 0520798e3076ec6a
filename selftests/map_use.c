// SPDX-License-Identifier: GPL-2.0
/* Mappings at work: by hand, by libspeed, over fork, munmap and revocation. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/speed_ring.h>

#include "harness.h"
#include "regions.h"

/* After a lease was taken back it is granted again only after so many calls. */
static int lease_tx_soon(int fd, struct speed_lease *l)
{
	unsigned int i, n;

	if (lease_role(fd, SPEED_ROLE_TX, l) == 0)
		return 0;
	n = errno == EAGAIN ? l->retry : 0;
	for (i = 0; i < n; i++)
		MUST(send(fd, "x", 1, 0) == 1);
	return lease_role(fd, SPEED_ROLE_TX, l);
}

/* What libspeed does, by hand: one message each way. */
static void by_hand(const struct transport *t)
{
	struct speed_lease tx, rx;
	struct regions a, b;
	struct speed_side p, c;
	struct end e[2];
	char buf[16];

	tp_pair(t, e);
	WANT_OK(lease_role(e[0].fd, SPEED_ROLE_TX, &tx), "lease TX");
	WANT_OK(lease_role(e[0].fd, SPEED_ROLE_RX, &rx), "lease RX");
	map_all(e[0].fd, &tx, &a);
	map_all(e[0].fd, &rx, &b);
	p = (struct speed_side){
		.mine = (void *)a.own, .theirs = (void *)(a.peer + PAGE), .kern = (void *)a.peer,
		.data = (void *)a.data, .size = tx.size, .own = tx.own, .other = tx.own,
	};
	c = (struct speed_side){
		.mine = (void *)b.own, .theirs = (void *)(b.peer + PAGE), .kern = (void *)b.peer,
		.data = (void *)b.data, .size = rx.size, .own = rx.own, .other = rx.own,
	};
	WANT_TRUE(speed_prod_free(&p, tx.size) == (long)tx.size, "the ring is free");
	memcpy(speed_ring_span(&p, 0), "by hand", 7);
	speed_ring_publish(&p, 7);
	speed_ring_publish_fence();
	WANT_TRUE(speed_ring_counts(&p, SPEED_ROLE_TX, tx.epoch), "it counts");
	WANT(recv(e[1].fd, buf, 16, 0), 7, 0, "recv by system call");
	WANT_TRUE(!memcmp(buf, "by hand", 7), "the bytes");
	WANT(send(e[1].fd, "by call", 7, 0), 7, 0, "send by system call");
	WANT(speed_cons_ready(&c, 1), 7, 0, "bytes are there");
	WANT_TRUE(!memcmp(speed_ring_span(&c, 0), "by call", 7), "the bytes");
	speed_ring_publish(&c, 7);
	speed_ring_publish_fence();
	WANT_TRUE(speed_ring_counts(&c, SPEED_ROLE_RX, rx.epoch), "it counts");
	WANT_ERR(recv(e[0].fd, buf, 16, MSG_DONTWAIT), EAGAIN, "they were taken");
	WANT(send(e[1].fd, "more", 4, 0), 4, 0, "send by system call");
	WANT(recv(e[0].fd, buf, 16, 0), 4, 0, "recv by system call");
	WANT_TRUE(!memcmp(buf, "more", 4), "the bytes");
	WANT_TRUE(!speed_ring_counts(&c, SPEED_ROLE_RX, rx.epoch), "that took the role back");
	WANT_TRUE(speed_ring_counts(&p, SPEED_ROLE_TX, tx.epoch), "and not the other");
	pair_close(e);
}

static int child_touches(void *arg)
{
	struct regions *r = arg;

	return (touch(r->own, false) == SIGSEGV) | (touch(r->peer, false) == SIGSEGV) << 1 |
	       (touch(r->data, false) == SIGSEGV) << 2;
}

static void forked(const struct transport *t)
{
	struct speed_lease l;
	struct regions r;
	struct end e[2];

	tp_pair(t, e);
	WANT_OK(lease_role(e[0].fd, SPEED_ROLE_TX, &l), "lease");
	map_all(e[0].fd, &l, &r);
	WANT(process_join(process_start(child_touches, &r)), 7, 0, "a child has no mapping");
	WANT(touch(r.own, true), 0, 0, "the parent has");
	WANT_TRUE(((struct speed_kern *)r.peer)->epoch[SPEED_ROLE_TX] == l.epoch,
		  "and its lease");
	pair_close(e);
}

static int child_leases(void *arg)
{
	struct end *e = arg;
	struct speed_lease l;
	struct regions r;

	if (lease_tx_soon(e->fd, &l))
		return errno;
	map_all(e->fd, &l, &r);
	return touch(r.own, true);
}

/* A child asks for a lease of its own, which its death gives back. */
static void child_lease(const struct transport *t)
{
	struct speed_lease l;
	struct end e[2];

	tp_pair(t, e);
	WANT(process_join(process_start(child_leases, &e[0])), 0, 0, "lease, by a child");
	WANT_OK(lease_tx_soon(e[0].fd, &l), "lease, by the parent");
	WANT(send(e[0].fd, "abc", 3, 0), 3, 0, "send");
	pair_close(e);
}

/* A store after the lease was taken back reaches nobody. */
static void stray(const struct transport *t)
{
	struct speed_lease l;
	struct regions r;
	struct end e[2];
	char buf[16];

	tp_pair(t, e);
	WANT_OK(lease_role(e[0].fd, SPEED_ROLE_TX, &l), "lease");
	map_all(e[0].fd, &l, &r);
	WANT(touch(r.own, true), 0, 0, "touch OWN");
	WANT(touch(r.data, true), 0, 0, "touch DATA");
	WANT(send(e[0].fd, "abc", 3, 0), 3, 0, "send, which takes it back");
	((struct speed_index *)r.own)->index = 1000;
	memset(r.data, 'x', 2 * l.size);
	WANT(recv(e[1].fd, buf, 16, 0), 3, 0, "recv");
	WANT_TRUE(!memcmp(buf, "abc", 3), "the bytes");
	WANT_ERR(recv(e[1].fd, buf, 16, MSG_DONTWAIT), EAGAIN, "there is nothing more");
	WANT_TRUE(((struct speed_kern *)r.peer)->epoch[SPEED_ROLE_TX] != l.epoch,
		  "the epoch tells");
	pair_close(e);
}

/* munmap() gives the role back: another process can have it. */
static void unmapped(const struct transport *t)
{
	struct speed_lease l;
	struct regions r;
	struct end e[2];

	tp_pair(t, e);
	WANT_OK(lease_role(e[0].fd, SPEED_ROLE_TX, &l), "lease");
	map_all(e[0].fd, &l, &r);
	WANT_OK(munmap(r.own, PAGE), "munmap OWN");
	WANT_OK(munmap(r.peer, 2 * PAGE), "munmap PEER");
	WANT_OK(munmap(r.data, 2 * l.size), "munmap DATA");
	WANT(process_join(process_start(child_leases, &e[0])), 0, 0, "lease, by a child");
	WANT(send(e[0].fd, "abc", 3, 0), 3, 0, "send");
	pair_close(e);
}

/* The core dump, /proc/self/mem and page pinning keep off. */
static void not_for_others(const struct transport *t)
{
	struct speed_lease l;
	struct regions r;
	struct end e[2];
	char line[256], range[64];
	bool in = false;
	int found = 0;
	FILE *f;

	tp_pair(t, e);
	WANT_OK(lease_role(e[0].fd, SPEED_ROLE_TX, &l), "lease");
	map_all(e[0].fd, &l, &r);
	snprintf(range, sizeof(range), "%lx-", (unsigned long)r.own);
	f = fopen("/proc/self/smaps", "r");
	MUST(f);
	while (fgets(line, sizeof(line), f)) {
		if (strstr(line, "-") && strchr(line, ' ') && !strncmp(line, range, strlen(range)))
			in = true;
		if (!in || strncmp(line, "VmFlags:", 8))
			continue;
		found = 1;
		WANT_TRUE(strstr(line, " dc"), "no copy on fork");
		WANT_TRUE(strstr(line, " de"), "no growing");
		WANT_TRUE(strstr(line, " dd"), "no core dump");
		WANT_TRUE(strstr(line, " pf"), "no pages to pin");
		in = false;
	}
	fclose(f);
	WANT(found, 1, 0, "smaps has it");
	WANT_ERR(madvise(r.own, PAGE, MADV_DOFORK), EINVAL, "MADV_DOFORK");
	pair_close(e);
}

/* libspeed takes the mapped path, and not only once. */
static void library_maps(const struct transport *t)
{
	struct speed_stats s;
	struct speed *m[2];
	struct end e[2];
	char buf[16];
	int i;

	tp_pair(t, e);
	m[0] = speed_attach(e[0].fd, 0);
	m[1] = speed_attach(e[1].fd, 0);
	MUST(m[0] && m[1]);
	WANT(speed_fd(m[0]), e[0].fd, 0, "speed_fd");
	WANT_ERR(speed_map(m[0], 1u << 2), EINVAL, "speed_map of an unknown role");
	WANT_OK(speed_map(m[0], SPEED_MAP_BOTH), "speed_map");
	WANT_OK(speed_map(m[1], SPEED_MAP_BOTH), "speed_map of the other");
	for (i = 0; i < 100; i++) {
		MUST(speed_send(m[0], "hello", 5, 0) == 5);
		MUST(speed_recv(m[1], buf, 16, 0) == 5);
		MUST(speed_send(m[1], "world", 5, 0) == 5);
		MUST(speed_recv(m[0], buf, 16, 0) == 5);
	}
	for (i = 0; i < 2; i++) {
		WANT_OK(speed_get_stats(m[i], &s), "speed_get_stats");
		WANT(s.mapped_sends, 100, 0, "mapped sends");
		WANT(s.mapped_recvs, 100, 0, "mapped receives");
		WANT(s.calls, 0, 0, "system calls instead");
		WANT(s.leases, 2, 0, "leases");
		WANT(s.revocations, 0, 0, "revocations");
		speed_detach(m[i]);
	}
	pair_close(e);
}

/* A ring that is filled to the last byte by who may not wait: no lease goes for that. */
static void full_kept(const struct transport *t)
{
	static char buf[100];
	struct speed_stats s;
	struct end e[2];
	struct speed *m;
	long sent = 0, got = 0, n;

	tp_pair(t, e);
	m = speed_attach(e[0].fd, 0);
	MUST(m);
	WANT_OK(speed_map(m, SPEED_MAP_TX), "speed_map");
	while ((n = speed_send(m, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		sent += n;
	WANT_TRUE(sent % sizeof(buf), "the last one in part: %ld", sent);
	WANT_ERR(speed_send(m, buf, sizeof(buf), MSG_DONTWAIT), EAGAIN, "there is no room");
	WANT_OK(speed_get_stats(m, &s), "speed_get_stats");
	WANT(s.revocations, 0, 0, "revocations");
	for (; got < sent; got += n)
		MUST((n = recv(e[1].fd, buf, sizeof(buf), 0)) > 0);
	WANT(speed_send(m, buf, sizeof(buf), MSG_DONTWAIT), sizeof(buf), 0, "then it goes on");
	WANT_OK(speed_get_stats(m, &s), "speed_get_stats");
	WANT(s.leases, 1, 0, "by the same lease");
	speed_detach(m);
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "by_hand", by_hand, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "forked", forked, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "child_lease", child_lease, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "stray", stray, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "unmapped", unmapped, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "not_for_others", not_for_others, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "full_kept", full_kept, CASE_STREAM | CASE_SPEED },
	{ "library_maps", library_maps, CASE_BOTH | CASE_SPEED | CASE_FUSED },
};

RUN_CASES(cases)
