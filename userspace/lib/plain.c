// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The plain call for a transfer, or for what the ring left of it.
 */
#include "iov.h"
#include "role.h"

/* Buffers a call of what is left: on a signal stack's account, not more. */
#define PLAIN_BATCH	8

/* The next buffers from a place on. Return: how many; @bytes: what they hold. */
static int plain_batch(struct spd_iter *it, struct iovec *batch, size_t *bytes)
{
	int n = 0;

	*bytes = 0;
	for (; it->at < it->n && n < PLAIN_BATCH; it->at++, it->off = 0) {
		batch[n].iov_base = spd_iov_at(&it->iov[it->at], it->off);
		batch[n].iov_len = it->iov[it->at].iov_len - it->off;
		*bytes += batch[n++].iov_len;
	}
	return n;
}

static ssize_t plain_call(struct speed *s, const struct iovec *iov, int n, int flags, bool sending)
{
	__atomic_fetch_add(&s->calls, 1, __ATOMIC_RELAXED);
	return sending ? s->ops->send(s, iov, n, flags) : s->ops->recv(s, iov, n, flags);
}

static ssize_t plain_rest(struct speed *s, struct spd_iter *it, int flags, bool sending)
{
	struct iovec batch[PLAIN_BATCH];
	ssize_t sum = 0, got;
	size_t bytes;
	int n;

	while ((n = plain_batch(it, batch, &bytes))) {
		got = plain_call(s, batch, n, flags, sending);
		if (got < 0)
			return sum ? sum : -1;
		sum += got;
		if ((size_t)got < bytes)
			break;
		/* As one call would: what came first is no error of what comes later. */
		if (sending)
			flags |= MSG_NOSIGNAL;
		else if (!(flags & MSG_WAITALL))
			flags |= MSG_DONTWAIT;
	}
	return sum;
}

/**
 * spd_plain_send() - send by plain call
 * @s: the handle; the role's lock is not held
 * @iov: all buffers of the transfer
 * @n: how many
 * @skip: bytes of them that were sent already; a stream's, so there are more
 * @flags: of the transfer
 *
 * Return: bytes of the whole transfer, @skip too, or -1 and errno with none.
 */
ssize_t spd_plain_send(struct speed *s, const struct iovec *iov, int n, size_t skip, int flags)
{
	struct spd_iter it;
	ssize_t ret;

	if (!skip)
		return plain_call(s, iov, n, flags, true);
	it = spd_iter_at(iov, n, skip);
	ret = plain_rest(s, &it, flags | MSG_NOSIGNAL, true);
	return (ssize_t)skip + (ret > 0 ? ret : 0);
}

/**
 * spd_plain_recv() - receive by plain call
 * @s: the handle; the role's lock is not held
 * @iov: all buffers of the transfer
 * @n: how many
 * @skip: bytes of them that are filled already; a stream's, so there are more
 * @flags: of the transfer
 *
 * Return: bytes of the whole transfer, @skip too, or -1 and errno with none.
 */
ssize_t spd_plain_recv(struct speed *s, const struct iovec *iov, int n, size_t skip, int flags)
{
	struct spd_iter it;
	ssize_t ret;

	if (!skip)
		return plain_call(s, iov, n, flags, false);
	it = spd_iter_at(iov, n, skip);
	ret = plain_rest(s, &it, flags, false);
	return (ssize_t)skip + (ret > 0 ? ret : 0);
}
