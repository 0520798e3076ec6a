// SPDX-License-Identifier: GPL-2.0
/* Leases by hand: granted, given back, settled, waited with, and every refusal. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stress.h"

static void lease_refused(const struct transport *t)
{
	struct { struct speed_lease l; char more[8]; } v = { 0 };
	struct address a;
	struct end e[2];
	int fd = tp_socket(t, 0);

	WANT_ERR(get_exact(fd, SPEED_LEASE, &v, sizeof(v.l)), t->fused ? EOPNOTSUPP : ENOTCONN,
		 "of a fresh socket");
	close(fd);
	fd = tp_listen(t, 1, &a);
	WANT_ERR(get_exact(fd, SPEED_LEASE, &v, sizeof(v.l)), t->fused ? EOPNOTSUPP : ENOTCONN,
		 "of a listener");
	close(fd);

	tp_pair(t, e);
	WANT_ERR(get_exact(e[0].fd, SPEED_LEASE, &v, sizeof(v.l) - 1), EINVAL, "short");
	WANT_ERR(get_exact(e[0].fd, SPEED_LEASE, &v, sizeof(v.l) + 1), EINVAL, "long");
	WANT_ERR(get_exact(e[0].fd, SPEED_LEASE, &v, 0), EINVAL, "empty");
	WANT_ERR(get_exact(e[0].fd, SPEED_LEASE, bad_pointer(), sizeof(v.l)), EFAULT,
		 "bad pointer");
	v.l.role = SPEED_ROLES;
	WANT_ERR(get_exact(e[0].fd, SPEED_LEASE, &v, sizeof(v.l)), EINVAL, "role 2");
	v.l.role = ~0u;
	WANT_ERR(get_exact(e[0].fd, SPEED_LEASE, &v, sizeof(v.l)), EINVAL, "role -1");
	v.l.role = 0;
	v.l.flags = 1;
	WANT_ERR(get_exact(e[0].fd, SPEED_LEASE, &v, sizeof(v.l)), EINVAL, "a flag");
	v.l.flags = 0x80000000u;
	WANT_ERR(get_exact(e[0].fd, SPEED_LEASE, &v, sizeof(v.l)), EINVAL, "another flag");
	v.l.flags = 0;
	v.l.reserved = 1;
	WANT_ERR(get_exact(e[0].fd, SPEED_LEASE, &v, sizeof(v.l)), EINVAL, "reserved is not 0");
	v.l.reserved = 0;
	WANT_ERR(setsockopt(e[0].fd, SOL_SPEED, SPEED_LEASE, &v, sizeof(v.l)), ENOPROTOOPT,
		 "set");
	WANT_OK(shutdown(e[0].fd, SHUT_WR), "shutdown");
	WANT_ERR(get_exact(e[0].fd, SPEED_LEASE, &v, sizeof(v.l)), EPIPE, "TX after SHUT_WR");
	pair_close(e);
}

static void lease_told(const struct transport *t)
{
	struct speed_lease l = { .role = SPEED_ROLE_TX }, again, rx = { .role = SPEED_ROLE_RX };
	struct speed_info i;
	struct end e[2];

	tp_pair(t, e);
	WANT_OK(get_exact(e[0].fd, SPEED_LEASE, &l, sizeof(l)), "TX");
	WANT_TRUE(l.epoch, "an epoch");
	WANT_TRUE(l.size >= SPEED_RING_MIN && !(l.size & (l.size - 1)), "a size");
	WANT(l.own, TP_MOVED(t), 0, "the index");
	WANT(l.type, t->type, 0, "type");
	WANT_TRUE(l.off_own && l.off_peer && l.off_data, "no offset is 0");
	WANT_TRUE(l.off_own != l.off_peer && l.off_peer != l.off_data && l.off_own != l.off_data,
		  "they differ");
	WANT(l.reserved, 0, 0, "reserved");
	WANT_OK(get_exact(e[0].fd, SPEED_LEASE, &rx, sizeof(rx)), "RX");
	WANT_TRUE(rx.off_own != l.off_own && rx.off_data != l.off_data, "other offsets");
	WANT_TRUE(rx.pair == l.pair, "the same pair");
	WANT_OK(get_exact(e[0].fd, SPEED_INFO, &i, sizeof(i)), "info");
	WANT_TRUE(i.leased[SPEED_ROLE_TX] == l.epoch, "info shows TX's epoch");
	WANT_TRUE(i.leased[SPEED_ROLE_RX] == rx.epoch, "info shows RX's epoch");
	WANT_OK(get_exact(e[1].fd, SPEED_INFO, &i, sizeof(i)), "the peer's info");
	WANT(i.leased[0] | i.leased[1], 0, 0, "the peer has no lease");

	WANT_OK(set_int(e[0].fd, SOL_SPEED, SPEED_UNLEASE, SPEED_ROLE_TX), "give it back");
	WANT_OK(get_exact(e[0].fd, SPEED_INFO, &i, sizeof(i)), "info");
	WANT(i.leased[SPEED_ROLE_TX], 0, 0, "it is given back");
	again = (struct speed_lease){ .role = SPEED_ROLE_TX };
	WANT_OK(get_exact(e[0].fd, SPEED_LEASE, &again, sizeof(again)), "TX again");
	WANT_TRUE(again.epoch > l.epoch, "a later epoch");
	WANT_TRUE(again.off_own == l.off_own && again.off_peer == l.off_peer &&
		  again.off_data == l.off_data && again.size == l.size,
		  "the same offsets and size");
	pair_close(e);
}

/* Another process, which has the descriptor too. */
static int unleases(void *fd)
{
	return set_int(*(int *)fd, SOL_SPEED, SPEED_UNLEASE, SPEED_ROLE_TX) ? errno : 0;
}

