// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Receiving from a stream.
 *
 * A receiver copies, publishes its tail and only then learns whether the lease was
 * still in force. If not, the kernel may have given the same bytes to someone else:
 * what was copied beyond the index at which the lease ended is read again by plain
 * call, into the same place.
 */
#include "fast.h"
#include "iov.h"

/* The ring is empty. @left: bytes of room. */
static int recv_wait(struct speed *s, size_t left, int flags, unsigned int *slept)
{
	__u64 half = s->role[SPEED_ROLE_RX].side.size / 2;
	__u64 want = !(flags & MSG_WAITALL) ? 1 : left < half ? left : half;

	return spd_wait(s, SPEED_ROLE_RX, want, flags, slept);
}

/*
 * Take as much as is there, at most @left. Return: SPD_LOOK with @done moved on and
 * @more telling whether the ring may have more than was taken, SPD_PLAIN or SPD_FAIL.
 */
static int recv_piece(struct speed *s, struct spd_iter *it, size_t left, size_t *done, bool *more)
{
	struct spd_role *r = &s->role[SPEED_ROLE_RX];
	struct speed_side *side = &r->side;
	__u64 want = left < r->chunk ? left : r->chunk;
	__s64 ready = speed_cons_ready(side, want);
	__u64 start = side->own;
	__u64 counted;
	int ret;

	if (ready < 0 || (!*done && (__u64)ready < left && spd_recv_beyond(s)))
		return SPD_PLAIN;
	*more = (__u64)ready >= want;	/* what was seen of it may be old */
	if (!ready)
		return SPD_LOOK;
	if (want > (__u64)ready)
		want = (__u64)ready;
	spd_iter_copy(it, speed_ring_span(side, 0), want, false);
	spd_role_publish(r, want);
	if (spd_published_quietly(r, SPEED_ROLE_RX)) {
		*done += want;
		return SPD_LOOK;
	}
	ret = spd_published(s, SPEED_ROLE_RX, start, &counted);
	*done += counted;
	return ret;
}

/*
 * A wait for many bytes failed, with a signal or a time limit. Fewer may have come:
 * then it is they that are returned. Return: SPD_PLAIN: the lease went, or there are
 * bytes beyond the ring, and the plain call, which shall not wait, has them. errno is
 * kept.
 */
static int recv_given_up(struct speed *s, struct spd_iter *it, size_t left, size_t *done)
{
	size_t end = *done + left;
	int saved = errno;
	bool more = false;
	int ret;

	do
		ret = recv_piece(s, it, end - *done, done, &more);
	while (ret == SPD_LOOK && more && *done < end);
	errno = saved;
	if (ret == SPD_PLAIN)
		return SPD_PLAIN;
	return spd_role_looked(&s->role[SPEED_ROLE_RX], SPEED_ROLE_RX) ? SPD_FAIL : SPD_PLAIN;
}

/*
 * The plain call for what had come when waiting was given up, or that error. @saved: errno
 * before, which a transfer that succeeds does not change.
 */
static ssize_t recv_rest(struct speed *s, const struct iovec *iov, int n, size_t done, int flags,
			 int saved)
{
	int why = errno;
	ssize_t got = spd_plain_recv(s, iov, n, done, (flags & ~MSG_WAITALL) | MSG_DONTWAIT);

	if (got < 0 && errno == EAGAIN)
		errno = why;
	if (got >= 0)
		errno = saved;
	return got;
}

/*
 * Until there is something to return. Return: SPD_LOOK: it is in @done; SPD_PLAIN, and
 * @given_up: see recv_rest().
 */
static int recv_pieces(struct speed *s, const struct iovec *iov, int n, size_t len, int flags,
		       size_t *done, bool *given_up)
{
	struct spd_iter it = spd_iter_at(iov, n, 0);
	unsigned int slept = 0;
	bool more = false;
	int ret = SPD_LOOK;

	while (*done < len && ret == SPD_LOOK) {
		size_t before = *done;

		ret = recv_piece(s, &it, len - *done, done, &more);
		if (ret != SPD_LOOK || (*done && !more && !(flags & MSG_WAITALL)))
			break;
		if (*done > before) {
			slept &= ~SPD_SLEPT;
			continue;
		}
		ret = recv_wait(s, len - *done, flags | (*done ? SPD_MOVED : 0), &slept);
		if (ret == SPD_FAIL && (flags & MSG_WAITALL)) {
			ret = recv_given_up(s, &it, len - *done, done);
			*given_up = ret == SPD_PLAIN;
		}
	}
	return ret;
}

