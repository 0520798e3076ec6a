// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sending on a stream.
 */
#include "fast.h"
#include "iov.h"

/*
 * How much of @left goes in at once. In a process with threads all of what fits: another
 * one's plain call takes the lease, and between two pieces its bytes would come.
 */
static __u64 send_want(const struct spd_role *r, size_t left)
{
	if (left <= r->chunk || (left <= r->side.size && !spd_one_thread()))
		return left;
	return r->chunk;
}

/*
 * What has to fit for any of it to go in, lest another's bytes come in the middle of
 * a message that is not long. Where plain calls do not mind, nor does this.
 */
static __u64 send_least(const struct speed *s, const struct spd_role *r, size_t left, size_t done)
{
	return s->whole && !done && left <= r->side.size / 4 ? left : 1;
}

/*
 * Put as much of @left as fits and publish it. A part of a request is of no use to a
 * caller of speed_call(): that goes on after a signal, as far as the handler lets it.
 * Return: SPD_LOOK with @done moved on, SPD_PLAIN (make the plain call for what @done
 * leaves) or SPD_FAIL.
 */
static int send_piece(struct speed *s, struct spd_iter *it, size_t left, int flags,
		      size_t *done, unsigned int *slept)
{
	struct spd_role *r = &s->role[SPEED_ROLE_TX];
	struct speed_side *side = &r->side;
	__u64 want = send_want(r, left);
	__u64 least = send_least(s, r, left, *done);
	__s64 free = speed_prod_free(side, want > least ? want : least);
	__u64 start = side->own;
	__u64 counted;
	int ret;

	if (free < 0)
		return SPD_PLAIN;
	if ((__u64)free < least)
		return spd_wait(s, SPEED_ROLE_TX, spd_space_wanted(side, left),
				flags | (*done && !r->defer ? SPD_MOVED : 0), slept);
	if (want > (__u64)free)
		want = (__u64)free;
	spd_cpu_will_write(speed_ring_span(side, 0), want);
	spd_iter_copy(it, speed_ring_span(side, 0), want, true);
	spd_role_publish(r, want);
	*slept &= ~SPD_SLEPT;
	if (spd_published_quietly(r, SPEED_ROLE_TX)) {
		*done += want;
		return SPD_LOOK;
	}
	ret = spd_published(s, SPEED_ROLE_TX, start, &counted);
	*done += counted;
	return ret;
}

/**
 * spd_send_stream() - send on the ring
 * @s: the handle; the role TX was entered and is left again
 * @iov: buffers
 * @n: how many
 * @len: bytes in them, at least 1
 * @flags: SPD_SEND_FLAGS
 * @owed: filled in with SPEED_WAKE_* that the caller has to give, or NULL
 *
 * Return: as send().
 */
ssize_t spd_send_stream(struct speed *s, const struct iovec *iov, int n, size_t len, int flags,
			unsigned int *owed)
{
	struct spd_role *r = &s->role[SPEED_ROLE_TX];
	struct spd_iter it = spd_iter_at(iov, n, 0);
	unsigned int slept = 0;
	int saved = errno;
	size_t done = 0;
	int ret = SPD_LOOK;

	r->defer = owed;
	while (done < len && ret == SPD_LOOK)
		ret = send_piece(s, &it, len - done, flags, &done, &slept);
	/* A closed ring is told by the next call, as the kernel does it. */
	if (ret == SPD_PLAIN && done &&
	    (speed_load(&r->side.kern->flags) & SPEED_CLOSED))
		ret = SPD_LOOK;
	if (ret == SPD_PLAIN && !done && (slept & SPD_SLEPT))
		ret = spd_woken_by_end(s);
	spd_role_leave_owing(r, owed);
	if (done)
		errno = saved;
	if (ret == SPD_PLAIN && done < len)
		return spd_plain_send(s, iov, n, done, flags);
	return done || ret != SPD_FAIL ? (ssize_t)done : -1;
}

/* The role was entered, and what a common send needs is not there. */
SPD_COLD ssize_t spd_send_long(struct speed *s, const void *buf, size_t len, int flags,
			       unsigned int *owed)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	if (s->type == SOCK_SEQPACKET)
		return spd_send_record(s, &iov, 1, len, flags, owed);
	return spd_send_stream(s, &iov, 1, len, flags, owed);
}

SPD_COLD ssize_t spd_send_plain(struct speed *s, const void *buf, size_t len, int flags)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	return spd_plain_send(s, &iov, 1, 0, flags);
}

/* The bytes are in the ring, published and fenced, but not quietly. */
SPD_COLD ssize_t spd_send_told(struct speed *s, const void *buf, size_t len, int flags,
			       unsigned int *owed)
{
	struct spd_role *r = &s->role[SPEED_ROLE_TX];
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };
	__u64 counted;
	int ret;

	r->defer = owed;
	ret = spd_published(s, SPEED_ROLE_TX, r->side.own - len, &counted);
	spd_role_leave_owing(r, owed);
	if (ret == SPD_FAIL)
		return -1;
	return counted < len ? spd_plain_send(s, &iov, 1, counted, flags) : (ssize_t)len;
}

SPD_PUBLIC ssize_t speed_send(struct speed *s, const void *buf, size_t len, int flags)
{
	return spd_send_one(s, buf, len, flags, NULL);
}

SPD_PUBLIC ssize_t speed_sendv(struct speed *s, const struct iovec *iov, int n, int flags)
{
	ssize_t len = spd_iov_bytes(iov, n);

	if (len < 0)
		return -1;
	if (!spd_send_mapped(s, (size_t)len, flags) || !spd_role_enter(s, SPEED_ROLE_TX))
		return spd_plain_send(s, iov, n, 0, flags);
	if (s->type == SOCK_SEQPACKET)
		return spd_send_record(s, iov, n, (size_t)len, flags, NULL);
	return spd_send_stream(s, iov, n, (size_t)len, flags, NULL);
}
