/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A transfer by the mapping, if it can be had.
 *
 * Each function here returns whether it made the call, and its result in @ret. Where it
 * did not, nothing has happened, and the caller makes the plain call: for a number
 * without a handle, for what the kernel answers better (no bytes, flags that a ring
 * does not know) and for an address that is plainly none, which is the kernel's to
 * refuse.
 */
#ifndef PRE_TRANSFER_H
#define PRE_TRANSFER_H

#include "call.h"
#include "fast.h"

#define TRANSFER_MAX	0x7ffff000u	/* bytes that the kernel takes in one call */

#if defined(__x86_64__)
#define TRANSFER_ADDRESS_BITS	47
#else
#define TRANSFER_ADDRESS_BITS	52
#endif

/* Can there be memory? */
static inline bool transfer_address(const void *p)
{
	return (uintptr_t)p - 65536 < ((uintptr_t)1 << TRANSFER_ADDRESS_BITS) - 65536;
}

static inline bool transfer_buffer(const void *p, size_t len)
{
	return transfer_address(p) && len - 1 < TRANSFER_MAX;
}

static inline bool transfer_recv(int fd, void *buf, size_t len, int flags, ssize_t *ret)
{
	struct call c;
	struct slot *h = call_begin(&c, fd);

	if (!h || !transfer_buffer(buf, len) || !spd_recv_mapped(&h->s, len, flags))
		return false;
	call_enter(&c);
	*ret = spd_recv_one(&h->s, buf, len, flags, 0);
	return call_leave(&c, *ret);
}

static inline bool transfer_send(int fd, const void *buf, size_t len, int flags, ssize_t *ret)
{
	struct call c;
	struct slot *h = call_begin(&c, fd);

	if (!h || !transfer_buffer(buf, len) || !spd_send_mapped(&h->s, len, flags))
		return false;
	call_enter(&c);
	*ret = spd_send_one(&h->s, buf, len, flags, NULL);
	return call_leave(&c, *ret);
}

bool transfer_recvv(int fd, const struct iovec *iov, int n, int flags, ssize_t *ret);
bool transfer_sendv(int fd, const struct iovec *iov, int n, int flags, ssize_t *ret);
bool transfer_recvmsg(int fd, struct msghdr *msg, int flags, ssize_t *ret);
bool transfer_sendmsg(int fd, const struct msghdr *msg, int flags, ssize_t *ret);
bool transfer_recvfrom(int fd, void *buf, size_t len, int flags, socklen_t *addrlen,
		       ssize_t *ret);

#endif /* PRE_TRANSFER_H */
