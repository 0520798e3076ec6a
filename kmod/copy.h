/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies between a ring or a chunk, where the caller has checked the bounds, and
 * what a socket call was given. The checked forms, copy_to_iter() and
 * copy_from_iter(), look the kernel's address up among all vmap areas each time.
 * One user buffer, the usual case, is copied in line.
 */
#ifndef SPEED_COPY_H
#define SPEED_COPY_H

#include <linux/uaccess.h>
#include <linux/uio.h>

static inline bool speed_copy_ubuf(const struct iov_iter *iter, size_t len)
{
	return iter_is_ubuf(iter) && likely(access_ok(iter->ubuf + iter->iov_offset, len));
}

/* What iov_iter_advance() does to a single buffer; the caller knows the bounds. */
static inline void speed_copy_advance(struct iov_iter *iter, size_t len)
{
	iter->iov_offset += len;
	iter->count -= len;
}

/* Return: whether all bytes were copied; if not, the iterator has not moved. */
static inline bool speed_copy_in(void *to, size_t len, struct iov_iter *from)
{
	size_t done;

	if (likely(speed_copy_ubuf(from, len))) {
		instrument_copy_from_user_before(to, from->ubuf + from->iov_offset, len);
		if (unlikely(raw_copy_from_user(to, from->ubuf + from->iov_offset, len)))
			return false;
		speed_copy_advance(from, len);
		return true;
	}
	done = _copy_from_iter(to, len, from);
	if (unlikely(done < len))
		iov_iter_revert(from, done);
	return done == len;
}

/* Return: whether all bytes were copied; if not, the iterator has not moved. */
static inline bool speed_copy_out(const void *from, size_t len, struct iov_iter *to)
{
	size_t done;

	if (likely(speed_copy_ubuf(to, len))) {
		instrument_copy_to_user(to->ubuf + to->iov_offset, from, len);
		if (unlikely(raw_copy_to_user(to->ubuf + to->iov_offset, from, len)))
			return false;
		speed_copy_advance(to, len);
		return true;
	}
	done = _copy_to_iter(from, len, to);
	if (unlikely(done < len))
		iov_iter_revert(to, done);
	return done == len;
}

#endif