/**
 * spd_recv_stream() - receive from the ring
 * @s: the handle; the role RX was entered and is left again
 * @iov: buffers
 * @n: how many
 * @len: bytes of room in them, at least 1
 * @flags: SPD_RECV_FLAGS
 *
 * Return: as recv().
 */
ssize_t spd_recv_stream(struct speed *s, const struct iovec *iov, int n, size_t len, int flags)
{
	struct spd_role *r = &s->role[SPEED_ROLE_RX];
	bool given_up = false;
	int saved = errno;
	size_t done = 0;
	int ret = recv_pieces(s, iov, n, len, flags, &done, &given_up);

	if (r->owed)
		spd_pay(s, r);
	spd_role_leave(r);
	if (done && !given_up)
		errno = saved;
	if (spd_unlikely(given_up) && done < len)
		return recv_rest(s, iov, n, done, flags, saved);
	if (ret == SPD_PLAIN && (!done || (flags & MSG_WAITALL)) && done < len)
		return spd_plain_recv(s, iov, n, done, flags);
	return done || ret != SPD_FAIL ? (ssize_t)done : -1;
}

/* The role was entered, and what a common receive needs is not there. */
SPD_COLD ssize_t spd_recv_long(struct speed *s, void *buf, size_t len, int flags)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };

	if (s->type == SOCK_SEQPACKET)
		return spd_recv_record(s, &iov, 1, len, flags);
	return spd_recv_stream(s, &iov, 1, len, flags);
}

SPD_COLD ssize_t spd_recv_plain(struct speed *s, void *buf, size_t len, int flags,
				unsigned int owed)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };

	if (owed)
		s->ops->wake(s, owed);
	return spd_plain_recv(s, &iov, 1, 0, flags);
}

/* The role was entered, and waiting ended with @ret: SPD_PLAIN or SPD_FAIL. */
SPD_COLD ssize_t spd_recv_over(struct speed *s, void *buf, size_t len, int flags, int ret)
{
	struct spd_role *r = &s->role[SPEED_ROLE_RX];

	spd_pay(s, r);
	spd_role_leave(r);
	return ret == SPD_PLAIN ? spd_recv_plain(s, buf, len, flags, 0) : -1;
}

/* @len bytes were copied, published and fenced, but not quietly. */
SPD_COLD ssize_t spd_recv_told(struct speed *s, void *buf, size_t len, size_t room, int flags)
{
	struct spd_role *r = &s->role[SPEED_ROLE_RX];
	__u64 counted;
	int ret = spd_published(s, SPEED_ROLE_RX, r->side.own - len, &counted);

	spd_role_leave(r);
	if (ret == SPD_FAIL)
		return -1;
	return counted ? (ssize_t)counted : spd_recv_plain(s, buf, room, flags, 0);
}

SPD_PUBLIC ssize_t speed_recv(struct speed *s, void *buf, size_t len, int flags)
{
	return spd_recv_one(s, buf, len, flags, 0);
}

SPD_PUBLIC ssize_t speed_recvv(struct speed *s, const struct iovec *iov, int n, int flags)
{
	ssize_t len = spd_iov_bytes(iov, n);

	if (len < 0)
		return -1;
	if (!spd_recv_mapped(s, (size_t)len, flags) || !spd_role_enter(s, SPEED_ROLE_RX))
		return spd_plain_recv(s, iov, n, 0, flags);
	if (s->type == SOCK_SEQPACKET)
		return spd_recv_record(s, iov, n, (size_t)len, flags);
	return spd_recv_stream(s, iov, n, (size_t)len, flags);
}