static void unlease_refused(const struct transport *t)
{
	struct end e[2];
	struct raw w;
	uint64_t wide = 0;
	int fd = tp_socket(t, 0);

	WANT_ERR(set_int(fd, SOL_SPEED, SPEED_UNLEASE, 0), t->fused ? ENOPROTOOPT : ENOTCONN,
		 "of a fresh socket");
	close(fd);
	tp_pair(t, e);
	WANT_ERR(set_int(e[0].fd, SOL_SPEED, SPEED_UNLEASE, 2), EINVAL, "role 2");
	WANT_ERR(set_int(e[0].fd, SOL_SPEED, SPEED_UNLEASE, -1), EINVAL, "role -1");
	WANT_ERR(setsockopt(e[0].fd, SOL_SPEED, SPEED_UNLEASE, &wide, 8), EINVAL, "long");
	WANT_ERR(setsockopt(e[0].fd, SOL_SPEED, SPEED_UNLEASE, &wide, 2), EINVAL, "short");
	WANT_ERR(setsockopt(e[0].fd, SOL_SPEED, SPEED_UNLEASE, bad_pointer(), 4), EFAULT,
		 "bad pointer");
	WANT_ERR(get_exact(e[0].fd, SPEED_UNLEASE, &wide, 4), ENOPROTOOPT, "get");
	WANT_ERR(set_int(e[0].fd, SOL_SPEED, SPEED_UNLEASE, SPEED_ROLE_TX), ESTALE, "nobody holds it");
	/* One that is mapped stays, and there is none of a ring that was idle for a second. */
	pair_close(e);
	raw_pair(t, e, 0, &w, NULL);
	WANT(process_join(process_start(unleases, &e[0].fd)), ESTALE, 0, "by another process");
	WANT_OK(set_int(e[0].fd, SOL_SPEED, SPEED_UNLEASE, SPEED_ROLE_TX), "by its holder");
	WANT_ERR(set_int(e[0].fd, SOL_SPEED, SPEED_UNLEASE, SPEED_ROLE_TX), ESTALE, "once more");
	raw_unmap(&w);
	pair_close(e);
}

