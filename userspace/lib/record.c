// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Messages: SOCK_SEQPACKET.
 *
 * A message is a record, header and bytes, put and taken with one publication each.
 * So a message counts or does not count, never in part.
 */
#include <string.h>
#include "cpu.h"
#include "iov.h"
#include "role.h"

/**
 * spd_record_room() - wait for room for a message
 * @s: the handle; the role TX was entered
 * @len: bytes of the message
 * @flags: as speed_send() lets through
 *
 * Return: SPD_LOOK: it is there. SPD_PLAIN, or SPD_FAIL and errno.
 */
int spd_record_room(struct speed *s, size_t len, int flags)
{
	struct spd_role *r = &s->role[SPEED_ROLE_TX];
	struct speed_side *side = &r->side;
	__u64 bytes = SPEED_RECORD_BYTES(len);
	__u64 quarter = side->size / 4;
	unsigned int slept = 0;
	__s64 free;
	int ret;

	if (len > r->record_max)
		return SPD_PLAIN;
	for (;;) {
		free = speed_prod_free(side, bytes);
		if (free < 0)
			return SPD_PLAIN;
		if ((__u64)free >= bytes)
			return SPD_LOOK;
		ret = spd_wait(s, SPEED_ROLE_TX, bytes > quarter ? bytes : quarter, flags, &slept);
		if (ret == SPD_PLAIN && (slept & SPD_SLEPT))
			return spd_woken_by_end(s);
		if (ret != SPD_LOOK)
			return ret;
	}
}

/* Publish a record that was written. Return: SPD_LOOK: sent. */
static int record_publish(struct speed *s, __u64 bytes)
{
	struct spd_role *r = &s->role[SPEED_ROLE_TX];
	__u64 start = r->side.own;
	__u64 counted;
	int ret;

	spd_role_publish(r, bytes);
	if (spd_published_quietly(r, SPEED_ROLE_TX))
		return SPD_LOOK;
	ret = spd_published(s, SPEED_ROLE_TX, start, &counted);
	return ret == SPD_PLAIN && counted == bytes ? SPD_LOOK : ret;
}

/**
 * spd_send_record() - send a message on the ring
 * @s: the handle; the role TX was entered and is left again
 * @iov: buffers
 * @n: how many
 * @len: bytes of the message
 * @flags: as speed_send() lets through
 * @owed: filled in with SPEED_WAKE_* that the caller has to give, or NULL
 *
 * Return: as send().
 */
ssize_t spd_send_record(struct speed *s, const struct iovec *iov, int n, size_t len, int flags,
			unsigned int *owed)
{
	struct spd_role *r = &s->role[SPEED_ROLE_TX];
	struct spd_iter it = spd_iter_at(iov, n, 0);
	int ret;

	r->defer = owed;
	ret = spd_record_room(s, len, flags);
	if (ret == SPD_LOOK) {
		struct speed_record rec = { .len = (__u32)len };
		unsigned char *span = speed_ring_span(&r->side, 0);

		spd_cpu_will_write(span, sizeof(rec) + len);
		memcpy(span, &rec, sizeof(rec));
		spd_iter_copy(&it, span + sizeof(rec), len, true);
		ret = record_publish(s, SPEED_RECORD_BYTES(len));
	}
	spd_role_leave_owing(r, owed);
	if (ret == SPD_PLAIN)
		return spd_plain_send(s, iov, n, 0, flags);
	return ret == SPD_LOOK ? (ssize_t)len : -1;
}

/**
 * spd_record_next() - wait for a message
 * @s: the handle; the role RX was entered
 * @rec: filled in with its header
 * @bytes: filled in with what it takes of the ring
 * @flags: as speed_recv() lets through
 *
 * Return: SPD_LOOK: it is there. SPD_PLAIN, or SPD_FAIL and errno.
 */
int spd_record_next(struct speed *s, struct speed_record *rec, __u64 *bytes, int flags)
{
	struct spd_role *r = &s->role[SPEED_ROLE_RX];
	unsigned int slept = 0;
	__s64 ready;
	int ret;

	/* A reset is told before the messages that came before it, as in AF_UNIX. */
	if (s->fd >= 0 && (speed_load(&r->side.kern->flags) & SPEED_CLOSED))
		return SPD_PLAIN;
	for (;;) {
		ready = speed_cons_ready(&r->side, sizeof(*rec));
		if (ready)
			break;
		ret = spd_wait(s, SPEED_ROLE_RX, 1, flags, &slept);
		if (ret != SPD_LOOK)
			return ret;
	}
	if (ready < (__s64)sizeof(*rec))
		return SPD_PLAIN;
	memcpy(rec, speed_ring_span(&r->side, 0), sizeof(*rec));
	*bytes = speed_record_check(rec, (__u64)ready);
	return *bytes ? SPD_LOOK : SPD_PLAIN;
}

/* Take a message that was copied. Return: SPD_LOOK: received. */
static int record_take(struct speed *s, __u64 bytes)
{
	struct spd_role *r = &s->role[SPEED_ROLE_RX];
	__u64 start = r->side.own;
	__u64 counted;
	int ret;

	spd_role_publish(r, bytes);
	if (spd_published_quietly(r, SPEED_ROLE_RX))
		return SPD_LOOK;
	ret = spd_published(s, SPEED_ROLE_RX, start, &counted);
	return ret == SPD_PLAIN && counted == bytes ? SPD_LOOK : ret;
}

/**
 * spd_recv_record() - receive a message from the ring
 * @s: the handle; the role RX was entered and is left again
 * @iov: buffers
 * @n: how many
 * @len: bytes of room in them; the rest of a longer message is discarded
 * @flags: as speed_recv() lets through; MSG_TRUNC asks for the message's length
 *
 * Return: as recv().
 */
ssize_t spd_recv_record(struct speed *s, const struct iovec *iov, int n, size_t len, int flags)
{
	struct spd_role *r = &s->role[SPEED_ROLE_RX];
	struct spd_iter it = spd_iter_at(iov, n, 0);
	struct speed_record rec;
	__u64 bytes;
	int ret = spd_record_next(s, &rec, &bytes, flags);

	if (ret == SPD_LOOK) {
		if (len > rec.len)
			len = rec.len;
		spd_iter_copy(&it, speed_ring_span(&r->side, sizeof(rec)), len, false);
		ret = record_take(s, bytes);
	}
	if (r->owed)
		spd_pay(s, r);
	spd_role_leave(r);
	if (ret == SPD_PLAIN)
		return spd_plain_recv(s, iov, n, 0, flags);
	if (ret == SPD_FAIL)
		return -1;
	return flags & MSG_TRUNC ? (ssize_t)rec.len : (ssize_t)len;
}
