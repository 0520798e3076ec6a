// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The plain call for a transfer, or for what the ring left of it.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include "iov.h"
#include "role.h"
#include "sys.h"

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

/* The state of a TCP connection, or -1 where it is none. */
static int plain_tcp_state(struct speed *s)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	return spd_sys_getsockopt(spd_fd(s), IPPROTO_TCP, TCP_INFO, &info, &len) ?
	       -1 : info.tcpi_state;
}

/* Nobody gives the handle to another connection while a role of it is held. */
static struct spd_role *plain_hold(struct speed *s, bool sending)
{
	struct spd_role *r = &s->role[sending ? SPEED_ROLE_TX : SPEED_ROLE_RX];

	if (!spd_role_trylock(s, r))
		return NULL;
	if (spd_role_still(s))
		return r;
	spd_role_leave(r);
	return NULL;
}

/*
 * A connection's error that comes after some bytes of a transfer is left for the next
 * one to tell. A plain call for the rest alone does not know of them and has taken it: it
 * is kept here. AF_SPEED forgets what ends a send, as AF_UNIX does.
 */
static void plain_keep(struct speed *s, bool sending)
{
	struct spd_role *r;
	int err = errno;

	if (err != ECONNRESET && err != ECONNABORTED && err != ETIMEDOUT)
		return;
	if (sending && plain_tcp_state(s) != TCP_CLOSE)
		return;
	r = plain_hold(s, sending);
	if (!r)
		return;
	__atomic_store_n(&s->kept, err, __ATOMIC_RELAXED);
	spd_role_leave(r);
}

/*
 * Tell what was kept, if it is of the connection that the socket still has. A send of
 * AF_SPEED's is told nothing but EPIPE.
 */
static bool plain_told(struct speed *s, bool sending)
{
	int state = plain_tcp_state(s), kept;
	struct spd_role *r;

	if (state != TCP_CLOSE && (sending || state >= 0))
		return false;
	r = plain_hold(s, sending);
	if (!r)
		return false;
	kept = __atomic_exchange_n(&s->kept, 0, __ATOMIC_RELAXED);
	spd_role_leave(r);
	if (kept)
		errno = kept;
	return kept;
}

static ssize_t plain_call(struct speed *s, const struct iovec *iov, int n, int flags, bool sending)
{
	bool kept = __atomic_load_n(&s->kept, __ATOMIC_RELAXED);
	ssize_t ret;

	__atomic_fetch_add(&s->calls, 1, __ATOMIC_RELAXED);
	if (spd_unlikely(kept) && sending && plain_told(s, true))
		return -1;
	ret = sending ? s->ops->send(s, iov, n, flags) : s->ops->recv(s, iov, n, flags);
	/* Bytes come before it. */
	if (spd_unlikely(kept) && !sending && !ret && plain_told(s, false))
		return -1;
	return ret;
}

/* What some bytes leave: an error is the next call's, and errno stays as it was. */
static ssize_t plain_rest(struct speed *s, struct spd_iter *it, int flags, bool sending)
{
	struct iovec batch[PLAIN_BATCH];
	ssize_t sum = 0, got;
	int saved = errno;
	size_t bytes;
	int n;

	while (!(s->ops->gone && s->ops->gone()) && (n = plain_batch(it, batch, &bytes))) {
		got = plain_call(s, batch, n, flags, sending);
		if (got < 0) {
			plain_keep(s, sending);
			break;
		}
		sum += got;
		if ((size_t)got < bytes)
			break;
		/* As one call would: what came first is no error of what comes later. */
		if (sending)
			flags |= MSG_NOSIGNAL;
		else if (!(flags & MSG_WAITALL))
			flags |= MSG_DONTWAIT;
	}
	errno = saved;
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

	if (!skip)
		return plain_call(s, iov, n, flags, true);
	it = spd_iter_at(iov, n, skip);
	return (ssize_t)skip + plain_rest(s, &it, flags | MSG_NOSIGNAL, true);
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

	if (!skip)
		return plain_call(s, iov, n, flags, false);
	it = spd_iter_at(iov, n, skip);
	return (ssize_t)skip + plain_rest(s, &it, flags, false);
}