static void settle(const struct transport *t)
{
	struct { struct speed_settle s; char more[8]; } v = { 0 };
	struct speed_lease l = { .role = SPEED_ROLE_TX };
	struct end e[2];
	int fd = tp_socket(t, 0);

	v.s.epoch = 1;
	WANT_ERR(get_exact(fd, SPEED_SETTLE, &v, sizeof(v.s)), t->fused ? EOPNOTSUPP : ENOTCONN,
		 "of a fresh socket");
	close(fd);
	tp_pair(t, e);
	WANT_ERR(get_exact(e[0].fd, SPEED_SETTLE, &v, sizeof(v.s) - 1), EINVAL, "short");
	WANT_ERR(get_exact(e[0].fd, SPEED_SETTLE, &v, sizeof(v.s) + 1), EINVAL, "long");
	WANT_ERR(get_exact(e[0].fd, SPEED_SETTLE, bad_pointer(), sizeof(v.s)), EFAULT,
		 "bad pointer");
	WANT_ERR(setsockopt(e[0].fd, SOL_SPEED, SPEED_SETTLE, &v, sizeof(v.s)), ENOPROTOOPT,
		 "set");
	WANT_OK(get_exact(e[0].fd, SPEED_LEASE, &l, sizeof(l)), "lease");
	/* Who has the role mapped may ask. */
	MUST(mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, e[0].fd,
		  l.off_own) != MAP_FAILED);
	v.s.epoch = l.epoch;
	WANT_ERR(get_exact(e[0].fd, SPEED_SETTLE, &v, sizeof(v.s)), EBUSY, "a lease in force");
	WANT(send(e[0].fd, "abc", 3, 0), 3, 0, "send, which takes it back");
	v.s.role = 2;
	WANT_ERR(get_exact(e[0].fd, SPEED_SETTLE, &v, sizeof(v.s)), EINVAL, "role 2");
	v.s.role = SPEED_ROLE_TX;
	v.s.flags = 1;
	WANT_ERR(get_exact(e[0].fd, SPEED_SETTLE, &v, sizeof(v.s)), EINVAL, "a flag");
	v.s.flags = 0;
	v.s.epoch = 0;
	WANT_ERR(get_exact(e[0].fd, SPEED_SETTLE, &v, sizeof(v.s)), EINVAL, "no epoch");
	v.s.epoch = l.epoch + 1000;
	WANT_ERR(get_exact(e[0].fd, SPEED_SETTLE, &v, sizeof(v.s)), ESTALE, "another epoch");
	v.s.epoch = l.epoch;
	v.s.index = 77;
	WANT_OK(get_exact(e[0].fd, SPEED_SETTLE, &v, sizeof(v.s)), "the lease that ended");
	WANT(v.s.index, TP_MOVED(t), 0, "nothing of it counted");
	pair_close(e);
}

static void wake_refused(const struct transport *t)
{
	struct end e[2];
	int fd = tp_socket(t, 0);

	WANT_ERR(ioctl(fd, SPEED_IOC_WAKE, SPEED_WAKE_READER), t->fused ? ENOTTY : ENOTCONN,
		 "of a fresh socket");
	close(fd);
	tp_pair(t, e);
	WANT_OK(ioctl(e[0].fd, SPEED_IOC_WAKE, 0), "wake nobody");
	WANT_ERR(ioctl(e[0].fd, SPEED_IOC_WAKE, 1u << 4), EINVAL, "an unknown bit");
	WANT_ERR(ioctl(e[0].fd, SPEED_IOC_WAKE, SPEED_WAKE_READER | SPEED_WAIT_DATA), EINVAL,
		 "a bit of the wait's");
	WANT_ERR(ioctl(e[0].fd, SPEED_IOC_WAKE, 1ul << 32 | SPEED_WAKE_READER), EINVAL,
		 "a high bit");
	WANT_OK(ioctl(e[0].fd, SPEED_IOC_WAKE, SPEED_WAKE_READER), "wake readers");
	WANT_OK(ioctl(e[0].fd, SPEED_IOC_WAKE, SPEED_WAKE_WRITER), "wake writers");
	WANT_OK(ioctl(e[0].fd, SPEED_IOC_WAKE, SPEED_WAKE_READER | SPEED_WAKE_WRITER), "wake both");
	pair_close(e);
}

