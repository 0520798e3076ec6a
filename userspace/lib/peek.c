// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Zero copy, receiving: peek and release.
 */
#include <sys/ioctl.h>

#include "iov.h"
#include "sys.h"
#include "zerocopy.h"

#define PEEK_FLAGS	(MSG_DONTWAIT | MSG_WAITALL)

/* Wait for bytes of a stream. Return: SPD_LOOK with @ready. */
static int peek_bytes(struct speed *s, size_t want, int flags, __u64 *ready)
{
	struct speed_side *side = &s->role[SPEED_ROLE_RX].side;
	__u64 least = !(flags & MSG_WAITALL) ? 1 : want < side->size / 2 ? want : side->size / 2;
	unsigned int slept = 0;
	__s64 now;
	int ret;

	for (;;) {
		now = speed_cons_ready(side, want);
		if (now < 0)
			return SPD_PLAIN;
		*ready = (__u64)now;
		if (*ready >= least)
			return SPD_LOOK;
		ret = spd_wait(s, SPEED_ROLE_RX, least, flags, &slept);
		if (ret == SPD_LOOK)
			continue;
		/* given up: fewer bytes than MSG_WAITALL asked for will do */
		now = speed_cons_ready(side, least);
		*ready = now > 0 ? (__u64)now : 0;
		return *ready ? SPD_LOOK : ret;
	}
}

/*
 * Wait for a message. Where the lease ended meanwhile the header was read from a page
 * of zeros and looks like a message of no bytes, which is told by 0 as the end is. So
 * look before it is told: who read the zeros sees the epoch changed.
 */
static int peek_message(struct speed *s, struct speed_record *rec, __u64 *bytes, int flags)
{
	struct spd_role *r = &s->role[SPEED_ROLE_RX];
	int ret = spd_record_next(s, rec, bytes, flags);

	if (ret == SPD_LOOK && !spd_role_looked(r, SPEED_ROLE_RX))
		return SPD_PLAIN;
	return ret;
}

/* A message's real length decides how large a bounce it needs. */
static ssize_t peek_bounce(struct speed *s, size_t want, const void **span, int flags)
{
	struct spd_role *r = &s->role[SPEED_ROLE_RX];
	bool record = s->type == SOCK_SEQPACKET;
	struct iovec iov;
	ssize_t got;

	if (record || want > SPD_ZC_BOUNCE)
		want = SPD_ZC_BOUNCE;
	for (;;) {
		*span = spd_zc_bounce(r, want > SPD_ZC_BOUNCE ? want : SPD_ZC_BOUNCE);
		if (!*span)
			return spd_zc_fail(ENOMEM);
		iov.iov_base = r->bounce;
		iov.iov_len = want;
		got = spd_plain_recv(s, &iov, 1, 0, flags | MSG_PEEK | (record ? MSG_TRUNC : 0));
		if (!record || got <= (ssize_t)want)
			break;
		want = (size_t)got;
	}
	/*
	 * End-of-file leaves nothing to release. A message of no bytes looks the same,
	 * so it is taken here.
	 */
	if (!got && record)
		got = spd_plain_recv(s, &iov, 1, 0, MSG_DONTWAIT);
	if (got <= 0)
		return got;
	return spd_zc_hand_out(r, SPD_RESV_BOUNCE, (size_t)got, 0);
}

SPD_PUBLIC ssize_t speed_peek(struct speed *s, size_t want, const void **span, int flags)
{
	struct spd_role *r = &s->role[SPEED_ROLE_RX];
	bool record = s->type == SOCK_SEQPACKET;
	int ret = SPD_PLAIN, err;
	struct speed_record rec;
	__u64 ready = 0;
	bool ring;
	ssize_t got;

	if ((flags & ~PEEK_FLAGS) || (!want && !record))
		return spd_zc_fail(EINVAL);
	err = spd_zc_enter(s, SPEED_ROLE_RX, &ring);
	if (err)
		return spd_zc_fail(err);
	if (ring && record)
		ret = peek_message(s, &rec, &ready, flags);
	else if (ring)
		ret = peek_bytes(s, want, flags, &ready);
	if (ret == SPD_LOOK && record) {
		*span = speed_ring_span(&r->side, sizeof(rec));
		return spd_zc_hand_out(r, SPD_RESV_RING, rec.len, ready);
	}
	if (ret == SPD_LOOK) {
		*span = speed_ring_span(&r->side, 0);
		return spd_zc_hand_out(r, SPD_RESV_RING, want < ready ? want : (size_t)ready, 0);
	}
	got = ret == SPD_PLAIN ? peek_bounce(s, want, span, flags) : -1;
	if (r->resv == SPD_RESV_NONE)
		spd_role_leave(r);
	return got;
}

/* Publish the tail. Return: 0, or -1 and errno. */
static int release_ring(struct speed *s, __u64 bytes)
{
	struct spd_role *r = &s->role[SPEED_ROLE_RX];
	__u64 start = r->side.own;
	__u64 counted;
	int ret;

	spd_role_publish(r, bytes);
	if (spd_likely(spd_published_quietly(r, SPEED_ROLE_RX)))
		return 0;
	ret = spd_published(s, SPEED_ROLE_RX, start, &counted);
	if (ret == SPD_FAIL)
		return -1;
	return counted == bytes ? 0 : (int)spd_zc_fail(ESTALE);
}

/*
 * Is what was peeked at there no more? Others may have received, all of it or a part. A
 * peek finds what an urgent byte or another ULP hides from FIONREAD; it comes second, for
 * it moves SO_PEEK_OFF.
 */
static bool bounce_gone(struct speed *s, struct iovec *iov)
{
	int there;

	if (spd_sys_ioctl(spd_fd(s), FIONREAD, (uintptr_t)&there) ||
	    (size_t)there >= iov->iov_len)
		return false;
	return spd_plain_recv(s, iov, 1, 0, MSG_DONTWAIT | MSG_PEEK) != (ssize_t)iov->iov_len;
}

/* Receive what was peeked at; it is there, if no one took it. */
static int release_bounce(struct speed *s, size_t len)
{
	struct iovec iov = { .iov_base = s->role[SPEED_ROLE_RX].bounce, .iov_len = len };
	ssize_t got;

	if (bounce_gone(s, &iov))
		return (int)spd_zc_fail(ESTALE);
	got = spd_plain_recv(s, &iov, 1, 0, MSG_DONTWAIT | MSG_WAITALL);
	if (got == (ssize_t)len)
		return 0;
	return got < 0 && errno != EAGAIN ? -1 : (int)spd_zc_fail(ESTALE);
}

SPD_PUBLIC int speed_release(struct speed *s, size_t len)
{
	struct spd_role *r = &s->role[SPEED_ROLE_RX];
	bool record = s->type == SOCK_SEQPACKET;
	int ret = 0;

	if (!spd_zc_held(s, SPEED_ROLE_RX))
		return len ? (int)spd_zc_fail(EINVAL) : 0;
	if (len != SPEED_CANCEL && (len || record)) {
		if (len > r->resv_len)
			return (int)spd_zc_fail(EINVAL);
		if (r->resv == SPD_RESV_BOUNCE)
			ret = release_bounce(s, record ? r->resv_len : len);
		else
			ret = release_ring(s, record ? r->resv_bytes : len);
	}
	spd_zc_end(r);
	return ret;
}
