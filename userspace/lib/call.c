// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Call and reply: send one way, receive the other, and enter the kernel at most
 * once for both.
 *
 * The sending half collects the wake-up that the peer is owed; the receiving half
 * gives it, in one entry with its sleep where it has to sleep.
 */
#include "fast.h"

#define CALL_FLAGS	(MSG_NOSIGNAL | MSG_WAITALL)

/* Half a request: what the peer has got must not wait for a wake-up. */
static SPD_COLD ssize_t call_broken(struct speed *s, ssize_t sent, unsigned int owed)
{
	int err = sent < 0 ? errno : EPIPE;

	if (owed)
		s->ops->wake(s, owed);
	errno = err;
	return -1;
}

static inline ssize_t call_exchange(struct speed *s, const void *out, size_t outlen,
				    void *in, size_t inlen, int flags)
{
	unsigned int owed = 0;
	ssize_t sent;

	if ((flags & ~CALL_FLAGS) || !inlen) {
		errno = EINVAL;
		return -1;
	}
	if (out && (outlen || s->type == SOCK_SEQPACKET)) {
		sent = spd_send_one(s, out, outlen, flags & MSG_NOSIGNAL, &owed);
		if (spd_unlikely(sent != (ssize_t)outlen))
			return call_broken(s, sent, owed);
	}
	return spd_recv_one(s, in, inlen, flags & MSG_WAITALL, owed);
}

SPD_PUBLIC ssize_t speed_call(struct speed *s, const void *req, size_t reqlen,
			      void *rep, size_t replen, int flags)
{
	/* An empty request of a SOCK_SEQPACKET is one, wherever it points. */
	return call_exchange(s, req ? req : "", reqlen, rep, replen, flags);
}

SPD_PUBLIC ssize_t speed_reply_wait(struct speed *s, const void *rep, size_t replen,
				    void *req, size_t reqlen, int flags)
{
	return call_exchange(s, rep, replen, req, reqlen, flags);
}
