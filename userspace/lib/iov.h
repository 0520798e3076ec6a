/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walking an array of buffers.
 */
#ifndef SPD_IOV_H
#define SPD_IOV_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>

#ifndef IOV_MAX
#define IOV_MAX	1024
#endif

/**
 * struct spd_iter - a place in an array of buffers
 * @iov: the array
 * @n: its length
 * @at: the buffer
 * @off: the byte in it
 */
struct spd_iter {
	const struct iovec *iov;
	int	n;
	int	at;
	size_t	off;
};

/**
 * spd_iov_bytes() - how many bytes an array of buffers has
 * @iov: the array
 * @n: its length, from the user
 *
 * Return: bytes, or -1 and errno as sendmsg() has it.
 */
static inline ssize_t spd_iov_bytes(const struct iovec *iov, int n)
{
	size_t sum = 0;

	if (n < 0 || n > IOV_MAX) {
		errno = EMSGSIZE;
		return -1;
	}
	for (int i = 0; i < n; i++) {
		if (iov[i].iov_len > (size_t)SSIZE_MAX - sum) {
			errno = EINVAL;
			return -1;
		}
		sum += iov[i].iov_len;
	}
	return (ssize_t)sum;
}

/* Begin @skip bytes from the front. */
static inline struct spd_iter spd_iter_at(const struct iovec *iov, int n, size_t skip)
{
	struct spd_iter it = { .iov = iov, .n = n };

	while (it.at < n && skip >= iov[it.at].iov_len)
		skip -= iov[it.at++].iov_len;
	it.off = skip;
	return it;
}

/* A place in a buffer, which may be an empty one without an address. */
static inline unsigned char *spd_iov_at(const struct iovec *v, size_t off)
{
	return off ? (unsigned char *)v->iov_base + off : v->iov_base;
}

/* Copy @len bytes between the buffers and @flat; they have that many. */
static inline void spd_iter_copy(struct spd_iter *it, unsigned char *flat, size_t len, bool gather)
{
	while (len) {
		const struct iovec *v = &it->iov[it->at];
		unsigned char *base = spd_iov_at(v, it->off);
		size_t part = v->iov_len - it->off;

		if (part > len)
			part = len;
		if (part && gather)
			memcpy(flat, base, part);
		else if (part)
			memcpy(base, flat, part);
		flat += part;
		len -= part;
		it->off += part;
		if (it->off == v->iov_len) {
			it->at++;
			it->off = 0;
		}
	}
}

#endif /* SPD_IOV_H */
