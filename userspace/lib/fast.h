/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The common transfer: one buffer on a stream that fits a ring's piece. It is inlined
 * into speed_send(), speed_recv() and speed_call(); whatever it does not find as it
 * expects goes on in send.c and recv.c.
 */
#ifndef SPD_FAST_H
#define SPD_FAST_H

#include <string.h>
#include "cpu.h"
#include "role.h"

/* Flags that change nothing here, or that spd_wait() knows. */
#define SPD_SEND_FLAGS	(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE | MSG_EOR)
#define SPD_RECV_FLAGS	(MSG_DONTWAIT | MSG_WAITALL | MSG_NOSIGNAL | MSG_CMSG_CLOEXEC)

/* send.c: with the role entered, published, or neither */
ssize_t spd_send_long(struct speed *s, const void *buf, size_t len, int flags,
		      unsigned int *owed);
ssize_t spd_send_told(struct speed *s, const void *buf, size_t len, int flags,
		      unsigned int *owed);
ssize_t spd_send_plain(struct speed *s, const void *buf, size_t len, int flags);

/* recv.c: with the role entered, published, entered and done with, or neither */
ssize_t spd_recv_long(struct speed *s, void *buf, size_t len, int flags);
ssize_t spd_recv_told(struct speed *s, void *buf, size_t len, size_t room, int flags);
ssize_t spd_recv_over(struct speed *s, void *buf, size_t len, int flags, int ret);
ssize_t spd_recv_plain(struct speed *s, void *buf, size_t len, int flags, unsigned int owed);

/* May this transfer go by the ring? A stream's empty one is the kernel's to judge. */
static inline bool spd_send_mapped(const struct speed *s, size_t len, int flags)
{
	return !(flags & ~SPD_SEND_FLAGS) && (len || s->type == SOCK_SEQPACKET);
}

static inline bool spd_recv_mapped(const struct speed *s, size_t len, int flags)
{
	if (s->type == SOCK_SEQPACKET)
		flags &= ~MSG_TRUNC;
	return !(flags & ~SPD_RECV_FLAGS) && (len || s->type == SOCK_SEQPACKET);
}

/*
 * The ring has less than a stream's receiver has room for. Are there bytes beyond it?
 * Then the plain call gives both at once, as it always does.
 */
static inline bool spd_recv_beyond(const struct speed *s)
{
	const struct speed_kern *kern = s->role[SPEED_ROLE_RX].side.kern;

	return (speed_load(&kern->flags) & (SPEED_CLOSED | SPEED_OVERFLOW)) && s->fd >= 0;
}

/**
 * spd_send_one() - send one buffer
 * @s: the handle
 * @buf: the bytes, or the message
 * @len: how many
 * @flags: any
 * @owed: filled in with SPEED_WAKE_* that the caller has to give, or NULL
 *
 * Return: as send().
 */
static inline ssize_t spd_send_one(struct speed *s, const void *buf, size_t len, int flags,
				   unsigned int *owed)
{
	struct spd_role *r = &s->role[SPEED_ROLE_TX];
	unsigned char *span;

	if (spd_unlikely(!spd_send_mapped(s, len, flags) || !spd_role_enter(s, SPEED_ROLE_TX)))
		return spd_send_plain(s, buf, len, flags);
	if (spd_unlikely(s->type != SOCK_STREAM || len > r->chunk ||
			 speed_prod_free(&r->side, len) < (__s64)len))
		return spd_send_long(s, buf, len, flags, owed);
	span = speed_ring_span(&r->side, 0);
	spd_cpu_will_write(span, len);
	memcpy(span, buf, len);
	spd_role_publish(r, len);
	if (owed && speed_prod_must_wake(&r->side))
		*owed = SPEED_WAKE_READER;
	if (owed ? spd_unlikely(!speed_ring_counts(&r->side, SPEED_ROLE_TX, r->epoch)) :
		   spd_unlikely(!spd_published_quietly(r, SPEED_ROLE_TX)))
		return spd_send_told(s, buf, len, flags, owed);
	spd_role_leave(r);
	return (ssize_t)len;
}

/**
 * spd_recv_one() - receive into one buffer
 * @s: the handle
 * @buf: where to
 * @len: room
 * @flags: any
 * @owed: SPEED_WAKE_* that the peer is owed, to be given before sleeping or after
 *
 * Return: as recv().
 */
static inline ssize_t spd_recv_one(struct speed *s, void *buf, size_t len, int flags,
				   unsigned int owed)
{
	struct spd_role *r = &s->role[SPEED_ROLE_RX];
	unsigned int slept = 0;
	size_t room = len;
	__s64 ready;
	int ret;

	if (spd_unlikely(!spd_recv_mapped(s, len, flags) || !spd_role_enter(s, SPEED_ROLE_RX)))
		return spd_recv_plain(s, buf, len, flags, owed);
	if (owed)
		r->owed = owed;
	if (spd_unlikely(s->type != SOCK_STREAM || (flags & MSG_WAITALL)))
		return spd_recv_long(s, buf, len, flags);
	while (!(ready = speed_cons_ready(&r->side, len))) {
		ret = spd_wait(s, SPEED_ROLE_RX, 1, flags, &slept);
		if (ret != SPD_LOOK)
			return spd_recv_over(s, buf, len, flags, ret);
	}
	if (ready > 0 && len > (__u64)ready) {
		if (spd_unlikely(spd_recv_beyond(s)))
			return spd_recv_long(s, buf, room, flags);
		len = (size_t)ready;
	}
	if (spd_unlikely(ready < 0 || len > r->chunk))
		return spd_recv_long(s, buf, room, flags);
	memcpy(buf, speed_ring_span(&r->side, 0), len);
	spd_role_publish(r, len);
	if (spd_unlikely(r->owed || !spd_published_quietly(r, SPEED_ROLE_RX)))
		return spd_recv_told(s, buf, len, room, flags);
	spd_role_leave(r);
	return (ssize_t)len;
}

#endif /* SPD_FAST_H */