static void wait_refused(const struct transport *t)
{
	struct speed_wait w = { .flags = SPEED_WAIT_DATA, .want = 1 };
	struct speed_lease l = { .role = SPEED_ROLE_RX };
	struct end e[2];
	int fd = tp_socket(t, 0);

	WANT_ERR(ioctl(fd, SPEED_IOC_WAIT, &w), t->fused ? ENOTTY : ENOTCONN, "of a fresh socket");
	close(fd);
	tp_pair(t, e);
	WANT_ERR(ioctl(e[0].fd, SPEED_IOC_WAIT, &w), ESTALE, "without a lease");
	WANT_OK(get_exact(e[0].fd, SPEED_LEASE, &l, sizeof(l)), "lease RX");
	WANT_ERR(ioctl(e[0].fd, SPEED_IOC_WAIT, bad_pointer()), EFAULT, "bad pointer");
	w.reserved = 1;
	WANT_ERR(ioctl(e[0].fd, SPEED_IOC_WAIT, &w), EINVAL, "reserved field");
	w.reserved = 0;
	w.flags = SPEED_WAIT_DATA | 1u << 6;
	WANT_ERR(ioctl(e[0].fd, SPEED_IOC_WAIT, &w), EINVAL, "an unknown bit");
	w.flags = SPEED_WAIT_DATA | SPEED_WAIT_SPACE;
	WANT_ERR(ioctl(e[0].fd, SPEED_IOC_WAIT, &w), EINVAL, "two waits");
	w.want = 0;
	w.flags = SPEED_WAIT_MOVED;
	WANT_ERR(ioctl(e[0].fd, SPEED_IOC_WAIT, &w), EINVAL, "bytes moved, and no wait");
	w.flags = SPEED_WAIT_AGAIN;
	WANT_ERR(ioctl(e[0].fd, SPEED_IOC_WAIT, &w), EINVAL, "again, and no wait");
	w.flags = 0;
	WANT_OK(ioctl(e[0].fd, SPEED_IOC_WAIT, &w), "nothing to do");
	w.flags = SPEED_WAIT_DATA;
	WANT_ERR(ioctl(e[0].fd, SPEED_IOC_WAIT, &w), EINVAL, "wanting no bytes");
	w.want = l.size + 1;
	WANT_ERR(ioctl(e[0].fd, SPEED_IOC_WAIT, &w), EINVAL, "wanting more than the ring");
	w.flags = SPEED_WAKE_READER;
	w.want = 1;
	WANT_ERR(ioctl(e[0].fd, SPEED_IOC_WAIT, &w), EINVAL, "wanting without waiting");
	w.want = 0;
	WANT_OK(ioctl(e[0].fd, SPEED_IOC_WAIT, &w), "wake alone");
	w = (struct speed_wait){ .flags = SPEED_WAIT_SPACE, .want = 1 };
	WANT_ERR(ioctl(e[0].fd, SPEED_IOC_WAIT, &w), ESTALE, "space, without TX's lease");
	WANT_OK(set_timeout(e[0].fd, SO_RCVTIMEO, 30), "SO_RCVTIMEO");
	w = (struct speed_wait){ .flags = SPEED_WAIT_DATA, .want = 1 };
	WANT_ERR(ioctl(e[0].fd, SPEED_IOC_WAIT, &w), EAGAIN, "its time passes");
	WANT_OK(set_timeout(e[0].fd, SO_RCVTIMEO, 30000), "a long one");
	WANT(send(e[1].fd, "abc", 3, 0), 3, 0, "send by the peer");
	w.flags = SPEED_WAIT_DATA | SPEED_WAIT_AGAIN | SPEED_WAIT_MOVED;
	WANT_OK(ioctl(e[0].fd, SPEED_IOC_WAIT, &w), "there is data for who waits again");
	w.flags = SPEED_WAIT_DATA;
	WANT_OK(ioctl(e[0].fd, SPEED_IOC_WAIT, &w), "there is data");
	WANT_ERR(ioctl(e[0].fd, _IO(0xB5, 9), 0), ENOTTY, "an unknown ioctl of the same letter");
	pair_close(e);
}

static const struct test_case cases[] = {
	{ "lease_refused", lease_refused, CASE_BOTH | CASE_SPEED | CASE_FUSED },
	{ "lease_told", lease_told, CASE_BOTH | CASE_SPEED | CASE_FUSED },
	{ "unlease_refused", unlease_refused, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "settle", settle, CASE_BOTH | CASE_SPEED | CASE_FUSED },
	{ "wake_refused", wake_refused, CASE_BOTH | CASE_SPEED | CASE_FUSED },
	{ "wait_refused", wait_refused, CASE_BOTH | CASE_SPEED | CASE_FUSED },
};

RUN_CASES(cases)
