// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Zero copy, sending: reserve and commit.
 */
#include <string.h>
#include "iov.h"
#include "zerocopy.h"

#define COMMIT_FLAGS	(MSG_DONTWAIT | MSG_NOSIGNAL)

/* Wait for room in the ring. Return: SPD_LOOK with @free. */
static int reserve_room(struct speed *s, size_t len, int flags, __u64 *free)
{
	struct speed_side *side = &s->role[SPEED_ROLE_TX].side;
	unsigned int slept = 0;
	__s64 now;
	int ret;

	if (s->type == SOCK_SEQPACKET) {
		*free = len;
		return spd_record_room(s, len, flags);
	}
	for (;;) {
		now = speed_prod_free(side, len);
		if (now < 0)
			return SPD_PLAIN;
		*free = (__u64)now;
		if (now)
			return SPD_LOOK;
		ret = spd_wait(s, SPEED_ROLE_TX, spd_space_wanted(side, len), flags, &slept);
		if (ret != SPD_LOOK)
			return ret;
	}
}

static ssize_t reserve_bounce(struct speed *s, size_t len, void **span)
{
	struct spd_role *r = &s->role[SPEED_ROLE_TX];

	if (s->type != SOCK_SEQPACKET && len > SPD_ZC_BOUNCE)
		len = SPD_ZC_BOUNCE;
	*span = spd_zc_bounce(r, len > SPD_ZC_BOUNCE ? len : SPD_ZC_BOUNCE);
	if (!*span)
		return spd_zc_fail(ENOMEM);
	return spd_zc_hand_out(r, SPD_RESV_BOUNCE, len, 0);
}

SPD_PUBLIC ssize_t speed_reserve(struct speed *s, size_t len, void **span, int flags)
{
	struct spd_role *r = &s->role[SPEED_ROLE_TX];
	bool record = s->type == SOCK_SEQPACKET;
	int ret = SPD_PLAIN, err;
	__u64 free = 0;
	bool ring;
	ssize_t got;

	if ((flags & ~MSG_DONTWAIT) || (!len && !record))
		return spd_zc_fail(EINVAL);
	if (record && len > SPEED_RING_MAX)
		return spd_zc_fail(EMSGSIZE);
	err = spd_zc_enter(s, SPEED_ROLE_TX, &ring);
	if (err)
		return spd_zc_fail(err);
	if (ring)
		ret = reserve_room(s, len, flags, &free);
	if (ret == SPD_LOOK) {
		*span = speed_ring_span(&r->side, record ? sizeof(struct speed_record) : 0);
		len = len < free ? len : (size_t)free;
		return spd_zc_hand_out(r, SPD_RESV_RING, len, 0);
	}
	got = ret == SPD_PLAIN ? reserve_bounce(s, len, span) : -1;
	if (got < 0)
		spd_role_leave(r);
	return got;
}

/* Publish the span. Return: bytes, or -1 and errno. */
static ssize_t commit_ring(struct speed *s, size_t len)
{
	struct spd_role *r = &s->role[SPEED_ROLE_TX];
	__u64 start = r->side.own;
	__u64 bytes = len, counted;
	int ret;

	if (s->type == SOCK_SEQPACKET) {
		struct speed_record rec = { .len = (__u32)len };

		memcpy(speed_ring_span(&r->side, 0), &rec, sizeof(rec));
		bytes = SPEED_RECORD_BYTES(len);
	}
	spd_role_publish(r, bytes);
	if (spd_likely(spd_published_quietly(r, SPEED_ROLE_TX)))
		return (ssize_t)len;
	ret = spd_published(s, SPEED_ROLE_TX, start, &counted);
	if (ret == SPD_FAIL)
		return -1;
	return counted == bytes ? (ssize_t)len : spd_zc_fail(ESTALE);
}

/* What a plain call says of a ring that was closed after the reservation. */
static ssize_t commit_closed(struct speed *s, size_t len, int flags)
{
	struct spd_role *r = &s->role[SPEED_ROLE_TX];
	unsigned char byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = len ? 1 : 0 };

	spd_zc_end(r);
	return spd_plain_send(s, &iov, 1, 0, flags);
}

SPD_PUBLIC ssize_t speed_commit(struct speed *s, size_t len, int flags)
{
	struct spd_role *r = &s->role[SPEED_ROLE_TX];
	bool cancel = len == SPEED_CANCEL || (!len && s->type != SOCK_SEQPACKET);
	struct iovec iov = { .iov_base = r->bounce, .iov_len = len };
	int resv = r->resv;
	ssize_t ret;

	if (!spd_zc_held(s, SPEED_ROLE_TX) || (flags & ~COMMIT_FLAGS))
		return spd_zc_fail(EINVAL);
	if (!cancel && len > r->resv_len)
		return spd_zc_fail(EINVAL);
	if (cancel) {
		spd_zc_end(r);
		return 0;
	}
	if (resv == SPD_RESV_RING && (speed_load(&r->side.kern->flags) & SPEED_CLOSED) &&
	    speed_ring_counts(&r->side, SPEED_ROLE_TX, r->epoch))
		return commit_closed(s, len, flags);
	ret = resv == SPD_RESV_RING ? commit_ring(s, len) :
				      spd_plain_send(s, &iov, 1, 0, flags);
	spd_zc_end(r);
	return ret;
}
